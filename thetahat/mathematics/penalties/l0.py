"""The count of non-zero coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

from array_api_compat import array_namespace

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import require_number
from thetahat.mathematics.penalties.base import Separable


@dataclass(frozen=True)
class L0(Separable):
    """The count R(θ) = alpha·#{j : θ_j ≠ 0}: best subsets. Cost: O(d).

    Not convex, and minimising with it is NP-hard in general. Its prox is hard thresholding: θ_j
    stays when θ_j²/2 > step·alpha, else it becomes 0. A point is stationary when the gradient is 0
    on its non-zero coordinates; that says nothing about the choice of these coordinates.

    Parameters
    ----------
    alpha : float, default=1.0
        Cost of one non-zero coefficient; ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L0(alpha=0.5).prox(np.array([2.0, 0.5]), step=1.0)
    array([2., 0.])
    """

    alpha: float = 1.0

    name = "l0"
    convex = False

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0)

    def value(self, theta: Array) -> float:
        xp = array_namespace(theta)
        return self.alpha * int(xp.sum(xp.astype(theta != 0, xp.int64)))

    def prox(self, theta: Array, step: float) -> Array:
        xp = array_namespace(theta)
        threshold = math.sqrt(2 * float(step) * self.alpha)
        return xp.where(xp.abs(theta) > threshold, theta, xp.zeros_like(theta))

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Largest |gradient| on the non-zero coordinates; any is allowed on the others."""
        xp = array_namespace(theta)
        if self.alpha == 0:
            return float(xp.max(xp.abs(gradient)))
        return float(xp.max(xp.where(theta != 0, xp.abs(gradient), xp.zeros_like(gradient))))
