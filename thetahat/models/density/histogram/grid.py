"""Cells of a product grid: only occupied ones are kept, so that memory grows with the rows.

A cell is the combination of one bin per column. Its number among the occupied cells is found in
levels: the number within some columns, combined with the bins of further columns, is looked up in
the sorted numbers that occur. Products of bins thus never overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from thetahat.foundation.checked_value import CheckedValue, check_rule
from thetahat.foundation.types import Array

LEVEL_SIZE = 1 << 31
"""Largest product of bins of one level, and limit of the number of rows."""


@dataclass(frozen=True, eq=False)
class Grid(CheckedValue):
    """A histogram over some columns."""

    edges: tuple[Array, ...]
    """The edges of the bins of every column, ascending."""
    keys: tuple[Array, ...]
    """Per level the sorted numbers that occur."""
    counts: Array
    """The weight of the rows in every occupied cell, in the order of the last keys."""
    smoothing: float
    """Weight that is added to every cell."""

    def __post_init__(self) -> None:
        for name in ("edges", "keys"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        good = all(
            isinstance(each, np.ndarray) and each.ndim == 1 and each.size > 1
            and bool((np.diff(each) > 0).all())
            for each in self.edges
        )  # fmt: skip
        check_rule(self, good and len(self.edges) > 0, "edges must be ascending numbers")
        check_rule(
            self,
            len(self.keys) == len(column_levels(self.shape))
            and all(isinstance(each, np.ndarray) and each.ndim == 1 for each in self.keys)
            and isinstance(self.counts, np.ndarray)
            and self.counts.shape == self.keys[-1].shape,
            "keys and counts must belong to the cells",
        )

    @classmethod
    def of(cls, rows: Array, weight: Array, edges: tuple[Array, ...], smoothing: float) -> Grid:
        """Count the rows, all of which lie within the edges."""
        bins = bin_indices(rows, edges)
        number = np.zeros(len(rows), dtype=np.int64)
        keys = []
        for _, size, code in _codes(bins, tuple(len(each) - 1 for each in edges)):
            found, number = np.unique(number * size + code, return_inverse=True)
            number = number.reshape(-1)
            keys.append(found)
        counts = np.bincount(number, weights=weight, minlength=len(keys[-1]))
        return cls(edges, tuple(keys), counts, smoothing)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of bins of every column."""
        return tuple(len(each) - 1 for each in self.edges)

    @property
    def n_cells(self) -> int:
        return prod(self.shape)

    @property
    def total(self) -> float:
        """The weight of all rows, with what was added."""
        return float(self.counts.sum()) + self.smoothing * self.n_cells

    def cells(self, rows: Array) -> tuple[Array, Array]:
        """Bins of every column, −1 outside; and the number of the occupied cell, −1 if empty."""
        bins = bin_indices(rows, self.edges)
        number = np.where((bins < 0).any(axis=1), -1, 0)
        for (_, size, code), keys in zip(_codes(bins, self.shape), self.keys, strict=True):
            wanted = number * size + code
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            number = np.where((number >= 0) & (keys[at] == wanted), at, -1)
        return bins, number

    def log_density(self, rows: Array) -> Array:
        bins, number = self.cells(rows)
        inside = (bins >= 0).all(axis=1)
        weight = np.where(number >= 0, self.counts[number], 0.0) + self.smoothing
        with np.errstate(divide="ignore"):
            logs = np.where(inside, np.log(weight) - np.log(self.total), -np.inf)
        for edges, column in zip(self.edges, bins.T, strict=True):
            logs -= _log_widths(edges, column)
        return logs

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw a cell by its weight, and a point of it."""
        added = self.smoothing * self.n_cells / self.total
        anywhere = rng.random(n) < added
        number = rng.choice(len(self.counts), size=n, p=self.counts / self.counts.sum())
        bins = self.bins_of(number)
        for j, size in enumerate(self.shape):
            bins[anywhere, j] = rng.integers(size, size=int(anywhere.sum()))
        place = rng.random((n, len(self.shape)))
        drawn = [
            edges[bin_] + at * (edges[bin_ + 1] - edges[bin_])
            for edges, bin_, at in zip(self.edges, bins.T, place.T, strict=True)
        ]
        return np.column_stack(drawn)

    def bins_of(self, number: Array) -> Array:
        """The bins of some occupied cells, (n, d)."""
        bins = np.empty((len(number), len(self.shape)), dtype=np.int64)
        levels = column_levels(self.shape)
        for columns, keys in zip(levels[::-1], self.keys[::-1], strict=True):
            size = tuple(self.shape[j] for j in columns)
            number, code = np.divmod(keys[number], prod(size))
            bins[:, columns] = np.column_stack(np.unravel_index(code, size))
        return bins

    def sum_of_squares(self) -> float:
        """Σ p̂²V over all cells; infinite where that is too large for a number."""
        logs = np.zeros(len(self.counts))
        bins = self.bins_of(np.arange(len(self.counts)))
        for edges, column in zip(self.edges, bins.T, strict=True):
            logs += _log_widths(edges, column)
        shares = (self.counts + self.smoothing) / self.total
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            found = float(np.exp(2 * np.log(shares) - logs).sum())
            if self.smoothing > 0:
                # Empty cells have weight α: all cells, without those that are occupied.
                every = prod(float((1 / np.diff(each)).sum()) for each in self.edges)
                empty = every - float(np.exp(-logs).sum())
                found += (self.smoothing / self.total) ** 2 * empty
        return found


def bin_indices(rows: Array, edges: tuple[Array, ...]) -> Array:
    """The bin of every entry, l = ⌊(x − x_min)/Δx⌋ for equal widths; −1 outside the edges.

    A bin contains its lower edge, and the last one its upper edge, too.
    """
    bins = np.empty(rows.shape, dtype=np.int64)
    for j, ends in enumerate(edges):
        x = rows[:, j]
        found = np.searchsorted(ends, x, side="right") - 1
        found[x == ends[-1]] = len(ends) - 2
        found[(x < ends[0]) | (x > ends[-1])] = -1
        bins[:, j] = found
    return bins


def _log_widths(edges: Array, bins: Array) -> Array:
    """The logarithms of the widths of some bins, without an array of all widths."""
    bins = np.maximum(bins, 0)
    return np.log(edges[bins + 1] - edges[bins])


def column_levels(shape: tuple[int, ...]) -> list[list[int]]:
    """The columns of every level, with a product of bins below the limit."""
    levels: list[list[int]] = [[]]
    size = 1
    for j, n in enumerate(shape):
        if levels[-1] and size * n > LEVEL_SIZE:
            levels.append([])
            size = 1
        levels[-1].append(j)
        size *= n
    return levels


def _codes(bins: Array, shape: tuple[int, ...]) -> list[tuple[list[int], int, Array]]:
    """Per level its columns, the product of their bins, and the number of every row."""
    found = []
    for columns in column_levels(shape):
        size = tuple(shape[j] for j in columns)
        some = tuple(np.maximum(bins[:, j], 0) for j in columns)
        found.append((columns, prod(size), np.ravel_multi_index(some, size)))
    return found
