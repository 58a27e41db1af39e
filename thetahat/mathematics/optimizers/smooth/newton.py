"""Newton's method: θ ← θ − t H⁻¹∇F, the minimum of the local parabola, with a line search.

A quadratic is solved in one step. If H is singular (duplicated columns, more parameters than rows),
the step of least norm is used. If H is indefinite, its eigenvalues are replaced by their absolute
values, so that every step is a descent direction.

If F has little curvature at θ and much more nearby (Huber's loss with all rows in its linear part),
the local parabola gives no useful step length. If the problem provides a parabola above F (see
`IRLS`), the minimum of that parabola is tried as well, and the lower of the two points is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from thetahat import _native
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.optimizers.steps.line_search import Point, backtrack


class Ending(IntEnum):
    """How a compiled run ended."""

    CONVERGED = 0
    STEPS_EXHAUSTED = 1
    STALLED = 2
    NO_DIRECTION = 3
    """H is singular or indefinite, or the step is too long: the compiled code does not solve it."""


class NewtonRun(NamedTuple):
    """The result of a compiled run: θ, F and the gap at its start and end, and how it ended."""

    theta: Array
    first_value: float
    first_gap: float
    value: float
    gap: float
    steps: int
    ending: int
    multipliers: Array | None = None
    """The dual variables at the end, where the run has them."""


@dataclass(frozen=True)
class Newton(Method):
    """Newton's method: θ ← θ − t H(θ)⁻¹∇F(θ), where t = 1 is halved until F decreases enough.

    Cost per step: one Hessian, O(n d²) for a risk over n rows, and one solve, O(d³); O(d²) memory.
    Near the optimum the number of correct digits doubles with every step. If F has no minimum
    because the loss decreases without end (separable classes), the run ends when the gradient is
    within the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Quadratic:
    ...     def value_and_gradient(self, x):
    ...         return float(x[0] ** 2 + 3 * x[1] ** 2 - x[0]), np.array([2 * x[0] - 1, 6 * x[1]])
    ...     def hessian(self, x):
    ...         return np.diag([2.0, 6.0])
    >>> solution = th.minimise(Quadratic(), th.optimizers.Newton(), np.ones(2))
    >>> solution.steps, solution.theta
    (1, array([0.5, 0. ]))
    """

    name = "newton"
    needs = ("value_and_gradient", "hessian")
    default_max_steps = 100

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Run in one compiled call if the problem provides it and single steps are not reported."""
        if monitor.unobserved and hasattr(problem, "compiled_newton"):
            theta = run_compiled(problem.compiled_newton, theta, monitor)
        if monitor.goes_on:
            super().run(problem, theta, monitor)

    def start(self, problem: Any, theta: Array) -> State:
        return _state(Point.at(problem, theta))

    def advance(self, problem: Any, state: State) -> State:
        here = state.memory["point"]
        flat = getattr(problem, "flat_direction", None)
        hessian = _curved_along(flat, problem.hessian(here.theta))
        direction, is_curved = _direction(hessian, here.gradient)
        found = backtrack(problem, here, direction, 1.0)
        reached, length = (None, 0.0) if found is None else found
        if (length < SHORT or not is_curved) and hasattr(problem, "majoriser"):
            reached = _lower(reached, _by_majoriser(problem, here))
        if reached is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        return _state(reached)


def _curved_along(flat: Array | None, hessian: Array) -> Array:
    """H with curvature along a unit vector in which F is constant.

    The gradient is orthogonal to it, so that −H⁻¹g does not change, but H is no longer singular.
    """
    if flat is None or type(hessian) is not np.ndarray:
        return hessian
    return hessian + float(np.diagonal(hessian) @ flat**2) * np.outer(flat, flat)


def run_compiled(
    compiled: Callable[..., NewtonRun], theta: Array, monitor: Monitor, most: int | None = None
) -> Array:
    """Report all steps (at most `most`) of a compiled run to the monitor at once; returns its θ."""
    steps = monitor.max_steps if most is None else min(most, monitor.max_steps)
    found = compiled(theta, monitor.tolerance, steps)
    memory = {} if found.multipliers is None else {"multipliers": found.multipliers}
    monitor.begin(State(theta, found.first_value, found.first_gap, memory))
    stalled = found.ending == Ending.STALLED
    if found.steps or stalled:
        monitor.steps += found.steps + stalled - 1  # a step without progress counts as one
        monitor.observe(State(found.theta, found.value, found.gap, memory, stalled))
    return found.theta


