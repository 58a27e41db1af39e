"""The decision with the smallest expected cost, from class probabilities of any model.

R(j | x) = Σ_k cost[k, j]·p(k | x),   f(x) = argmin_j R(j | x),   reject if min_j R(j | x) > r
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.estimator.parameters import at_least, check_value, infinity
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.theory.decision.probabilities import as_classes, as_probabilities

WHO = "bayes_decision"


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions with their expected costs, as returned by `bayes_decision`.

    Formula: risk = min_j Σ_k cost[k, j]·p(k | x). Cost: O(n) memory.

    Attributes
    ----------
    labels : array of shape (n,)
        The label that is decided for each row, or the label of a rejection.
    risk : array of shape (n,)
        The expected cost of each decision. Without costs it is the probability of an error.
    rejected : Boolean array of shape (n,)
        Whether the decision about each row is rejected.

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.theory.bayes_decision([[0.9, 0.1], [0.4, 0.6]], reject_cost=0.2)
    >>> found.labels
    array([0, None], dtype=object)
    >>> found.risk
    array([0.1, 0.2])
    """

    labels: Array
    risk: Array
    rejected: Array


def bayes_decision(
    posterior: Any,
    *,
    classes: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    reject_label: Any = None,
) -> Decisions:
    """Decide for the class with the smallest expected cost, or reject the decision.

    Without costs this is the Bayes rule: the most probable class, which has the smallest
    probability of an error. Applied to the class probabilities before a row is seen (the priors),
    it is the best rule that ignores the row.

    Formula: f(x) = argmin_j Σ_k cost[k, j]·p(k | x); rejected if the smallest expected cost exceeds
    r. Without costs, f(x) = argmax_k p(k | x), rejected if max_k p(k | x) < 1 − r. Equal costs are
    decided for the first class. Cost: O(n·C²).

    Parameters
    ----------
    posterior : array-like of shape (n, C) or (C,)
        Class probabilities p(k | x), such as the result of ``predict_proba``. Each row must sum
        to 1.
    classes : array-like of shape (C,), optional
        The labels of the columns, such as ``model.classes_``. By default 0, 1, ..., C − 1.
    costs : array-like of shape (C, C), optional
        ``costs[k, j]`` is the cost of deciding for class j if class k is true. By default every
        error costs 1 and a correct decision costs 0.
    reject_cost : float, optional
        The cost of a rejection (r), such as the price of an examination by hand; at least 0. A
        smaller value rejects more rows. By default no decision is rejected.
    reject_label : label, optional
        Value that is returned instead of a label where the decision is rejected. By default None.

    Returns
    -------
    Decisions

    Examples
    --------
    A missed fault costs 50 times as much as a false alarm:

    >>> import thetahat as th
    >>> found = th.theory.bayes_decision(
    ...     [[0.95, 0.05], [0.995, 0.005]],
    ...     classes=["fine", "fault"], costs=[[0.0, 1.0], [50.0, 0.0]])
    >>> found.labels.tolist()
    ['fault', 'fine']
    """
    p = as_probabilities(posterior, "posterior", WHO)
    labels = as_classes(classes, p.shape[-1], WHO)
    expected = 1.0 - p if costs is None else p @ _cost_matrix(costs, p.shape[-1])
    best = expected.argmin(axis=-1)
    risk = np.take_along_axis(expected, best[..., None], axis=-1)[..., 0]
    if reject_cost is None:
        return Decisions(labels[best], risk, np.zeros(risk.shape, dtype=bool))
    check_value(reject_cost, at_least(0) | infinity, "reject_cost", WHO)
    rejected = risk > reject_cost
    extended = _with_rejection(labels, reject_label)
    return Decisions(
        extended[np.where(rejected, labels.size, best)],
        np.where(rejected, float(reject_cost), risk),
        rejected,
    )


def _cost_matrix(costs: Any, n_classes: int) -> Array:
    found = numbers(costs, "costs", WHO)
    if found.shape != (n_classes, n_classes):
        raise ParameterError(
            f"{WHO}: costs has shape {found.shape}, but it must be ({n_classes}, {n_classes}): one "
            "row for each true class and one column for each decision."
        )
    return found


def _with_rejection(labels: Array, reject_label: Any) -> Array:
    """The labels and that of a rejection, in one array that changes neither."""
    if reject_label in labels.tolist():
        raise ParameterError(
            f"{WHO}: reject_label={reject_label!r} is the label of a class. Choose another one."
        )
    both = [*labels.tolist(), reject_label]
    joined = np.asarray(both)
    if joined.ndim == 1 and joined.tolist() == both and joined.dtype.kind == labels.dtype.kind:
        return joined
    mixed = np.empty(len(both), dtype=object)
    mixed[:] = both
    return mixed
