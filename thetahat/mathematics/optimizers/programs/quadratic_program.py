"""Quadratic programs ½xᵀQx + cᵀx with bounds (by coordinate descent) or with equalities (directly).

The dual of a support vector machine is a program with bounds. A program with equalities is solved
by its Lagrangian, whose stationary point is a linear system in x and the multipliers.
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
from thetahat.mathematics.optimizers.loop import run
from thetahat.mathematics.optimizers.programs.constrained import bound, constraints
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
    """Minimise ½xᵀQx + cᵀx subject to lower ≤ x ≤ upper, by compiled coordinate descent.

    Formula: x_j ← clip(x_j − (Qx + c)_j/Q_jj, lower_j, upper_j). The multipliers of the bounds are
    the gradient Qx + c: ≥ 0 where x is at its lower bound, ≤ 0 at its upper bound, 0 between. Cost:
    O(d³) once, to check that Q is convex, then O(d²) per sweep.

    Parameters
    ----------
    quadratic : array of shape (d, d)
        The matrix Q of the quadratic term. Must be symmetric and positive semidefinite.
    linear : array of shape (d,)
        The vector c of the linear term.
    lower, upper : float or array of shape (d,), default=0.0 and inf
        Bounds on x, as one number for all entries or one for each.
    tolerance : float, default=1e-10
        The run converges when the largest gradient entry, except where a bound blocks the descent,
        is at most this value. Smaller values give more accurate results and need more iterations.
    max_steps : int, default=100000
        Maximum number of iterations; each is a sweep over all coordinates.

    Returns
    -------
    Program
        ``inequality_multipliers`` are those of the 2d constraints x ≥ lower, then x ≤ upper. Its
        status is "unbounded" if the objective decreases without end along some direction, and
        "steps exhausted" or "out of time" if the tolerance was not reached; the point is then the
        best one so far. A Q with a negative eigenvalue raises an error.

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
            "box is empty. Every lower bound must be at most its upper bound."
        )
    Q = _convex(Q)
    if _falls_for_ever(Q, c, low, high):
        return Program("unbounded", value=-np.inf)
    # A coordinate without curvature starts at the bound that its slope leads to.
    flat = np.diagonal(Q) == 0
    leads = np.where(c > 0, low, np.where(c < 0, high, 0.0))
    start = np.clip(np.where(flat, leads, 0.0), low, high)
    problem = SeparableQuadratic(Q, -c, lower=low, upper=high)
    found = run(problem, CoordinateDescent(), start, tolerance=tolerance, max_steps=max_steps)
    x = found.theta
    slope = np.sum(Q * x, axis=1) + c
    pushes = np.concatenate([np.where(x <= low, slope, 0.0), np.where(x >= high, -slope, 0.0)])
    done = found.outcome.success or found.outcome is Outcome.STALLED
    status = "optimal" if done else found.outcome.name.lower().replace("_", " ")
    return Program(status, x, found.value, np.maximum(pushes, 0.0))


def _convex(Q: Array) -> Array:
    """Q with zeros for coordinates without curvature; an error if Q is not convex."""
    scale = float(np.max(np.abs(Q), initial=0.0))
    with one_blas_thread():
        least = float(np.linalg.eigvalsh(Q).min(initial=0.0))
    if least < -DOWNWARDS * scale:
        raise CapabilityError(
            "box_quadratic_program: Q must be positive semidefinite, but its smallest eigenvalue "
            f"is {least:.3g}. Every corner of the box may then be a local minimum: compare them, "
            "or increase the diagonal of Q."
        )
    none = np.diagonal(Q) <= 0
    return np.where(none | none[:, None], 0.0, Q)


def _falls_for_ever(Q: Array, c: Array, low: Array, high: Array) -> bool:
    """Whether some direction v has Qv = 0 and cᵀv < 0 and never leaves the box."""
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
"""Curvatures or constraints below this share of the largest count as zero."""
DOWNWARDS = 1e-10
"""Negative curvatures up to this share of the largest entry are rounding errors."""
STEEP = 1e-6
"""A steeper slope along a flat direction is not a rounding error of the linear program."""


def equality_quadratic_program(
    quadratic: Array, linear: Array, equalities: tuple[Array, Array]
) -> Program:
    """Minimise ½xᵀQx + cᵀx subject to Ex = e, by its Lagrangian.

    Formula: the stationary point of L = ½xᵀQx + cᵀx + νᵀ(Ex − e), that is Qx + Eᵀν = −c and
    Ex = e. It is solved in the null space of E, so redundant constraints are allowed. Cost: O(d³).

    Parameters
    ----------
    quadratic : array of shape (d, d)
        The matrix Q of the quadratic term. Must be symmetric, and positive definite on the null
        space of E.
    linear : array of shape (d,)
        The vector c of the linear term.
    equalities : (matrix of shape (m, d), vector of shape (m,))
        The matrix E and the vector e of the constraints Ex = e.

    Returns
    -------
    Program
        ``equality_multipliers`` are ν; those of least norm if constraints are redundant.

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
    E, e = constraints(equalities, c.size, "equalities", "equality_quadratic_program")
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
                "equality_quadratic_program: Q has a negative curvature along the constraints "
                f"({curvature.min():.2g}), so there is no minimum. Pass a Q that is positive "
                "semidefinite there."
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
        raise DataError(
            f"{who}: Q and c must be finite, but contain NaN or infinity. Replace those values."
        )
    if not np.allclose(Q, Q.T, rtol=1e-10, atol=1e-12 * float(np.max(np.abs(Q), initial=0.0))):
        raise ParameterError(
            f"{who}: Q must be symmetric. Pass (Q + Q.T)/2, which gives the same objective."
        )
    return Q, c
