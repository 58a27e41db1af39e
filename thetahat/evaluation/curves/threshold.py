"""The threshold that costs least, when the two kinds of error cost differently."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any

from thetahat.evaluation.curves.scores import rank, two_classes
from thetahat.foundation.errors import ParameterError


@dataclass(frozen=True)
class Threshold:
    """A threshold for scores, and what it costs.

    Formula: cost per row (c_fp·FP + c_fn·FN)/n. Cost: O(1).

    Attributes
    ----------
    threshold : float
        Call a row positive when its score is at least this.
    cost : float
        The mean cost per row.
    tpr, fpr : float
        Positives found, and negatives called positive.
    cost_of_none, cost_of_all : float
        What calling no row, or every row, positive would cost.

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


def best_threshold(
    y: Any,
    scores: Any,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    positive: Any = None,
) -> Threshold:
    """The threshold of least cost over all that the scores allow.

    Formula: argmin_t c_fp·FP(t) + c_fn·FN(t). With calibrated probabilities it is near
    c_fp/(c_fp + c_fn). Cost: O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two kinds, of rows the model has not seen.
    scores : array-like of shape (n,)
        Greater means more likely positive.
    false_positive, false_negative : float, default=1.0
        What either error costs; finite and ≥ 0, not both 0.
    positive : label, optional
        The positive label; the second in order by default.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> import thetahat as th
    >>> y, scores = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.8, 0.9]
    >>> th.best_threshold(y, scores, false_positive=5.0).threshold
    0.8
    """
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        if not (isinstance(cost, Real) and 0 <= cost < inf):
            raise ParameterError(
                f"best_threshold: {name}={cost!r} must be a finite number ≥ 0. For an error that "
                "must never happen, give a cost far above the other."
            )
    if not false_positive + false_negative > 0:
        raise ParameterError("best_threshold: both errors cost 0, so every threshold is best.")
    is_positive, values, _ = two_classes(y, scores, positive)
    ranked = rank(is_positive, values)
    missed = ranked.positives - ranked.true_positives
    costs = (false_positive * ranked.false_positives + false_negative * missed) / values.size
    best = int(costs.argmin())
    return Threshold(
        float(ranked.thresholds[best]),
        float(costs[best]),
        float(ranked.tpr[best]),
        float(ranked.fpr[best]),
        float(costs[0]),
        float(costs[-1]),
    )
