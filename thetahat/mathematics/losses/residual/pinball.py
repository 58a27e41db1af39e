"""Absolute and quantile loss: two lines that meet at r = z − y = 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating, residuals
from thetahat.mathematics.losses.base import (
    Bend,
    BestShift,
    Compiled,
    PiecewiseLinear,
    Reweightable,
)
from thetahat.mathematics.losses.box_dual import BoxDual, DualBox
from thetahat.mathematics.losses.constants import weighted_quantile
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Absolute(Reweightable, PiecewiseLinear, BoxDual):
    """The absolute loss ℓ(y, z) = |z − y|, which is minimised by the median of y.

    For iteratively reweighted least squares the weight 1/|r| is unbounded, so |r| is replaced by at
    least √ε there, with ε the rounding unit of the dtype (√ε = 1.5e−8 in float64). Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Absolute().best_constant(np.array([1.0, 2.0, 100.0])).item()
    2.0
    """

    name = "absolute"
    aliases = ("absolute_error", "least_absolute_deviations", "mae")
    compiled_as = Compiled(7)
    zero_on_a_range = False

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.abs(r)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.sign(r)

    def irls_weight(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return 1 / xp.clip(xp.abs(r), math.sqrt(float(xp.finfo(r.dtype).eps)), None)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return weighted_quantile(y, weight)

    @property
    def best_shift(self) -> BestShift:
        return BestShift("quantile", 0.5)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        return (floating(y)[1],)

    def bends(self, y: Array) -> tuple[Bend, ...]:
        return (Bend(floating(y)[1], -1.0, 1.0),)

    def dual_box(self, y: Array) -> DualBox:
        xp, y = floating(y)
        return DualBox(-xp.ones_like(y), xp.ones_like(y))


@dataclass(frozen=True)
class Quantile(PiecewiseLinear, BoxDual):
    """The quantile (pinball) loss: level·(y − z) if z < y, (1 − level)·(z − y) if z > y.

    It is minimised by the quantile of y at the given level. At level 0.5 it is half the absolute
    loss. Cost: O(n).

    Parameters
    ----------
    level : float, default=0.5
        The quantile that is predicted, for example 0.9 for a value that 90% of the targets do not
        exceed. Must lie strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Quantile(level=0.9).value(np.zeros(2), np.array([-1.0, 1.0])).round(3)
    array([0.9, 0.1])
    """

    level: float = number(0.5, above=0, below=1)

    name = "quantile"
    aliases = ("pinball",)
    zero_on_a_range = False

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.maximum((1 - self.level) * r, -self.level * r)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        over, under = xp.astype(r > 0, r.dtype), xp.astype(r < 0, r.dtype)
        return (1 - self.level) * over - self.level * under

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return weighted_quantile(y, weight, self.level)

    @property
    def best_shift(self) -> BestShift:
        return BestShift("quantile", self.level)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        return (floating(y)[1],)

    def bends(self, y: Array) -> tuple[Bend, ...]:
        return (Bend(floating(y)[1], -self.level, 1 - self.level),)

    def dual_box(self, y: Array) -> DualBox:
        xp, y = floating(y)
        return DualBox((self.level - 1) * xp.ones_like(y), self.level * xp.ones_like(y))
