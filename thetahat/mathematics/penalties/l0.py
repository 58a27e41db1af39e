"""The number of non-zero coefficients as a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass

from array_api_compat import array_namespace

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import number
from thetahat.mathematics.penalties.base import Separable


@dataclass(frozen=True)
class L0(Separable):
    """The number of non-zero coefficients, R(θ) = alpha·#{j : θ_j ≠ 0}. Cost: O(d).

    This is the penalty of best-subset selection. It is not convex, and minimising an objective with
    it is NP-hard in general. Its prox is hard thresholding: θ_j is kept if θ_j²/2 > step·alpha and
    set to 0 otherwise. A point is stationary if the gradient is 0 on its non-zero coordinates. This
    does not mean that these coordinates are the best choice: with the squared loss and at most 40
    columns `LinearModel` searches all subsets and its outcome is ``EXACT``, otherwise it is
    ``LOCAL``.

    Parameters
    ----------
    alpha : float, default=1.0
        Cost of one non-zero coefficient. Larger values set more coefficients to zero; 0 removes
        the penalty. Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L0(alpha=0.5).prox(np.array([2.0, 0.5]), step=1.0)
    array([2., 0.])
    """

    alpha: float = number(1.0, at_least=0)

    name = "l0"
    convex = False

    def value(self, theta: Array) -> float:
        xp = array_namespace(theta)
        return self.alpha * int(xp.sum(xp.astype(theta != 0, xp.int64)))

    def prox(self, theta: Array, step: float) -> Array:
        xp = array_namespace(theta)
        threshold = math.sqrt(2 * float(step) * self.alpha)
        return xp.where(xp.abs(theta) > threshold, theta, xp.zeros_like(theta))

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Largest |gradient| on the non-zero coordinates; any value is allowed on the others."""
        xp = array_namespace(theta)
        if self.alpha == 0:
            return float(xp.max(xp.abs(gradient)))
        return float(xp.max(xp.where(theta != 0, xp.abs(gradient), xp.zeros_like(gradient))))
