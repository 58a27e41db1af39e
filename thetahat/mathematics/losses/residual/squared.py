"""Squared and Huber loss: convex and smooth functions ρ(r) of the residual r = z − y.

The squared loss is defined as r²/2, so that its gradient is r and its curvature 1. The residual sum
of squares is RSS = 2·Σ ℓ.
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating, residuals
from thetahat.mathematics.losses.base import BestShift, Compiled, Curved, Reweightable
from thetahat.mathematics.losses.constants import convex_constant, weighted_mean
from thetahat.mathematics.losses.families import NORMAL
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Squared(Curved, Reweightable):
    """The squared loss ℓ(y, z) = (z − y)²/2, which is minimised by the mean of y.

    Because of the factor ½, the residual sum of squares is RSS = 2·Σ ℓ. For labels ±1 the loss
    equals (1 − yz)²/2. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Squared().value(np.array([1.0, 0.0]), np.array([3.0, 0.0]))
    array([2., 0.])
    """

    name = "squared"
    aliases = ("squared_error", "least_squares", "mse")
    quadratic = True
    family = NORMAL
    compiled_as = Compiled(5)
    steady_curvature = True
    deviance_factor = 2.0

    def value(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return r * r / 2

    def gradient(self, y: Array, z: Array) -> Array:
        return residuals(y, z)[1]

    def curvature(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.ones_like(r)

    def irls_weight(self, y: Array, z: Array) -> Array:
        return self.curvature(y, z)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return weighted_mean(y, weight)


@dataclass(frozen=True)
class Huber(Curved, Reweightable):
    """Huber's loss: r²/2 if |r| ≤ delta, delta·(|r| − delta/2) beyond, with r = z − y.

    The gradient of a row is at most delta, which limits the influence of outliers. With noise of
    unit variance, delta = 1.345 keeps 95% of the efficiency of least squares. Cost: O(n).

    Parameters
    ----------
    delta : float, default=1.35
        The absolute residual |r| at which the loss changes from quadratic to linear. Smaller values
        reduce the influence of outliers more; large values approach the squared loss. Must be
        positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Huber(delta=1.0).value(np.zeros(2), np.array([0.5, 2.0]))
    array([0.125, 1.5  ])
    """

    delta: float = number(1.35, above=0)

    name = "huber"
    compiled_as = Compiled(6, "delta")
    linear_in_parts = True

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        size = xp.abs(r)
        core = xp.clip(size, None, self.delta)
        return core * (size - core / 2)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.clip(r, -self.delta, self.delta)

    def curvature(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.astype(xp.abs(r) <= self.delta, r.dtype)

    def irls_weight(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return self.delta / xp.clip(xp.abs(r), self.delta, None)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return convex_constant(self, y, weight)

    @property
    def best_shift(self) -> BestShift:
        return BestShift("huber", self.delta)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        _, y = floating(y)
        return y - self.delta, y + self.delta
