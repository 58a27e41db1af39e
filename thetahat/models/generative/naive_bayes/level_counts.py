"""Counts of the levels of columns in every class, as a mergeable summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.types import Array
from thetahat.models.generative.naive_bayes.table_reader import new_codes
from thetahat.models.tree.growth.columns import TreeColumns


@dataclass(frozen=True)
class LevelCounts(CheckedValue):
    """The weight of every level of the columns at ``places`` in every class.

    ``levels[j]`` has the numbers of the levels in ascending order, and ``counts[j]`` their weights,
    (C, K_j).
    """

    places: Array
    levels: tuple[Array, ...]
    counts: tuple[Array, ...]

    def __post_init__(self) -> None:
        check_arrays(self, {"places": (np.int64, (None,))})
        check_rule(
            self,
            len(self.places) == len(self.levels) == len(self.counts)
            and all(
                isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] == len(each)
                for each, table in zip(self.levels, self.counts, strict=True)
            ),
            "there must be one table of counts per column, with one number per level",
        )

    def merge(self, other: LevelCounts) -> LevelCounts:
        """The counts of both sets of rows."""
        levels = [np.union1d(a, b) for a, b in zip(self.levels, other.levels, strict=True)]
        counts = []
        for j, both in enumerate(levels):
            total = np.zeros((len(self.counts[j]), len(both)))
            for side in (self, other):
                total[:, np.searchsorted(both, side.levels[j])] += side.counts[j]
            counts.append(total)
        return LevelCounts(self.places, tuple(levels), tuple(counts))

    def recoded(self, before: TreeColumns, after: TreeColumns) -> LevelCounts:
        """The same counts where the codes of text categories have changed."""
        levels, counts = list(self.levels), list(self.counts)
        for place, codes in new_codes(before, after).items():
            j = int(np.searchsorted(self.places, place))
            moved = codes[levels[j].astype(np.intp)]
            order = np.argsort(moved)
            levels[j], counts[j] = moved[order], counts[j][:, order]
        return LevelCounts(self.places, tuple(levels), tuple(counts))
