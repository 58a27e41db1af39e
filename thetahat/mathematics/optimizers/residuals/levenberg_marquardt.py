"""The Levenberg–Marquardt method: damping that does not depend on the units of the parameters.

(JᵀJ + τ·diag(JᵀJ))Δ = −Jᵀr: the diagonal of JᵀJ is multiplied by 1 + τ. Unlike with Levenberg's τI,
the steps do not change when a parameter is measured in another unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.residuals.damped_least_squares import advance_damped
from thetahat.mathematics.optimizers.residuals.gauss_newton import least_squares_state
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class LevenbergMarquardt(Method):
    """The Levenberg–Marquardt method: β ← β + Δ with (JᵀJ + τ·diag(JᵀJ))Δ = −Jᵀr.

    The damping changes by τ ← τ/√2 after a successful step and by τ ← √2·τ after a failure, so that
    F decreases at every step. Cost per step: one Jacobian (n × d), and for each trial one
    evaluation of the residuals and a least-squares solve, O(n d²). CPU only.

    Parameters
    ----------
    tau0 : float, default=0.1
        Initial damping (τ₀). Larger values make the first steps shorter and safer. Must be
        positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Rosenbrock:
    ...     def residuals(self, b):
    ...         return np.array([10 * (b[1] - b[0] ** 2), 1 - b[0]])
    ...     def jacobian(self, b):
    ...         return np.array([[-20 * b[0], 10.0], [-1.0, 0.0]])
    >>> method = th.optimizers.LevenbergMarquardt()
    >>> th.minimise(Rosenbrock(), method, np.array([-1.2, 1.0])).theta.round(6)
    array([1., 1.])
    """

    tau0: float = number(0.1, above=0)

    name = "levenberg_marquardt"
    aliases = ("lm",)
    needs = ("residuals", "jacobian")

    def start(self, problem: Any, theta: Array) -> State:
        return least_squares_state(problem, theta, tau=self.tau0)

    def advance(self, problem: Any, state: State) -> State:
        return advance_damped(problem, state, lambda jacobian: np.sum(jacobian * jacobian, axis=0))
