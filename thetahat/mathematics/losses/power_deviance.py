"""Deviances with a log link for the powers of the mean that `Gamma` and `Tweedie` lack.

Half the deviance of a distribution with mean μ = e^z and variance φ·μ^p, up to terms of y: p = 0 is
the normal and p = 3 the inverse Gaussian distribution. These losses are not convex in z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned
from thetahat.mathematics.losses.base import Deviance, Targets
from thetahat.mathematics.losses.constants import weighted_mean
from thetahat.mathematics.losses.links import Link, link
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class PowerDeviance(Deviance):
    """ℓ(y, z) = e^{(2−p)z}/(2 − p) − y·e^{(1−p)z}/(1 − p) for p ≤ 0 and p > 2.

    Where an exponential would exceed the square root of the largest number, the loss continues as
    its tangent. Two exponentials that were capped one by one would leave a difference without a
    lower bound.
    """

    power: float = number(3.0)

    name = "power_deviance"
    link = Link.LOG
    convex = False

    @property
    def targets(self) -> Targets:  # type: ignore[override]
        return Targets.REAL if self.power <= 0 else Targets.POSITIVE

    def _near(self, xp: Any, z: Array) -> Array:
        """z, or the nearest value whose exponentials are far from overflow."""
        steepest = max(abs(1 - self.power), abs(2 - self.power))
        limit = math.log(float(xp.finfo(z.dtype).max)) / 2 / steepest
        return xp.clip(z, -limit, limit)

    def value(self, y: Array, z: Array) -> Array:
        xp, y, z = aligned(y, z)
        p, near = self.power, self._near(xp, z)
        there = xp.exp((2 - p) * near) / (2 - p) - y * xp.exp((1 - p) * near) / (1 - p)
        return there + self.gradient(y, near) * (z - near)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, y, z = aligned(y, z)
        near = self._near(xp, z)
        return xp.exp((2 - self.power) * near) - y * xp.exp((1 - self.power) * near)

    def curvature(self, y: Array, z: Array) -> Array:
        xp, y, z = aligned(y, z)
        p, near = self.power, self._near(xp, z)
        bend = (2 - p) * xp.exp((2 - p) * near) - (1 - p) * y * xp.exp((1 - p) * near)
        return xp.where(z == near, bend, 0.0 * bend)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOG, weighted_mean(y, weight))

    def saturated(self, y: Array) -> Array:
        p, y = self.power, np.asarray(y, dtype=np.float64)
        # No mean is negative: for p < 0 the best one of a negative y is 0.
        best = y if p == 0 else np.maximum(y, 0.0)
        return best ** (2 - p) * (1 / (p - 1) + 1 / (2 - p))
