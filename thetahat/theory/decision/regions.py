"""Rules that map points to labels, and the intervals on which their label is constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    ends, names = [bounds[0]], [labels[0]]
    for place in np.flatnonzero(labels[1:] != labels[:-1]):
        for edge, label in _changes(decide, points[place], points[place + 1]):
            ends.append(edge)
            names.append(label)
    ends.append(bounds[1])
    return tuple(
        DecisionRegion(float(low), float(high), label)
        for low, high, label in zip(ends[:-1], ends[1:], names, strict=True)
    )


def _changes(decide: Rule, low: float, high: float) -> Iterator[tuple[float, Any]]:
    """Every found change of the label between two points: where, and the label after it."""
    label, last = decide(np.array([low]))[0], decide(np.array([high]))[0]
    while label != last:
        right, after = high, last
        while low < (middle := low + (right - low) / 2) < right:
            found = decide(np.array([middle]))[0]
            if found == label:
                low = middle
            else:
                right, after = middle, found
        yield right, after
        low, label = right, after
