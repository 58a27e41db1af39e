"""Several comparisons at once: p-values and intervals that hold together.

The largest of several |T| is compared with its distribution where no models differ. The statistics
of pairs that share a model are correlated, as are those of models with similar predictions; the
correlations are those of the contributions of the units. Interval and p-value use the same
distribution, so they agree. Where contributions are not known, p is multiplied by the number of
pairs (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array

DRAWS = 20_000
MOST_NUMBERS = 4_000_000
"""Most random differences that are held at once."""


@dataclass(frozen=True)
class Several:
    """Adjusts p-values of single pairs for the number of pairs, and levels of intervals alike."""

    pairs: int
    least: Array | None = None
    """Smallest p of all pairs in draws where no models differ, in rising order."""

    def adjusted(self, p: float) -> float:
        """The p-value for all pairs together."""
        most = min(1.0, self.pairs * p)
        if self.least is None or self.pairs == 1:
            return most
        drawn = (1 + int(np.searchsorted(self.least, p, "right"))) / (self.least.size + 1)
        return min(most, max(p, drawn))

    def per_pair(self, significance: float) -> float:
        """The significance of a single pair: p is below it if its adjusted p is significant."""
        least = significance / self.pairs
        if self.least is None or self.pairs == 1:
            return least
        below = int(np.ceil(significance * (self.least.size + 1) - 1))
        return max(least, float(self.least[below - 1])) if below > 0 else least


def several(pairs: Sequence[tuple[int, int]], sums: Array) -> Several:
    """The adjustment for pairs of columns of `sums`, the contributions of units to every score."""
    from scipy.special import ndtr

    if len(pairs) == 1:
        return Several(1)
    covariance = sums.T @ sums
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    first, second = np.array(pairs).T
    apart = root[first] - root[second]
    spread = np.sqrt((apart**2).sum(axis=1))
    apart = apart[spread > 1e-12 * max(float(spread.max()), 1e-300)]
    if not len(apart):
        return Several(len(pairs))
    apart = apart / np.sqrt((apart**2).sum(axis=1))[:, None]
    draws = int(min(DRAWS, max(2000, MOST_NUMBERS // len(apart))))
    noise = np.random.default_rng(0).standard_normal((draws, apart.shape[1]))
    largest = np.abs(noise @ apart.T).max(axis=1)
    return Several(len(pairs), np.sort(2 * ndtr(-largest)))
