"""Rules that map points to labels, and the intervals on which their label is constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

Rule = Callable[[Array], Any]


@dataclass(frozen=True)
class DecisionRegion:
    """An interval on which a rule decides for one label.

    Formula: (low, high) with f(x) = label for all x inside; neighbouring regions have other labels.
    Cost: O(1).

    Attributes
    ----------
    low, high : float
        The ends of the interval; they may be infinite.
    label : label
        The label that is decided inside the interval.

    Examples
    --------
    >>> import thetahat as th
    >>> problem = th.theory.DecisionProblem(
    ...     [0.5, 0.5], [lambda x: 2 - 2 * x, lambda x: 2 * x], bounds=(0, 1))
    >>> left, right = problem.regions()
    >>> left.label, right.label, round(left.high, 12)
    (0, 1, 0.5)
    """

    low: float
    high: float
    label: Any


def threshold_rule(threshold: float, *, below: Any = 0, above: Any = 1) -> Rule:
    """Make the rule that compares x with a threshold.

    On densities 2 − 2x and 2x on [0, 1] with equal priors, rule A (0 below t, 1 above) has the
    error (t − ½)² + ¼, and rule B (1 below t, 0 above) has the error ¾ − (t − ½)².

    Formula: f(x) = `above` if x ≥ t, else `below`. Cost: O(n).

    Parameters
    ----------
    threshold : float
        The point at which the decision changes (t).
    below, above : label, default=0 and 1
        The labels that are decided for x < t and for x ≥ t.

    Returns
    -------
    callable
        A function that maps points to labels.

    Examples
    --------
    >>> import thetahat as th
    >>> problem = th.theory.DecisionProblem(
    ...     [0.5, 0.5], [lambda x: 2 - 2 * x, lambda x: 2 * x], bounds=(0, 1))
    >>> round(problem.error(th.theory.threshold_rule(0.7)), 6)
    0.29
    >>> round(problem.error(th.theory.threshold_rule(0.7, below=1, above=0)), 6)
    0.71
    """
    limit = float(numbers(threshold, "threshold", "threshold_rule", finite=False))
    labels = np.empty(2, dtype=object)
    labels[:] = [below, above]
    return lambda x: labels[(np.asarray(x) >= limit).astype(int)]


def find_regions(
    rule: Rule, points: Array, bounds: tuple[float, float], who: str
) -> tuple[DecisionRegion, ...]:
    """The regions of a rule within bounds; changes are sought between neighbouring points."""

    def decide(x: Array) -> Array:
        labels = np.asarray(rule(x))
        if labels.shape != x.shape:
            raise DataError(
                f"{who}: the rule returned labels of shape {labels.shape} for points of shape "
                f"{x.shape}. Return one label for each point."
            )
        found = np.empty(x.shape, dtype=object)
        found[:] = labels.tolist()
        return found

    labels = decide(points)
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    found = [(bounds[0], labels[0])]
    low, high = points[changes], points[changes + 1]
    left, last = labels[changes], labels[changes + 1]
    while low.size:
        edge, after = _first_changes(decide, low, high, left, last)
        found += zip(edge.tolist(), after.tolist(), strict=True)
        # Between two points there may be further changes.
        more = after != last
        low, high, left, last = edge[more], high[more], after[more], last[more]
    found.sort(key=lambda change: change[0])
    ends = [*(edge for edge, _ in found[1:]), bounds[1]]
    return tuple(
        DecisionRegion(float(start), float(stop), label)
        for (start, label), stop in zip(found, ends, strict=True)
    )


def _first_changes(
    decide: Rule, low: Array, high: Array, left: Array, last: Array
) -> tuple[Array, Array]:
    """A change of the label in each interval, by halving: its place, and the label after it."""
    low, high, after = low.copy(), high.copy(), last.copy()
    while True:
        middle = low + (high - low) / 2
        open_ = np.flatnonzero((low < middle) & (middle < high))
        if not open_.size:
            return high, after
        found = decide(middle[open_])
        same = found == left[open_]
        low[open_[same]] = middle[open_[same]]
        high[open_[~same]] = middle[open_[~same]]
        after[open_[~same]] = found[~same]
