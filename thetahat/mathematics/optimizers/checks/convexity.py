"""Numerical checks of convexity by four of its properties.

- Chords lie above the function: f(a·x₁ + (1−a)·x₂) ≤ a·f(x₁) + (1−a)·f(x₂).
- The curvature is nowhere negative: ∇²f has no eigenvalue below 0.
- Jensen's inequality: f(E[x]) ≤ E[f(x)].
- Every local minimum is global: descents from all starts end at the same value.

All checks use sampled points. A failure proves that f is not convex; a pass is only evidence.
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
from thetahat.mathematics.optimizers.loop import run
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent


def check_convexity(
    f: Callable[[Array], Any],
    points: Array,
    *,
    n_segments: int = 256,
    tolerance: float = 1e-9,
    random_state: RandomState = 0,
) -> Check:
    """Check that a function lies below the chord between any two points, as convex functions do.

    Formula: f(a·x₁ + (1−a)·x₂) ≤ a·f(x₁) + (1−a)·f(x₂) for 0 < a < 1. Pairs of points and a are
    drawn at random. A failure disproves convexity; a pass is evidence for it. Cost: 3·n_segments
    evaluations of f.

    Parameters
    ----------
    f : callable
        The function, which takes one point (an entry or row of `points`) and returns a number.
    points : array of shape (n,) or (n, d)
        The points between which segments are drawn.
    n_segments : int, default=256
        Number of segments to test. Larger values make the check more reliable and slower.
    tolerance : float, default=1e-9
        Violations up to this value, relative to the largest |f| on the segment, are accepted.
    random_state : int, Generator or None, default=0
        Seed of the random segments. Pass an int for reproducible results.

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
    """Check Jensen's inequality: a convex function of the mean is at most the mean of the function.

    Formula: f(E[x]) ≤ E[f(x)], with E[x] = Σ wᵢxᵢ / Σ wᵢ. Cost: n + 1 evaluations of f.

    Parameters
    ----------
    f : callable
        The function, which takes one point (an entry or row of `points`) and returns a number.
    points : array of shape (n,) or (n, d)
        The possible values of x, one per entry or row.
    weights : array of shape (n,), optional
        Probabilities of the points, up to a common factor. By default all are equal.
    tolerance : float, default=1e-9
        A violation up to this value, relative to the largest |f| at the points, is accepted.

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
    """Check that the Hessian has no negative eigenvalue, as for convex functions.

    Formula: λ_min(∇²f(x)) ≥ 0 at every point. Cost: one Hessian and O(d³) per point.

    Parameters
    ----------
    hessian : callable
        The function that takes one point (an entry or row of `points`) and returns its Hessian, or
        a number for d = 1.
    points : array of shape (n,) or (n, d)
        The points at which the Hessian is computed.
    tolerance : float, default=1e-9
        Negative eigenvalues up to this value, relative to the largest |eigenvalue|, are accepted.

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
    """The end points of descents from several starts, in order of increasing value.

    Formula: local minima satisfy ∇f = 0 and ∇²f ≥ 0; the global one has the lowest f. Cost: O(1).

    Attributes
    ----------
    points : list of arrays
        The distinct points at which descents ended.
    values : list of float
        Values of f at these points, in increasing order.
    reached : list of int
        Number of descents that ended at each point.

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
        """Whether all descents ended at the same point."""
        return len(self.points) == 1


def find_minima(f: Callable[[Array], Any], starts: Array, *, tolerance: float = 1e-4) -> Minima:
    """Find local minima by gradient descent from several starts.

    Formula: x ← x − η∇f(x) from each start, with ∇f by automatic differentiation. For a convex f
    all descents reach the same value; otherwise the result depends on the start. Cost: one run of
    gradient descent per start.

    Parameters
    ----------
    f : callable
        The function of one point, which returns a number. It must be differentiable by th.autodiff.
    starts : array of shape (n,) or (n, d)
        The starting points, one per entry or row.
    tolerance : float, default=1e-4
        End points closer than this value, relative to their size, count as one.

    Examples
    --------
    >>> import thetahat as th
    >>> two_valleys = lambda x: x**4 - 3 * x**2 + x
    >>> found = th.optimizers.find_minima(two_valleys, [-2.0, -1.0, 1.0, 2.0])
    >>> [round(float(x), 3) for x in found.points], found.reached
    ([-1.301, 1.131], [2, 2])
    """
    problem = SimpleNamespace(value_and_gradient=value_and_gradient(f))
    ends = [run(problem, GradientDescent(), start) for start in _points(starts, at_least=1)]
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
