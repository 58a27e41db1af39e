"""Deviances of any power of the mean, for the combinations that `Gamma` and `Tweedie` lack.

Half the deviance of a distribution with mean μ and variance φ·μ^p, up to terms of y: p = 0 is the
normal and p = 3 the inverse Gaussian distribution. With the log link they are convex in z for
1 ≤ p ≤ 2, with the identity link for p = 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned
from thetahat.mathematics.losses.base import Deviance, Targets
from thetahat.mathematics.losses.constants import weighted_mean
from thetahat.mathematics.losses.tweedie import Tweedie
from thetahat.mathematics.parts import number


def _targets(power: float) -> Targets:
    """The values of y that have a finite deviance."""
    if power < 1:
        return Targets.REAL
    return Targets.NONNEGATIVE if power < 2 else Targets.POSITIVE


@dataclass(frozen=True)
class LogPower(Tweedie):
    """The formulas of `Tweedie`, with μ = e^z, for p ≤ 0 and p > 2."""

    power: float = number(3.0)

    name = "log_power"
    convex = False

    @property
    def targets(self) -> Targets:  # type: ignore[override]
        return _targets(self.power)

    def saturated(self, y: Array) -> Array:
        # No mean is negative: for p < 0 the best one of a negative y is 0.
        return super().saturated(np.maximum(y, 0.0) if self.power < 0 else y)


@dataclass(frozen=True)
class IdentityPower(Deviance):
    """ℓ(y, z) = z^{2−p}/(2 − p) − y·z^{1−p}/(1 − p) with μ = z > 0, or its limit at p = 1 and 2.

    For z ≤ 0 it is a number so large that no minimum lies there, but not infinite, because rows of
    weight 0 do not count.
    """

    power: float = number(1.0)

    name = "identity_power"

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return self.power == 1

    @property
    def targets(self) -> Targets:  # type: ignore[override]
        return _targets(self.power)

    def value(self, y: Array, z: Array) -> Array:
        xp, y, z = aligned(y, z)
        positive = z > 0
        mean = xp.where(positive, z, 1.0)
        return xp.where(positive, self._at(y, mean), float(xp.finfo(z.dtype).max) ** 0.5)

    def _at(self, y: Array, mean: Array) -> Array:
        p = self.power
        if p == 1:
            return mean - y * np.log(mean)
        if p == 2:
            return np.log(mean) + y / mean
        return mean ** (2 - p) / (2 - p) - y * mean ** (1 - p) / (1 - p)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, y, z = aligned(y, z)
        mean = xp.where(z > 0, z, 1.0)
        return xp.where(z > 0, (mean - y) * mean**-self.power, 0.0)

    def curvature(self, y: Array, z: Array) -> Array:
        xp, y, z = aligned(y, z)
        p, mean = self.power, xp.where(z > 0, z, 1.0)
        return xp.where(z > 0, mean ** (-p - 1) * ((1 - p) * mean + p * y), 0.0)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return weighted_mean(y, weight)

    def saturated(self, y: Array) -> Array:
        # At y = 0 the limit of the loss is 0, where y may be 0 at all.
        y = np.asarray(y, dtype=np.float64)
        return np.where(y > 0, self._at(y, np.where(y > 0, y, 1.0)), 0.0)
