"""The damped step that Levenberg and Levenberg–Marquardt share, and its control.

    Δ = argmin ‖r + JΔ‖² + τ‖DΔ‖²,  that is  (JᵀJ + τD²)Δ = −Jᵀr.

Control: τ₀ = 0.1. A step that lowers ‖r‖ is taken and τ ← τ/√2, closer to Gauss–Newton; one that
does not, or ends where J is not finite, is dropped, τ ← √2·τ, closer to a short gradient step, and
tried again from the same place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import State
from thetahat.mathematics.optimizers.residuals.gauss_newton import (
    half_square,
    least_norm_step,
    least_squares_state,
)

FACTOR = math.sqrt(2.0)
MOST_TRIALS = 200
"""√2 to this power is 1e30: by then the step is far below rounding."""


def damped_step(jacobian: Array, residuals: Array, tau: float, metric: Array) -> Array:
    """Δ with (JᵀJ + τ·diag(metric))Δ = −Jᵀr, from the stacked system, which keeps its digits."""
    damping = np.diag(np.sqrt(tau * metric))
    stacked = np.vstack([jacobian, damping])
    return least_norm_step(stacked, np.concatenate([residuals, np.zeros(len(metric))]))


def advance_damped(problem: Any, state: State, metric: Callable[[Array], Array]) -> State:
    """One accepted step; τ in the state's memory follows the lecture's control."""
    residuals, jacobian = state.memory["residuals"], state.memory["jacobian"]
    tau, weights = state.memory["tau"], metric(jacobian)
    for _ in range(MOST_TRIALS):
        theta = state.theta + damped_step(jacobian, residuals, tau, weights)
        if np.array_equal(theta, state.theta):
            break
        there = problem.residuals(theta)
        if half_square(there) < state.value:
            after = least_squares_state(problem, theta, there, tau=tau / FACTOR)
            if np.isfinite(after.memory["jacobian"]).all():
                return after
        tau *= FACTOR
    return State(state.theta, state.value, state.gap, state.memory, stalled=True)
