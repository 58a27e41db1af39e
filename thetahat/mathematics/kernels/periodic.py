"""Periodic kernels: functions that repeat themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from array_api_compat import array_namespace

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Pullback
from thetahat.mathematics.kernels.pairs import exact_distances
from thetahat.mathematics.kernels.stationary import Stationary
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Periodic(Stationary):
    """The periodic kernel k(x, z) = exp(−2·sin²(π‖x − z‖/p)/h²), called ExpSineSquared elsewhere.

    Its functions of one column repeat with the period p. For more columns it is not positive
    semi-definite in general; multiply kernels of single columns instead. Cost: O(n m d).

    Parameters
    ----------
    length_scale : float, default=1.0
        The length scale within a period (h). Larger values give smoother functions. Must be
        positive.
    periodicity : float, default=1.0
        The distance after which functions repeat themselves (p). Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Periodic(periodicity=3.0)([[0.0]], [[3.0], [1.5]]).round(4).tolist()
    [[1.0, 0.1353]]
    """

    length_scale: float = number(1.0, above=0)
    periodicity: float = number(1.0, above=0)

    name = "periodic"
    aliases = ("exp_sine_squared",)
    tunable = ("length_scale", "periodicity")

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with p equal to this length."""
        return self.set_params(periodicity=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """exp(−2·sin²(π‖x − z‖/p)/h²)."""
        angle = exact_distances(X, Z) * (math.pi / self.periodicity)
        xp = array_namespace(angle)
        return xp.exp(-2 * (xp.sin(angle) / self.length_scale) ** 2)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivatives by log h and log p."""
        angle = exact_distances(X, Z) * (math.pi / self.periodicity)
        wave = (np.sin(angle) / self.length_scale) ** 2
        values = np.exp(-2 * wave)
        by_length = 4 * wave * values
        by_period = 2 * np.sin(2 * angle) * angle / self.length_scale**2 * values
        return values, lambda W: np.array([(W * by_length).sum(), (W * by_period).sum()])
