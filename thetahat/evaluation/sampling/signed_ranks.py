"""Wilcoxon's signed-rank test of any difference, with its estimate and interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from thetahat.foundation.types import Array

MOST_EXACT = 50
"""Most folds with the exact distribution of the rank sum; more have the normal one."""
TIE = 1e-12
"""Two differences are tied if they are closer than this share of the largest."""


@dataclass(frozen=True)
class SignedRanks:
    """The centre of k symmetric differences, by their signed ranks.

    Formula: the rank sum W₊(δ) of the differences above δ is the number of Walsh averages
    (dᵢ + dⱼ)/2, i ≤ j, that are above δ. The estimate is their median (Hodges and Lehmann), and the
    interval lies between two of them in rising order. Averages that equal δ count as evidence for
    it, so that the p-value is valid with ties and agrees with the closed interval.
    """

    averages: Array
    """Walsh averages in rising order."""
    folds: int

    @classmethod
    def of(cls, a: Array, b: Array) -> SignedRanks:
        """The signed ranks of a − b."""
        d = a - b
        first, second = np.triu_indices(d.size)
        averages = np.sort((d[first] + d[second]) / 2)
        # Differences that are opposite but for rounding are ties.
        averages[np.abs(averages) <= TIE * max(np.abs(a).max(), np.abs(b).max())] = 0.0
        return cls(averages, d.size)

    @property
    def estimate(self) -> float:
        return float(np.median(self.averages))

    def p_at(self, value: float) -> float:
        below = int(np.searchsorted(self.averages, value, "right"))
        above = self.averages.size - int(np.searchsorted(self.averages, value, "left"))
        return min(1.0, 2 * self._tail(min(below, above)))

    def bounds(self, significance: float) -> tuple[float, float]:
        # An end is the average with the smallest rank whose rank sum is not rejected.
        least, most = 1, self.averages.size
        while least < most:
            middle = (least + most) // 2
            if min(1.0, 2 * self._tail(middle)) < significance:
                least = middle + 1
            else:
                most = middle
        if 2 * self._tail(0) >= significance:
            return -np.inf, np.inf
        return float(self.averages[least - 1]), float(self.averages[-least])

    def _tail(self, rank_sum: int) -> float:
        """P(W₊ ≤ rank_sum) if the differences are symmetric about 0."""
        from scipy.special import ndtr

        k = self.folds
        if k <= MOST_EXACT:
            return float(_exact(k)[min(rank_sum, k * (k + 1) // 2)])
        spread = np.sqrt(k * (k + 1) * (2 * k + 1) / 24)
        return float(ndtr((rank_sum - k * (k + 1) / 4) / spread))


@cache
def _exact(k: int) -> Array:
    """P(W₊ ≤ w) for w = 0, …, k(k + 1)/2: every rank is positive with probability ½."""
    shares = np.zeros(k * (k + 1) // 2 + 1)
    shares[0] = 1.0
    for rank in range(1, k + 1):
        shares[rank:] = (shares[rank:] + shares[:-rank]) / 2
        shares[:rank] /= 2
    return np.cumsum(shares)
