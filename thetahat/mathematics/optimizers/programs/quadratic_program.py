"""Quadratic programs ½xᵀQx + cᵀx: in a box by coordinate descent, on a plane by one linear system.

The dual of a support vector machine is the first kind. The second is solved by its Lagrangian,
whose stationary point is a linear system in x and the multipliers.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import (
    CoordinateDescent,
    SeparableQuadratic,
)
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.programs.constrained import bound
from thetahat.mathematics.optimizers.programs.linear_program import Program, linear_program
from thetahat.mathematics.optimizers.solution import Outcome


def box_quadratic_program(
    quadratic: Array,
    linear: Array,
    lower: Array | float = 0.0,
    upper: Array | float = np.inf,
    *,
    tolerance: float = 1e-10,
    max_steps: int = 100_000,
) -> Program:
    """Minimise ½xᵀQx + cᵀx subject to lower ≤ x ≤ upper, one coordinate after another (compiled).

    Formula: x_j ← clip(x_j − (Qx + c)_j/Q_jj, lower_j, upper_j). The multipliers of the bounds are
    the gradient Qx + c: ≥ 0 where x is at its lower bound, ≤ 0 at its upper, 0 between. Cost: O(d³)
    once, to see that Q is convex, then O(d²) per sweep.

    Parameters
    ----------
    quadratic : array of shape (d, d)
        Q, symmetric and positive semidefinite.
    linear : array of shape (d,)
        c.
    lower, upper : float or array of shape (d,)
        The box.
    tolerance : float
        Largest gradient entry that the bounds leave open.
    max_steps : int
        Most sweeps.

    Returns
    -------
    Program
        ``inequality_multipliers`` are those of the 2d constraints x ≥ lower, then x ≤ upper. Its
        status is "unbounded" where some direction without curvature leads down for ever, and
        "steps exhausted" (or "out of time") where the tolerance was not reached: the point is then
        the best so far. A Q that curves downwards is refused: the method would stop anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> Q, c = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-4.0, 1.0])
    >>> found = th.optimizers.box_quadratic_program(Q, c, 0.0, 1.5)
    >>> found.point, found.inequality_multipliers
    (array([1.5, 0. ]), array([0. , 2.5, 1. , 0. ]))
    """
    Q, c = _square(quadratic, linear, "box_quadratic_program")
    who = "box_quadratic_program"
    low, high = bound(lower, "lower", c.size, who), bound(upper, "upper", c.size, who)
    if not np.all(low <= high):
        j = int(np.argmin(low <= high))
        raise ParameterError(
            f"box_quadratic_program: lower[{j}]={low[j]:g} is above upper[{j}]={high[j]:g}, so the "
            "box is empty. Exchange them."
        )
    Q = _convex(Q)
    if _falls_for_ever(Q, c, low, high):
        return Program("unbounded", value=-np.inf)
    # Without curvature a coordinate goes where its slope leads; the sweeps move the others.
    flat = np.diagonal(Q) == 0
    leads = np.where(c > 0, low, np.where(c < 0, high, 0.0))
    start = np.clip(np.where(flat, leads, 0.0), low, high)
    problem = SeparableQuadratic(Q, -c, lower=low, upper=high)
    found = minimise(problem, CoordinateDescent(), start, tolerance=tolerance, max_steps=max_steps)
    x = found.theta
    slope = np.sum(Q * x, axis=1) + c
    pushes = np.concatenate([np.where(x <= low, slope, 0.0), np.where(x >= high, -slope, 0.0)])
    done = found.outcome.success or found.outcome is Outcome.STALLED
    status = "optimal" if done else found.outcome.name.lower().replace("_", " ")
    return Program(status, x, found.value, np.maximum(pushes, 0.0))


def _convex(Q: Array) -> Array:
    """Q with what is no curvature to rounding made zero; refused if it curves downwards."""
    scale = float(np.max(np.abs(Q), initial=0.0))
    with one_blas_thread():
        least = float(np.linalg.eigvalsh(Q).min(initial=0.0))
    if least < -DOWNWARDS * scale:
        raise CapabilityError(
            "box_quadratic_program: Q must be positive semidefinite, and it curves downwards "
            f"(least eigenvalue {least:.3g}). Every corner of the box may be a local minimum then: "
            "compare them, or raise the diagonal of Q."
        )
    none = np.diagonal(Q) <= 0
    return np.where(none | none[:, None], 0.0, Q)


def _falls_for_ever(Q: Array, c: Array, low: Array, high: Array) -> bool:
    """Whether some v has Qv = 0 and cᵀv < 0 and never leaves the box."""
    if np.isfinite(low).all() and np.isfinite(high).all():
        return False
    with one_blas_thread():
        values, vectors = np.linalg.eigh(Q)
    null = vectors[:, values <= SINGULAR * max(float(values.max(initial=0.0)), 0.0)]
    if not null.shape[1]:
        return False
    least, most = -np.isinf(low).astype(float), np.isinf(high).astype(float)
    size = max(float(np.max(np.abs(c), initial=0.0)), np.finfo(float).tiny)
    inside = (np.vstack([null, -null]), np.concatenate([most, -least]))
    way = linear_program(null.T @ (c / size), inequalities=inside)
    return way.value < -STEEP


SINGULAR = 1e-12
"""Curvature or constraint below this share of the largest counts as none."""
DOWNWARDS = 1e-10
"""Curvature downwards below this share of the largest is rounding."""
STEEP = 1e-6
"""A slope along a flat direction that is more than the rounding of a linear program."""


def equality_quadratic_program(
    quadratic: Array, linear: Array, equalities: tuple[Array, Array]
) -> Program:
    """Minimise ½xᵀQx + cᵀx subject to Ex = e, by its Lagrangian.

    Formula: the stationary point of L = ½xᵀQx + cᵀx + νᵀ(Ex − e), that is Qx + Eᵀν = −c and
    Ex = e; solved in the null space of E, so constraints that repeat one another do no harm. Cost:
    O(d³).

    Parameters
    ----------
    quadratic : array of shape (d, d)
        Q, symmetric, and positive definite along the constraints.
    linear : array of shape (d,)
        c.
    equalities : (matrix of shape (m, d), vector of shape (m,))
        E and e.

    Returns
    -------
    Program
        ``equality_multipliers`` are ν, of least norm where constraints repeat one another.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> plane = (np.ones((1, 2)), [2.0])
    >>> nearest = th.optimizers.equality_quadratic_program(np.eye(2), np.zeros(2), plane)
    >>> nearest.point.round(12), nearest.equality_multipliers.round(12)
    (array([1., 1.]), array([-1.]))
    """
    Q, c = _square(quadratic, linear, "equality_quadratic_program")
    E, e = (np.asarray(part, dtype=np.float64) for part in equalities)
    if E.ndim != 2 or E.shape[1] != c.size or e.shape != E.shape[:1]:
        raise ParameterError(
            f"equality_quadratic_program: constraints have shapes {E.shape} and {e.shape}; "
            f"{c.size} unknowns need (m, {c.size}) and (m,)."
        )
    with one_blas_thread():
        u, s, vt = np.linalg.svd(E)
        rank = int(np.sum(s > SINGULAR * max(s.max(initial=0.0), np.finfo(float).tiny)))
        particular = vt[:rank].T @ ((u[:, :rank].T @ e) / s[:rank])
        missed = E @ particular - e
        if np.max(np.abs(missed), initial=0.0) > 1e-9 * max(1.0, float(np.max(np.abs(e)))):
            return Program("infeasible", value=np.inf)
        free = vt[rank:].T
        curvature, axes = np.linalg.eigh(free.T @ Q @ free)
        slope = free.T @ (Q @ particular + c)
        scale = float(np.max(np.abs(Q), initial=0.0))
        flat = curvature <= SINGULAR * scale
        if np.any(curvature < -1e-9 * scale):
            raise CapabilityError(
                "equality_quadratic_program: Q curves downwards along the constraints (smallest "
                f"curvature {curvature.min():.2g}), so there is no minimum. Give a Q that is "
                "positive semidefinite there."
            )
        along = axes.T @ slope
        if np.any(np.abs(along[flat]) > 1e-9 * max(1.0, float(np.max(np.abs(c))))):
            return Program("unbounded", value=-np.inf)
        steps = np.where(flat, 0.0, along / np.where(flat, 1.0, curvature))
        x = particular - free @ (axes @ steps)
        gradient = Q @ x + c
        multipliers = -u[:, :rank] @ ((vt[:rank] @ gradient) / s[:rank])
    return Program("optimal", x, float(x @ Q @ x / 2 + c @ x), equality_multipliers=multipliers)


def _square(quadratic: Array, linear: Array, who: str) -> tuple[Array, Array]:
    Q, c = np.asarray(quadratic, dtype=np.float64), np.asarray(linear, dtype=np.float64)
    if c.ndim != 1 or Q.shape != (c.size, c.size):
        raise ParameterError(
            f"{who}: Q has shape {Q.shape} and c {c.shape}; they must be (d, d) and (d,)."
        )
    if not (np.isfinite(Q).all() and np.isfinite(c).all()):
        raise DataError(f"{who}: Q and c must be finite; they hold NaN or infinity. Drop those.")
    if not np.allclose(Q, Q.T, rtol=1e-10, atol=1e-12 * float(np.max(np.abs(Q), initial=0.0))):
        raise ParameterError(f"{who}: Q must be symmetric. Give (Q + Q.T)/2, which says the same.")
    return Q, c
