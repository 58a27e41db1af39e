"""Quantiles of the scores of held-out rows, of which a new row exceeds a given share.

Every unit (a row, or a group of rows) has the weight 1, which the rows of a group divide evenly. Of
G units, the quantile is the smallest score whose rows and all smaller ones weigh at least
share·(G + 1): the score of a row of a new unit is as likely to have any place among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.types import Array

ROUNDING = 1e-9
TIED = 1e-12
"""Scores that differ by less are equal up to rounding."""


@dataclass(frozen=True)
class Ranks:
    """Scores in rising order, their weights, and the number of units."""

    scores: Array
    weights: Array | None = None
    """The weight of each score, which add up to the number of units; None if each is a unit."""
    units: int | None = None
    """Number of units; None if each score is one."""

    @property
    def _weights(self) -> Array:
        return row_weights(self.weights, self.scores.size)

    @property
    def _total(self) -> float:
        return float(self.scores.size if self.units is None else self.units)

    def above(self, share: float) -> float:
        """The score that a new one exceeds with probability 1 − share; at most the largest."""
        if self.weights is None:
            rank = int(np.ceil(self._wanted(share) - ROUNDING))
            return float(self.scores[min(rank, self.scores.size) - 1])
        reached = np.cumsum(self._weights) >= self._wanted(share) - ROUNDING
        return float(self.scores[int(reached.argmax()) if reached.any() else -1])

    def below(self, share: float) -> float:
        """The score that a new one falls below with probability 1 − share."""
        weights = None if self.weights is None else self.weights[::-1]
        return -Ranks(-self.scores[::-1], weights, self.units).above(share)

    def share_of_ties(self, share: float) -> float:
        """The share of new scores equal to `above` that count as below it.

        Where many scores are equal, all of them or none of them would be too many or too few. If
        equal scores are put in a random order, the new one is as likely to have any place.
        """
        edge = self.above(share)
        weights, tied = self._weights, np.abs(self.scores - edge) <= TIED
        smaller = float(weights[(self.scores < edge) & ~tied].sum())
        part = (self._wanted(share) - smaller) / (float(weights[tied].sum()) + 1.0)
        return float(np.clip(part, 0.0, 1.0))

    def few(self, most: int, *, both_ends: bool) -> Ranks:
        """At most some quantiles of the scores, which are never nearer to 0 than the scores are.

        With `both_ends`, the lower half is rounded down, otherwise all are rounded up.
        """
        if self.scores.size <= most:
            return self
        if self.weights is None:
            m = self.scores.size
            kept = np.arange(1, most + 1) * (m + 1)
            ranks = -(-kept // (most + 1)) - 1
            if both_ends:
                ranks[: most // 2] = kept[: most // 2] // (most + 1) - 1
            return Ranks(self.scores[np.clip(ranks, 0, m - 1)])
        total = self._total
        wanted = np.arange(1, most + 1) * (total / most)
        upper = np.searchsorted(np.cumsum(self._weights), wanted - ROUNDING)
        scores = self.scores[np.clip(upper, 0, self.scores.size - 1)]
        if both_ends:
            turned = np.searchsorted(np.cumsum(self._weights[::-1]), wanted - ROUNDING)
            lower = self.scores[::-1][np.clip(turned, 0, self.scores.size - 1)][::-1]
            scores = np.concatenate([lower[: most // 2], scores[most // 2 :]])
        return Ranks(scores, np.full(most, total / most), self.units)

    def _wanted(self, share: float) -> float:
        """The weight of the scores that are not exceeded."""
        return share * (self._total + 1.0)
