"""The Levenberg–Marquardt method: damping that does not depend on the units of the parameters.

(JᵀJ + τ·diag(JᵀJ))Δ = −Jᵀr: the diagonal of JᵀJ is multiplied by 1 + τ. Unlike with Levenberg's τI,
the steps do not change when a parameter is measured in another unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.residuals.damped_least_squares import DampedLeastSquares


@dataclass(frozen=True)
class LevenbergMarquardt(DampedLeastSquares):
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

    name = "levenberg_marquardt"
    aliases = ("lm",)

    def metric(self, jacobian: Array) -> Array:
        return np.sum(jacobian * jacobian, axis=0)
