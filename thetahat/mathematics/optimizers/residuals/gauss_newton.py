"""Gauss–Newton: non-linear least squares by linearising the model at every step.

F(β) = ½‖r(β)‖² with residuals r = f(β) − y and their Jacobian J. Replacing f by its linearisation
gives a linear least-squares problem for the step, Δ = −(JᵀJ)⁻¹Jᵀr; β ← β + Δ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.loop import Method, State


@dataclass(frozen=True)
class GaussNewton(Method):
    """The Gauss–Newton method: β ← β + Δ with Δ = argmin ‖r + JΔ‖².

    If J does not have full rank, Δ is the solution of least norm. The method has no step control,
    so a step may overshoot; `LevenbergMarquardt` never increases F. Cost per step: one Jacobian
    (n × d) and a least-squares solve, O(n d²). CPU only.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Decay:
    ...     t = np.array([0.0, 1.0, 2.0])
    ...     y = 3.0 * np.exp(-0.5 * t)
    ...     def residuals(self, b):
    ...         return b[0] * np.exp(b[1] * self.t) - self.y
    ...     def jacobian(self, b):
    ...         curve = np.exp(b[1] * self.t)
    ...         return np.stack([curve, b[0] * self.t * curve], axis=1)
    >>> th.minimise(Decay(), th.optimizers.GaussNewton(), np.array([2.0, -0.3])).theta.round(6)
    array([ 3. , -0.5])
    """

    name = "gauss_newton"
    needs = ("residuals", "jacobian")

    def start(self, problem: Any, theta: Array) -> State:
        there = least_squares_state(problem, theta)
        # Where the Jacobian is not finite, no step is possible.
        finite = np.isfinite(there.memory["jacobian"]).all()
        return there if finite else replace(there, value=float("inf"))

    def advance(self, problem: Any, state: State) -> State:
        jacobian, residuals = state.memory["jacobian"], state.memory["residuals"]
        if not np.isfinite(jacobian).all():
            return State(state.theta, float("inf"), state.gap)
        theta = state.theta + least_norm_step(jacobian, residuals)
        if np.array_equal(theta, state.theta):
            return replace(state, stalled=True)
        return self.start(problem, theta)


def least_squares_state(
    problem: Any, theta: Array, residuals: Array | None = None, **memory: Any
) -> State:
    """½‖r‖² with its gradient Jᵀr as the gap (or the gap of the problem), keeping r and J."""
    residuals = problem.residuals(theta) if residuals is None else residuals
    jacobian = problem.jacobian(theta)
    if hasattr(problem, "gap"):
        gap = problem.gap(theta, residuals, jacobian)
    else:
        with one_blas_thread():
            gap = largest_entry(jacobian.T @ residuals)
    return State(
        theta, half_square(residuals), gap, {"residuals": residuals, "jacobian": jacobian, **memory}
    )


def half_square(residuals: Array) -> float:
    """½‖r‖²."""
    return float(np.add.reduce(residuals * residuals, axis=None)) / 2


def least_norm_step(jacobian: Array, residuals: Array) -> Array:
    """argmin_Δ ‖r + JΔ‖²; the shortest solution if there are several."""
    with one_blas_thread():
        step: Array = np.linalg.lstsq(jacobian, -residuals, rcond=None)[0]
    return step
