"""Levenberg's method: Gauss–Newton with a damping τI that keeps steps short where it errs.

(JᵀJ + τI)Δ = −Jᵀr. For τ → 0 this is the Gauss–Newton step, for τ → ∞ the gradient step −Jᵀr/τ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.residuals.damped_least_squares import advance_damped
from thetahat.mathematics.optimizers.residuals.gauss_newton import least_squares_state
from thetahat.mathematics.parts import require_number


@dataclass(frozen=True)
class Levenberg(Method):
    """β ← β + Δ with (JᵀJ + τI)Δ = −Jᵀr; τ ← τ/√2 after a success, √2·τ after a failure.

    Cost per step: one Jacobian (n × d), and per trial one value of the residuals and a
    least-squares solve, O(n d²). CPU only. F falls at every step.

    Parameters
    ----------
    tau0 : float
        The first damping τ₀.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Circle:
    ...     points = np.array([[3.0, -3.0], [1.0, -1.0], [-1.0, -3.0], [1.0, -5.0]])
    ...     def residuals(self, b):
    ...         return np.linalg.norm(self.points - b[:2], axis=1) - b[2]
    ...     def jacobian(self, b):
    ...         away = b[:2] - self.points
    ...         unit = away / np.linalg.norm(away, axis=1, keepdims=True)
    ...         return np.column_stack([unit, -np.ones(len(unit))])
    >>> th.minimise(Circle(), th.optimizers.Levenberg(), np.array([0.5, 0.5, 1.0])).theta.round(6)
    array([ 1., -3.,  2.])
    """

    tau0: float = 0.1

    name = "levenberg"
    needs = ("residuals", "jacobian")

    def __post_init__(self) -> None:
        require_number(self, "tau0", above=0)

    def start(self, problem: Any, theta: Array) -> State:
        return least_squares_state(problem, theta, tau=self.tau0)

    def advance(self, problem: Any, state: State) -> State:
        return advance_damped(problem, state, lambda jacobian: np.ones(jacobian.shape[1]))
