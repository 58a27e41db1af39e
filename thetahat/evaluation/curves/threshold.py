"""The threshold with the lowest cost of the two kinds of error, or the highest F₁ score."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any

from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.curves.scores import rank, two_classes
from thetahat.foundation.errors import ParameterError


@dataclass(frozen=True)
class Threshold:
    """A threshold for scores and its cost.

    Formula: cost per row (c_fp·FP + c_fn·FN)/n. Cost: O(1).

    Attributes
    ----------
    threshold : float
        The threshold. Rows with a score of at least this value are classified as positive: none
        if it is ∞, all if it is −∞.
    cost : float
        The mean cost per row at this threshold.
    tpr, fpr : float
        The true positive rate and the false positive rate at this threshold.
    cost_of_none, cost_of_all : float
        The mean cost per row if no row, or every row, is classified as positive.
    f1 : float
        The F₁ score at this threshold, 2·TP/(2·TP + FP + FN).

    Examples
    --------
    >>> import thetahat as th
    >>> y, scores = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.8, 0.9]
    >>> th.best_threshold(y, scores, false_negative=5.0).threshold
    0.3
    """

    threshold: float
    cost: float
    tpr: float
    fpr: float
    cost_of_none: float
    cost_of_all: float
    f1: float


def best_threshold(
    y: Any,
    scores: Any,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    positive: Any = None,
    criterion: str = "cost",
) -> Threshold:
    """Find the threshold with the lowest cost, or with the highest F₁ score.

    Formula: argmin_t c_fp·FP(t) + c_fn·FN(t), or argmax_t 2·TP(t)/(2·TP(t) + FP(t) + FN(t)). For
    calibrated probabilities the first is close to c_fp/(c_fp + c_fn), and the second to half of the
    F₁ score. Cost: O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels, of two classes. Use rows that were not used for the fit.
    scores : array-like of shape (n,)
        One score per row, such as a probability or a decision value. Greater means more likely
        positive.
    false_positive, false_negative : float, default=1.0
        The cost of a false positive (c_fp) and of a false negative (c_fn). Both must be finite and
        ≥ 0, and at least one must be positive. If false positives cost nothing, every row is
        classified as positive; if false negatives cost nothing, none.
    positive : label, optional
        The label of the positive class. By default the second label in sorted order.
    criterion : {"cost", "f1"}, default="cost"
        What the threshold is best for: "cost" has the lowest mean cost, "f1" the highest F₁ score,
        which does not depend on costs, so that they must not be given.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> import thetahat as th
    >>> y, scores = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.8, 0.9]
    >>> th.best_threshold(y, scores, false_positive=5.0).threshold
    0.8
    >>> th.best_threshold(y, scores, criterion="f1").threshold
    0.3
    """
    check_value(criterion, one_of("cost", "f1"), "criterion", "best_threshold")
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        if not (isinstance(cost, Real) and 0 <= cost < inf):
            raise ParameterError(
                f"best_threshold: {name}={cost!r} must be a finite number ≥ 0. For an error that "
                "must never happen, give a cost far above the other."
            )
    if not false_positive + false_negative > 0:
        raise ParameterError(
            "best_threshold: false_positive and false_negative are both 0, so all thresholds cost "
            "the same. Give at least one positive cost."
        )
    if criterion == "f1" and not false_positive == false_negative == 1:
        raise ParameterError(
            f"best_threshold: false_positive={false_positive:g} and false_negative="
            f"{false_negative:g} have no effect on the F1 score. Leave them out, or give "
            'criterion="cost".'
        )
    is_positive, values, _ = two_classes(y, scores, positive)
    ranked = rank(is_positive, values)
    missed = ranked.positives - ranked.true_positives
    costs = (false_positive * ranked.false_positives + false_negative * missed) / values.size
    called = ranked.true_positives + ranked.false_positives
    f1 = 2.0 * ranked.true_positives / (called + ranked.positives)
    best = int(costs.argmin() if criterion == "cost" else f1.argmax())
    threshold = float(ranked.thresholds[best])
    if false_positive == 0:  # also for rows with scores below all of these
        best, threshold = len(costs) - 1, -inf
    return Threshold(
        threshold,
        float(costs[best]),
        float(ranked.tpr[best]),
        float(ranked.fpr[best]),
        float(costs[0]),
        float(costs[-1]),
        float(f1[best]),
    )
