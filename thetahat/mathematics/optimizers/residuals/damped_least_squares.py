"""The damped step of the Levenberg and Levenberg–Marquardt methods, and the control of the damping.

    Δ = argmin ‖r + JΔ‖² + τ‖DΔ‖²,  that is  (JᵀJ + τD²)Δ = −Jᵀr.

The damping starts at τ₀ = 0.1. A step that decreases ‖r‖ is accepted, and τ ← τ/√2 makes the next
one closer to Gauss–Newton. A step that does not, or that leads to a J that is not finite, is
rejected; τ ← √2·τ makes it closer to a short gradient step, which is tried from the same point.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.residuals.gauss_newton import (
    half_square,
    least_norm_step,
    least_squares_state,
)
from thetahat.mathematics.parts import number

FACTOR = math.sqrt(2.0)
MOST_TRIALS = 200
"""√2 to this power is 1e30; with this damping steps are far below rounding errors."""


def damped_step(jacobian: Array, residuals: Array, tau: float, metric: Array) -> Array:
    """Δ with (JᵀJ + τ·diag(metric))Δ = −Jᵀr, from the stacked system, which is more accurate."""
    damping = np.diag(np.sqrt(tau * metric))
    stacked = np.vstack([jacobian, damping])
    return least_norm_step(stacked, np.concatenate([residuals, np.zeros(len(metric))]))


@dataclass(frozen=True)
class DampedLeastSquares(Method):
    """Base class of both methods, which state the diagonal of the damping."""

    tau0: float = number(0.1, above=0)

    needs = ("residuals", "jacobian")

    @abstractmethod
    def metric(self, jacobian: Array) -> Array:
        """The diagonal that τ multiplies."""

    def start(self, problem: Any, theta: Array) -> State:
        return least_squares_state(problem, theta, tau=self.tau0)

    def advance(self, problem: Any, state: State) -> State:
        """One accepted step; the memory of the state holds the damping τ."""
        residuals, jacobian = state.memory["residuals"], state.memory["jacobian"]
        tau, weights = state.memory["tau"], self.metric(jacobian)
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