def _by_majoriser(problem: Any, here: Point) -> Point | None:
    """The step to the minimum of the parabola above F."""
    direction = newton_direction(problem.majoriser(here.theta)[1], here.gradient)
    found = backtrack(problem, here, direction, 1.0)
    return None if found is None else found[0]


def _lower(one: Point | None, other: Point | None) -> Point | None:
    if one is None or other is None:
        return other if one is None else one
    return other if other.value < one.value else one


def _state(point: Point) -> State:
    return State(point.theta, point.value, largest_entry(point.gradient), {"point": point})


SHORT = 0.25
"""A shorter share of a Newton step shows that the local parabola does not describe F nearby."""
SINGULAR = 1e-11
"""Curvatures of the scaled Hessian below this share of the largest count as zero."""


FEW_PARAMETERS = 144
"""Up to this size one compiled call is faster than several calls of LAPACK."""


def newton_direction(hessian: Array, gradient: Array) -> Array:
    """−H⁻¹g; of least norm if H is singular, with |eigenvalues| if it is indefinite.

    H is first scaled to a unit diagonal, so that the units of the parameters do not matter. Cost:
    O(d³), by Cholesky if H is safely positive definite and by eigenvalues otherwise.
    """
    return _direction(hessian, gradient)[0]


def _direction(hessian: Array, gradient: Array) -> tuple[Array, bool]:
    """−H⁻¹g, and whether H is safely positive definite."""
    if type(hessian) is np.ndarray and len(gradient) <= FEW_PARAMETERS:
        direction = np.array(gradient, dtype=np.float64)
        in_rows = np.ascontiguousarray(hessian, dtype=np.float64)
        if _native.newton_direction(in_rows, direction, SINGULAR):
            return direction, True
    xp = array_namespace(hessian, gradient)
    size = xp.sqrt(xp.abs(xp.linalg.diagonal(hessian)))
    scale = _filled(xp, size, size > 0)
    scaled, slope = hessian / scale / scale[:, None], gradient / scale
    require_finite_curvature(bool(xp.all(xp.isfinite(scaled))))
    with one_blas_thread():
        if _is_safely_positive(xp, scaled):
            return -xp.linalg.solve(scaled, slope[:, None])[:, 0] / scale, True
        curvature, axes = xp.linalg.eigh(scaled)
        # Along a flat axis the parabola has no minimum. The slope there is rounding error if H is
        # singular, and real if F is linear; dividing by the largest curvature is right for both.
        curvature = xp.abs(curvature)
        curvature = _filled(xp, curvature, curvature > SINGULAR * xp.max(curvature))
        direction = -(axes @ ((axes.T @ slope) / curvature)) / scale
    # Parameters that do not affect F stay exactly unchanged.
    unseen = (size == 0) & (gradient == 0)
    return xp.where(unseen, xp.zeros_like(direction), direction), False


def require_finite_curvature(is_finite: bool) -> None:
    """Raise an error for columns that are so large that their squares overflow."""
    if not is_finite:
        raise DataError(
            "The curvature of the objective is not finite: squares of columns beyond 10¹⁵⁰ "
            "overflow. Divide those columns by a constant, or scale all of them, for example with "
            "sklearn.preprocessing.StandardScaler."
        )


def _filled(xp: Any, values: Array, usable: Array) -> Array:
    """The usable values; the others are replaced by the largest usable one (or 1)."""
    largest = xp.max(values)
    return xp.where(usable, values, xp.where(largest > 0, largest, xp.ones_like(largest)))


def _is_safely_positive(xp: Any, scaled: Array) -> bool:
    """Whether every pivot of a unit-diagonal matrix is clearly larger than rounding errors."""
    try:
        pivots = xp.linalg.diagonal(xp.linalg.cholesky(scaled))
    except (np.linalg.LinAlgError, RuntimeError):
        return False
    return bool(xp.min(pivots) ** 2 > SINGULAR)
