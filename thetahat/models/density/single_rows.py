"""Log-densities of single rows: tables as lists, walked in Python.

For one row, the dozens of calls of array functions that serve many rows take far longer than the
search itself. The tables are computed by the same array functions, so that the results have the
same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import numpy as np

from thetahat.models.density.histogram.grid import Grid, column_levels
from thetahat.models.density.uniform_cells import UniformCells

LARGEST_TABLE = 1 << 14
"""Entries up to which tables are also kept as lists."""


class RowTable(Protocol):
    """Log-densities of rows that are lists of numbers."""

    def log_density(self, row: list[float]) -> float: ...


class SingleRows(ABC):
    """A capability of fitted densities: a table that gives the log-densities of single rows."""

    @abstractmethod
    def _row_table(self) -> RowTable | None:
        """The table, with the results of `log_density`; None if it were too long."""


def row_table(density: Any) -> RowTable | None:
    """The table of a density that declares one; None for others.

    A subclass that changes how log-densities are computed has no table of the class it changes.
    """
    if not isinstance(density, SingleRows):
        return None
    for kind in type(density).__mro__:
        if "_row_table" in vars(kind):
            return density._row_table()
        if not vars(kind).keys().isdisjoint(("log_density", "score_samples", "_log_block")):
            return None
    return None


@dataclass(frozen=True)
class GridTable:
    """A histogram over some columns of a row."""

    columns: list[int]
    edges: list[list[float]]
    log_widths: list[list[float]]
    levels: list[tuple[list[tuple[int, int]], int, dict[int, int]]]
    """Per level the columns with their strides, the number of codes, and the cells by code."""
    log_shares: list[float]
    """Of the occupied cells, and at the end of the empty ones."""

    @classmethod
    def of(cls, grid: Grid, columns: list[int]) -> GridTable | None:
        """The lists of a grid; None if they were too long."""
        if sum(map(len, (*grid.edges, *grid.keys))) > LARGEST_TABLE:
            return None
        levels = []
        for some, keys in zip(column_levels(grid.shape), grid.keys, strict=True):
            strides, size = [], 1
            for j in reversed(some):
                strides.append((j, size))
                size *= grid.shape[j]
            levels.append((strides, size, {key: at for at, key in enumerate(keys.tolist())}))
        with np.errstate(divide="ignore"):
            logs = np.log(np.append(grid.counts, 0.0) + grid.smoothing) - np.log(grid.total)
        widths = [np.log(np.diff(each)).tolist() for each in grid.edges]
        return cls(columns, [each.tolist() for each in grid.edges], widths, levels, logs.tolist())

    def log_density(self, row: list[float]) -> float:
        bins = []
        for j, ends in zip(self.columns, self.edges, strict=True):
            x = row[j]
            if not ends[0] <= x <= ends[-1]:
                return -inf
            bins.append(min(bisect_right(ends, x) - 1, len(ends) - 2))
        number = 0
        for strides, size, cells in self.levels:
            code = number * size
            for j, stride in strides:
                code += bins[j] * stride
            number = cells.get(code, -1)
            if number < 0:
                break
        found = self.log_shares[number]
        for widths, at in zip(self.log_widths, bins, strict=True):
            found -= widths[at]
        return found


@dataclass(frozen=True)
class HistogramTable:
    """The sum of the log-densities of independent groups of columns."""

    grids: list[GridTable]
    discrete: bool

    @classmethod
    def of(
        cls, grids: list[Grid], columns: list[list[int]], *, discrete: bool
    ) -> HistogramTable | None:
        tables = [GridTable.of(*each) for each in zip(grids, columns, strict=True)]
        known = [each for each in tables if each is not None]
        return cls(known, discrete) if len(known) == len(tables) else None

    def log_density(self, row: list[float]) -> float:
        if self.discrete and not all(x.is_integer() for x in row):
            return -inf
        found = 0.0
        for grid in self.grids:
            found += grid.log_density(row)
        return found


@dataclass(frozen=True)
class TreeTable:
    """A tree whose leaves have constant densities, in its box."""

    box: list[tuple[float, float]]
    feature: list[int]
    threshold: list[float]
    left: list[int]
    value: list[float]

    @classmethod
    def of(cls, density: UniformCells) -> TreeTable | None:
        """The lists of a tree; None if they were too long."""
        tree, box = density.cells.tree, density.cells.box
        if tree.node_count > LARGEST_TABLE:
            return None
        return cls(
            list(zip(box.low.tolist(), box.high.tolist(), strict=True)),
            tree.feature.tolist(),
            tree.threshold.tolist(),
            tree.left.tolist(),
            tree.values[:, 0].tolist(),
        )

    def log_density(self, row: list[float]) -> float:
        for x, (low, high) in zip(row, self.box, strict=True):
            if not low <= x <= high:
                return -inf
        feature, threshold, left, node = self.feature, self.threshold, self.left, 0
        while (column := feature[node]) >= 0:
            node = left[node] + (row[column] > threshold[node])
        return self.value[node]
