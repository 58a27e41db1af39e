"""The tables of log-probabilities of several columns of categories, one below the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array

FEW = 1 << 16
"""Numbers up to which the rows of all tables are looked up at once."""


@dataclass(frozen=True)
class CategoryTables:
    """``table[start[j] + k, c]`` is log p_j(k | c)."""

    table: Array
    start: Array

    @classmethod
    def of(cls, logs: list[Array]) -> CategoryTables:
        """The tables of columns, each of shape (classes, categories)."""
        sizes = [each.shape[1] for each in logs]
        return cls(np.concatenate([each.T for each in logs]), np.cumsum([0, *sizes[:-1]]))

    def sums(self, codes: Array) -> Array:
        """Σ_j log p_j(x_j | c) of rows of codes, (n, C); the codes must be in range."""
        n, d = codes.shape
        if n * d * self.table.shape[1] <= FEW:
            return np.add.reduce(self.table.take(codes + self.start, axis=0), axis=1)
        total = np.zeros((n, self.table.shape[1]))
        for column, start in enumerate(self.start):
            total += self.table[codes[:, column] + start]
        return total
