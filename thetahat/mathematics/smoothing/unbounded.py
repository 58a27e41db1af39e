"""Smoothing kernels that are positive everywhere, and Silverman's kernel of fourth order."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, gamma, lgamma, log, pi, sin, sqrt

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.smoothing.base import SmoothingKernel


@dataclass(frozen=True)
class Gaussian(SmoothingKernel):
    """The Gaussian kernel K(s) = exp(−s²/2)/√(2π), the density of the normal distribution.

    Rows with s > 3 have little influence: their weight is below 0.012 of that at 0.
    Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Gaussian().value([0.0, 1.0, 3.0]).round(4)
    array([0.3989, 0.242 , 0.0044])
    """

    name = "gaussian"
    aliases = ("normal", "rbf")
    code = 6

    def _inside(self, s: Array) -> Array:
        return np.asarray(np.exp(-0.5 * np.square(np.minimum(s, 1e150))) / sqrt(2 * pi))

    def _reach(self, share: float) -> float:
        return sqrt(-2 * log(share))

    def radial_moment(self, power: int) -> float:
        return 2 ** ((power - 1) / 2) * gamma((power + 1) / 2) / sqrt(2 * pi)

    def log_radial_moment(self, power: int) -> float:
        return (power - 1) / 2 * log(2) + lgamma((power + 1) / 2) - log(2 * pi) / 2

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        return np.sqrt(rng.chisquare(n_columns, size=n)), np.ones(n)

    @property
    def roughness(self) -> float:
        return 1 / (2 * sqrt(pi))


@dataclass(frozen=True)
class Exponential(SmoothingKernel):
    """The exponential kernel K(s) = ½·e^{−s}, the density of the Laplace distribution.

    It has a peak at 0 and falls slowly: distant rows count more than with the Gaussian kernel.
    Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Exponential().value([0.0, 1.0, 3.0]).round(4)
    array([0.5   , 0.1839, 0.0249])
    """

    name = "exponential"
    aliases = ("laplace",)
    code = 11

    def _inside(self, s: Array) -> Array:
        return np.asarray(0.5 * np.exp(-s))

    def _reach(self, share: float) -> float:
        return -log(share)

    def radial_moment(self, power: int) -> float:
        return factorial(power) / 2

    def log_radial_moment(self, power: int) -> float:
        return lgamma(power + 1) - log(2)

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        return rng.gamma(n_columns, size=n), np.ones(n)

    @property
    def roughness(self) -> float:
        return 1 / 4


@dataclass(frozen=True)
class Logistic(SmoothingKernel):
    """The logistic kernel K(s) = 1/(e^s + 2 + e^{−s}), the density of the logistic distribution.

    Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Logistic().value([0.0, 2.0]).round(4)
    array([0.25 , 0.105])
    """

    name = "logistic"
    code = 8

    def _inside(self, s: Array) -> Array:
        decay = np.exp(-s)
        return np.asarray(decay / np.square(1 + decay))

    def _reach(self, share: float) -> float:
        return -log(share / 4)  # K(s) ≤ e^{−s} = 4·e^{−s}·K(0)

    def radial_moment(self, power: int) -> float:
        return factorial(power) * _alternating_sum(power)

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        s = rng.gamma(n_columns, size=n)
        return s, 1 / np.square(1 + np.exp(-s))

    @property
    def roughness(self) -> float:
        return 1 / 6


@dataclass(frozen=True)
class Sigmoid(SmoothingKernel):
    """The sigmoid kernel K(s) = (2/π)/(e^s + e^{−s}). Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Sigmoid().value([0.0, 2.0]).round(4)
    array([0.3183, 0.0846])
    """

    name = "sigmoid"
    code = 9

    def _inside(self, s: Array) -> Array:
        decay = np.exp(-s)
        return np.asarray(2 / pi * decay / (1 + np.square(decay)))

    def _reach(self, share: float) -> float:
        return -log(share / 2)  # K(s) ≤ (2/π)·e^{−s} = 2·e^{−s}·K(0)

    def radial_moment(self, power: int) -> float:
        return 2 / pi * factorial(power) * _alternating_odd_sum(power + 1)

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        s = rng.gamma(n_columns, size=n)
        return s, 1 / (1 + np.exp(-2 * s))

    @property
    def roughness(self) -> float:
        return 2 / pi**2


@dataclass(frozen=True)
class Silverman(SmoothingKernel):
    """Silverman's kernel K(s) = ½·exp(−s/√2)·sin(s/√2 + π/4), the shape of a smoothing spline.

    It is of fourth order: ∫ s² K(s) ds = 0, so that it has less bias than the others, but it is
    negative for some s, and averages may leave the range of the averaged values. In 3 and more
    dimensions it has no positive integral. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Silverman().value([0.0, 4.0]).round(4)
    array([ 0.3536, -0.0134])
    """

    name = "silverman"
    code = 10
    nonnegative = False

    def _inside(self, s: Array) -> Array:
        # The sine of a huge number has no digits; the factor is 0 long before.
        scaled = np.minimum(s, 1e4) / sqrt(2)
        return np.asarray(0.5 * np.exp(-scaled) * np.sin(scaled + pi / 4))

    def _reach(self, share: float) -> float:
        return -sqrt(2) * log(share / sqrt(2))  # |K(s)| ≤ ½·e^{−s/√2} = √2·e^{−s/√2}·K(0)

    def radial_moment(self, power: int) -> float:
        # sin(π·k/4), exactly 0 for every fourth k.
        eighth = (power + 2) % 8
        return 0.0 if eighth % 4 == 0 else 0.5 * factorial(power) * sin(pi * eighth / 4)

    @property
    def roughness(self) -> float:
        return 3 * sqrt(2) / 16


def _alternating_sum(power: int) -> float:
    """1 − 2^{−p} + 3^{−p} − …, in the sense of Abel for p = 0."""
    from scipy.special import zeta

    if power < 2:
        return 0.5 if power == 0 else log(2)
    return float((1 - 2.0 ** (1 - power)) * zeta(power))


def _alternating_odd_sum(power: int) -> float:
    """1 − 3^{−p} + 5^{−p} − …, for p ≥ 1."""
    from scipy.special import zeta

    if power == 1:
        return pi / 4
    return float((zeta(power, 0.25) - zeta(power, 0.75)) * 4.0**-power)
