"""Levenberg's method: Gauss–Newton with a damping term τI that shortens unreliable steps.

(JᵀJ + τI)Δ = −Jᵀr. For τ → 0 this is the Gauss–Newton step, for τ → ∞ the gradient step −Jᵀr/τ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.residuals.damped_least_squares import DampedLeastSquares


@dataclass(frozen=True)
class Levenberg(DampedLeastSquares):
    """Levenberg's method: β ← β + Δ with (JᵀJ + τI)Δ = −Jᵀr.

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

    name = "levenberg"

    def metric(self, jacobian: Array) -> Array:
        return np.ones(jacobian.shape[1])
