"""Smoothing kernels that are 0 beyond s = 1: powers of 1 − s^a, and the cosine."""

from __future__ import annotations

from dataclasses import dataclass
from math import gamma, pi
from typing import ClassVar

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.smoothing.base import SmoothingKernel


class PowerKernel(SmoothingKernel):
    """K(s) = c·(1 − s^a)^b for s ≤ 1, with c such that it integrates to 1."""

    support = 1.0
    inner: ClassVar[int]
    """The power a of s."""
    outer: ClassVar[int]
    """The power b of 1 − s^a."""

    @property
    def _factor(self) -> float:
        return self.inner / (2 * _beta(1 / self.inner, self.outer + 1))

    def _inside(self, s: Array) -> Array:
        # Products have the same bits on every machine, which powers need not have.
        s = np.minimum(s, 1.0)
        base = 1.0 - (s if self.inner == 1 else s * s if self.inner == 2 else s * s * s)
        found = np.full_like(base, self._factor)
        for _ in range(self.outer):
            found = found * base
        return found

    def radial_moment(self, power: int) -> float:
        return self._factor / self.inner * _beta((power + 1) / self.inner, self.outer + 1)

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        share = rng.beta(n_columns / self.inner, self.outer + 1, size=n)
        return share ** (1 / self.inner), np.ones(n)

    @property
    def roughness(self) -> float:
        return 2 * self._factor**2 / self.inner * _beta(1 / self.inner, 2 * self.outer + 1)


@dataclass(frozen=True)
class Uniform(PowerKernel):
    """The uniform kernel K(s) = ½ for s ≤ 1: all rows within the bandwidth count equally.

    Predictions jump where a row enters or leaves. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Uniform().value([0.0, 1.0, 1.1])
    array([0.5, 0.5, 0. ])
    """

    name = "uniform"
    aliases = ("tophat", "boxcar", "rectangular")
    code = 0
    inner, outer = 1, 0


@dataclass(frozen=True)
class Triangular(PowerKernel):
    """The triangular kernel K(s) = 1 − s for s ≤ 1. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Triangular().value([0.0, 0.25, 2.0])
    array([1.  , 0.75, 0.  ])
    """

    name = "triangular"
    aliases = ("linear",)
    code = 1
    inner, outer = 1, 1


@dataclass(frozen=True)
class Epanechnikov(PowerKernel):
    """The Epanechnikov kernel K(s) = ¾(1 − s²) for s ≤ 1.

    Of all kernels without negative values it has the smallest asymptotic mean squared error.
    Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Epanechnikov().value([0.0, 0.5, 2.0])
    array([0.75  , 0.5625, 0.    ])
    """

    name = "epanechnikov"
    aliases = ("parabolic",)
    code = 2
    inner, outer = 2, 1


@dataclass(frozen=True)
class Quartic(PowerKernel):
    """The quartic kernel, also called biweight, K(s) = (15/16)(1 − s²)² for s ≤ 1.

    Its first derivative is continuous. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Quartic().value([0.0, 0.5, 2.0])
    array([0.9375    , 0.52734375, 0.        ])
    """

    name = "quartic"
    aliases = ("biweight", "bisquare")
    code = 3
    inner, outer = 2, 2


@dataclass(frozen=True)
class Triweight(PowerKernel):
    """The triweight kernel K(s) = (35/32)(1 − s²)³ for s ≤ 1.

    Its first two derivatives are continuous. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Triweight().value([0.0, 1.0])
    array([1.09375, 0.     ])
    """

    name = "triweight"
    code = 4
    inner, outer = 2, 3


@dataclass(frozen=True)
class Tricube(PowerKernel):
    """The tricube kernel K(s) = (70/81)(1 − s³)³ for s ≤ 1, the usual choice of loess.

    It is flat around 0, and its first two derivatives are continuous. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Tricube().value([0.0, 0.5, 1.0]).round(4)
    array([0.8642, 0.5789, 0.    ])
    """

    name = "tricube"
    code = 5
    inner, outer = 3, 3


@dataclass(frozen=True)
class Cosine(SmoothingKernel):
    """The cosine kernel K(s) = (π/4)·cos(πs/2) for s ≤ 1. Cost: O(1) per number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.Cosine().value([0.0, 0.5, 2.0]).round(4)
    array([0.7854, 0.5554, 0.    ])
    """

    name = "cosine"
    aliases = ("cos",)
    code = 7
    support = 1.0

    def _inside(self, s: Array) -> Array:
        return pi / 4 * np.cos(pi / 2 * np.minimum(s, 1.0))

    def radial_moment(self, power: int) -> float:
        # The cosine series, integrated term by term.
        term, total = 1.0, 0.0
        for k in range(0, 40, 2):
            total += term / (power + k + 1)
            term *= -((pi / 2) ** 2) / ((k + 1) * (k + 2))
        return pi / 4 * total

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        # cos(πs/2) ≤ 1 − s², and s² of the latter has a beta distribution.
        square = rng.beta(n_columns / 2, 2, size=n)
        return np.sqrt(square), np.cos(pi / 2 * np.sqrt(square)) / (1 - square)

    @property
    def roughness(self) -> float:
        return pi**2 / 16


def _beta(a: float, b: float) -> float:
    return gamma(a) * gamma(b) / gamma(a + b)
