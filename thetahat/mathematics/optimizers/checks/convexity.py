"""Is a function convex? Four faces of one property.

- Chords lie above: f(a·x₁ + (1−a)·x₂) ≤ a·f(x₁) + (1−a)·f(x₂).
- Curvature is nowhere negative: ∇²f has no eigenvalue below 0.
- Jensen: f(E[x]) ≤ E[f(x)].
- Every local minimum is global: descents from all starts end at one value.

All look at sampled points, so a failure is proof and a pass is evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff import value_and_gradient
from thetahat.mathematics.optimizers.checks.derivatives import Check
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent


def check_convexity(
    f: Callable[[Array], Any],
    points: Array,
    *,
    n_segments: int = 256,
    tolerance: float = 1e-9,
    random_state: RandomState = 0,
) -> Check:
    """The chord test: between two points, a convex function lies below the line that joins them.

    Formula: f(a·x₁ + (1−a)·x₂) ≤ a·f(x₁) + (1−a)·f(x₂) for 0 < a < 1. Pairs of points and a are
    drawn at random: a failure disproves convexity, a pass is evidence for it. Cost: 3·n_segments
    evaluations of f.

    Parameters
    ----------
    f : callable
        From one point (an entry or row of `points`) to a number.
    points : array of shape (n,) or (n, d)
        Where to look; segments join two of them.
    n_segments : int
        How many segments to test.
    tolerance : float
        Relative to the largest |f| on the segment.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> bool(th.optimizers.check_convexity(np.exp, np.linspace(-3.0, 3.0, 20)))
    True
    >>> bool(th.optimizers.check_convexity(np.sin, np.linspace(-3.0, 3.0, 20)))
    False
    """
    points = _points(points, at_least=2)
    draw = generator(random_state)
    segments = []
    for _ in range(n_segments):
        i, j = draw.choice(len(points), size=2, replace=False)
        a = float(draw.uniform(0.0, 1.0))
        left, right = float(f(points[i])), float(f(points[j]))
        chord = a * left + (1 - a) * right
        here = float(f(a * points[i] + (1 - a) * points[j]))
        allowed = tolerance * max(abs(left), abs(right), abs(here))
        segments.append((here, chord, allowed, (points[i], points[j], a)))
    return _worst_excess("f(a·x₁ + (1−a)·x₂) ≤ a·f(x₁) + (1−a)·f(x₂)", segments)


def check_jensen(
    f: Callable[[Array], Any],
    points: Array,
    weights: Array | None = None,
    *,
    tolerance: float = 1e-9,
) -> Check:
    """Jensen's inequality: a convex function of the mean is at most the mean of the function.

    Formula: f(E[x]) ≤ E[f(x)], with E[x] = Σ wᵢxᵢ / Σ wᵢ. Cost: n + 1 evaluations of f.

    Parameters
    ----------
    f : callable
        From one point (an entry or row of `points`) to a number.
    points : array of shape (n,) or (n, d)
        The values x takes.
    weights : array of shape (n,), optional
        Their probabilities, up to a factor; equal when not given.
    tolerance : float
        Relative to the largest |f| at the points.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> check = th.optimizers.check_jensen(np.square, [0.0, 2.0])
    >>> check.found, check.expected
    (1.0, 2.0)
    """
    points = _points(points, at_least=1)
    values = np.array([float(f(point)) for point in points])
    mean = np.average(points, axis=0, weights=weights)
    here, average = float(f(mean)), float(np.average(values, weights=weights))
    allowed = tolerance * max(abs(here), float(np.max(abs(values))))
    return _worst_excess("f(E[x]) ≤ E[f(x)]", [(here, average, allowed, mean)])


def check_positive_curvature(
    hessian: Callable[[Array], Array], points: Array, *, tolerance: float = 1e-9
) -> Check:
    """The Hessian test: a function is convex where ∇²f has no negative eigenvalue.

    Formula: λ_min(∇²f(x)) ≥ 0 at every point. Cost: one Hessian and O(d³) per point.

    Parameters
    ----------
    hessian : callable
        From one point (an entry or row of `points`) to its Hessian; a number for d = 1.
    points : array of shape (n,) or (n, d)
        Where to look.
    tolerance : float
        Relative to the largest |eigenvalue|.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> saddle = lambda x: np.diag([2.0, -2.0])
    >>> check = th.optimizers.check_positive_curvature(saddle, np.zeros((1, 2)))
    >>> bool(check), check.found
    (False, -2.0)
    """
    eigenvalues = []
    for point in _points(points, at_least=1):
        spectrum = np.linalg.eigvalsh(np.atleast_2d(np.asarray(hessian(point), dtype=np.float64)))
        largest = float(np.max(abs(spectrum)))
        eigenvalues.append((-float(spectrum[0]), 0.0, tolerance * largest, point))
    worst = _worst_excess("∇²f has no negative eigenvalue", eigenvalues)
    return Check(worst.passed, worst.rule, -worst.found, 0.0, worst.tolerance, worst.where)


@dataclass(frozen=True)
class Minima:
    """Where descents from several starts ended, lowest value first.

    Formula: local minima satisfy ∇f = 0 and ∇²f ≥ 0; the global one has the lowest f. Cost: O(1).

    Attributes
    ----------
    points : list of arrays
        The different end points.
    values : list of float
        f there, in increasing order.
    reached : list of int
        How many descents ended at each.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> bowl = th.optimizers.find_minima(lambda x: np.sum(x**2), [-1.0, 1.0])
    >>> bowl.unique, bowl.reached
    (True, [2])
    """

    points: list[Array]
    values: list[float]
    reached: list[int]

    @property
    def unique(self) -> bool:
        """Whether every descent ended at the same place."""
        return len(self.points) == 1


def find_minima(f: Callable[[Array], Any], starts: Array, *, tolerance: float = 1e-4) -> Minima:
    """Local against global minima: descend from each start, and see where it ends.

    Formula: x ← x − η∇f(x) from each start, ∇f by autodiff. For a convex f all descents reach one
    value; otherwise the start decides which local minimum is found. Cost: one run of gradient
    descent per start.

    Parameters
    ----------
    f : callable
        From one point to a number, written so that th.autodiff can follow it.
    starts : array of shape (n,) or (n, d)
        Where to start.
    tolerance : float
        End points closer than this (relative to their size) are one.

    Examples
    --------
    >>> import thetahat as th
    >>> two_valleys = lambda x: x**4 - 3 * x**2 + x
    >>> found = th.optimizers.find_minima(two_valleys, [-2.0, -1.0, 1.0, 2.0])
    >>> [round(float(x), 3) for x in found.points], found.reached
    ([-1.301, 1.131], [2, 2])
    """
    problem = SimpleNamespace(value_and_gradient=value_and_gradient(f))
    ends = [minimise(problem, GradientDescent(), start) for start in _points(starts, at_least=1)]
    groups: list[list[Any]] = []
    for end in sorted(ends, key=lambda end: end.value):
        for group in groups:
            distance = np.linalg.norm(end.theta - group[0].theta)
            if distance <= tolerance * (1 + np.linalg.norm(group[0].theta)):
                group.append(end)
                break
        else:
            groups.append([end])
    return Minima(
        [group[0].theta for group in groups],
        [float(group[0].value) for group in groups],
        [len(group) for group in groups],
    )


def _points(points: Array, *, at_least: int) -> Array:
    points = np.asarray(points, dtype=np.float64)
    if points.ndim == 0 or len(points) < at_least:
        raise ParameterError(
            f"points must be an array of at least {at_least} points; got shape {points.shape}."
        )
    return points


def _worst_excess(rule: str, seen: list[tuple[float, float, float, Any]]) -> Check:
    """found ≤ expected + tolerance for all of (found, expected, tolerance, where)."""
    worst = max(seen, key=lambda case: np.nan_to_num(case[0] - case[1] - case[2], nan=np.inf))
    found, expected, allowed, where = worst
    return Check(bool(found - expected <= allowed), rule, found, expected, allowed, where)
