"""The likelihoods of groups of columns, fitted: log Π_j p_j(x_j | c), and samples of the columns.

All columns of one kind are one value, so that their terms are summed at once. A missing entry (NaN)
adds 0: its column is left out of the product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue, check_arrays
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import Manhattan
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.generative.naive_bayes.categorical_nb import drawn_codes
from thetahat.models.generative.naive_bayes.gaussian_nb import SMALLEST_VARIANCE, log_scales
from thetahat.models.neighbors.search.index import NeighborIndex
from thetahat.models.neighbors.search.kernel_sums import KernelSums

FEW = 64
"""Rows up to which no threads are started."""
NUMBERS_AT_ONCE = 1 << 28
"""Terms of log-likelihoods that are added in one compiled call."""
LEAF_SIZE = 256
"""Values in a leaf of the trees of kernel estimates; fewer ones are all summed."""
FIRST = np.zeros(1, dtype=np.int64)
"""The place of a single column."""


@dataclass(frozen=True)
class ColumnLikelihoods(CheckedValue, ABC):
    """The likelihoods of the columns at ``places``."""

    places: Array

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @abstractmethod
    def add_to(self, compiled: _native.ColumnLikelihoods) -> None:
        """Let compiled likelihoods of rows multiply by these."""

    @abstractmethod
    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        """Rows of these columns drawn from p(· | c), (n_samples, len(places))."""

    @abstractmethod
    def column(self, number: int) -> ColumnLikelihoods:
        """The likelihood of one of these columns, as that of a row's only column."""


@dataclass(frozen=True)
class RowLikelihoods(CheckedValue):
    """The likelihoods of all columns of a row, in groups of one kind each."""

    parts: tuple[ColumnLikelihoods, ...]

    @cached_property
    def _compiled(self) -> _native.ColumnLikelihoods:
        n_columns = sum(len(part.places) for part in self.parts)
        compiled = _native.ColumnLikelihoods(n_columns, self.parts[0].n_classes)
        for part in self.parts:
            part.add_to(compiled)
        return compiled

    @cached_property
    def _step(self) -> int:
        """Rows in one compiled call; between two calls, an interrupt is noticed."""
        return max(FEW, int(NUMBERS_AT_ONCE / self._compiled.cost()))

    def logs(self, rows: Array, start: Array) -> Array:
        """start_c + Σ_j log p_j(x_j | c), (n, C) in float64."""
        total = np.empty((rows.shape[0], len(start)))
        if rows.shape[0] <= FEW:
            self._compiled.logs(rows, start, total, 1)
            return total
        for first in range(0, rows.shape[0], self._step):
            some = slice(first, first + self._step)
            self._compiled.logs(rows[some], start, total[some], n_threads())
        return total


@dataclass(frozen=True)
class GaussianColumns(ColumnLikelihoods):
    """Normal columns with means and variances of shape (C, len(places))."""

    mean: Array
    variance: Array

    def __post_init__(self) -> None:
        shape = (None, len(self.places))
        check_arrays(self, {"mean": (np.float64, shape), "variance": (np.float64, shape)})

    @property
    def n_classes(self) -> int:
        return int(self.mean.shape[0])

    def add_to(self, compiled: _native.ColumnLikelihoods) -> None:
        factor = 0.5 / np.maximum(self.variance, SMALLEST_VARIANCE)
        compiled.add_gaussians(self.places, self.mean, factor, log_scales(self.variance))

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        noise = rng.standard_normal((n_samples, self.mean.shape[1]))
        return self.mean[code] + np.sqrt(self.variance[code]) * noise

    def column(self, number: int) -> GaussianColumns:
        return GaussianColumns(
            FIRST, self.mean[:, [number]].copy(), self.variance[:, [number]].copy()
        )


@dataclass(frozen=True)
class CategoryColumns(ColumnLikelihoods):
    """Columns of categories with tables of probabilities.

    ``levels[j]`` has the numbers of the categories in ascending order, and ``tables[j]`` their
    log-probabilities, (C, K_j + 1), with that of an unseen category last.
    """

    levels: tuple[Array, ...]
    tables: tuple[Array, ...]

    @property
    def n_classes(self) -> int:
        return int(self.tables[0].shape[0])

    def add_to(self, compiled: _native.ColumnLikelihoods) -> None:
        levels = np.concatenate(self.levels).astype(np.float64)
        first = _starts([len(each) for each in self.levels])
        compiled.add_levels(self.places, levels, first, _below_each_other(self.tables))

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = np.empty((n_samples, len(self.levels)))
        for j, (levels, table) in enumerate(zip(self.levels, self.tables, strict=True)):
            chosen = drawn_codes(table[code, :-1], n_samples, rng)
            drawn[:, j] = levels[chosen.astype(np.intp)]
        return drawn

    def column(self, number: int) -> CategoryColumns:
        return CategoryColumns(FIRST, (self.levels[number],), (self.tables[number],))


@dataclass(frozen=True)
class HistogramColumns(ColumnLikelihoods):
    """Columns with histograms of equal bins, the same bins for all classes.

    ``tables[j]`` has the log-densities of the bins and of both tails, (C, B_j + 2).
    """

    low: Array
    width: Array
    count: Array
    tables: tuple[Array, ...]

    @property
    def n_classes(self) -> int:
        return int(self.tables[0].shape[0])

    def add_to(self, compiled: _native.ColumnLikelihoods) -> None:
        table = _below_each_other(self.tables)
        compiled.add_bins(self.places, self.low, self.width, _starts(self.count), table)

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = np.empty((n_samples, len(self.tables)))
        for j, table in enumerate(self.tables):
            bins = drawn_codes(table[code], n_samples, rng)
            x = self.low[j] + self.width[j] * (bins + rng.random(n_samples))
            tail = self.width[j] * rng.exponential(size=n_samples)
            high = self.low[j] + self.width[j] * self.count[j]
            x = np.where(bins == self.count[j], self.low[j] - tail, x)
            drawn[:, j] = np.where(bins == self.count[j] + 1, high + tail, x)
        return drawn

    def column(self, number: int) -> HistogramColumns:
        one = [number]
        return HistogramColumns(
            FIRST, self.low[one], self.width[one], self.count[one], (self.tables[number],)
        )


@dataclass(frozen=True)
class KernelColumns(ColumnLikelihoods):
    """Columns with kernel estimates: distinct values and their weights per column and class."""

    kernel: SmoothingKernel
    width: Array
    """Bandwidths, (len(places), C)."""
    values: tuple[tuple[Array, ...], ...]
    weights: tuple[tuple[Array, ...], ...]

    @property
    def n_classes(self) -> int:
        return int(self.width.shape[1])

    def add_to(self, compiled: _native.ColumnLikelihoods) -> None:
        given = zip(chain(*self.values), chain(*self.weights), strict=True)
        sums = [
            KernelSums(NeighborIndex(x[:, None], Manhattan(), "kd_tree", LEAF_SIZE), weight)
            for x, weight in given
        ]
        total = np.array([each.total for each in sums]).reshape(self.width.shape)
        compiled.add_kernels(
            self.places,
            [each._compiled for each in sums],
            self.kernel.code,
            self.width,
            -np.log(self.width) - np.log(total),
        )

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = np.empty((n_samples, len(self.values)))
        for j in range(len(self.values)):
            weights = self.weights[j][code]
            centres = rng.choice(self.values[j][code], size=n_samples, p=weights / weights.sum())
            drawn[:, j] = centres + self.width[j, code] * _noise(self.kernel, n_samples, rng)
        return drawn

    def column(self, number: int) -> KernelColumns:
        return KernelColumns(
            FIRST,
            self.kernel,
            self.width[[number]],
            (self.values[number],),
            (self.weights[number],),
        )


def _below_each_other(tables: tuple[Array, ...]) -> Array:
    """Tables of columns, (C, K), as rows of one array."""
    return np.concatenate([each.T for each in tables])


def _starts(sizes: Any) -> Array:
    """Where each of several parts begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def codes_of(values: Array, levels: Array) -> Array:
    """Places among K levels in ascending order; K for other values, K + 1 for missing ones."""
    if not len(levels):
        return np.isnan(values).astype(np.int64)
    place = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
    codes = np.where(levels[place] == values, place, len(levels))
    return np.where(np.isnan(values), len(levels) + 1, codes)


def bin_codes(rows: Array, low: Array, width: Array, count: Array) -> tuple[Array, Array]:
    """The bin of every entry, and its distance beyond the bins in widths (0 inside).

    Below the first bin the code is B, above the last B + 1, and B + 2 for missing entries.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        place = (np.asarray(rows, dtype=np.float64) - low) / width
    missing = np.isnan(place)
    place = np.where(missing, 0.0, place)
    # The sums that gave the last edge round; its own value belongs to the last bin.
    above = place > count * (1.0 + 1e-12)
    below = place < 0
    codes = np.clip(place, 0, count - 1).astype(np.int64)
    codes = np.where(below, count, np.where(above, count + 1, codes))
    beyond = np.where(below, -place, np.where(above, place - count, 0.0))
    return np.where(missing, count + 2, codes), beyond


def _noise(kernel: SmoothingKernel, n: int, rng: np.random.Generator) -> Array:
    """Draws from the density K, by its distribution function on a fine grid."""
    reach = kernel.reach(1e-12)
    grid = np.linspace(-reach, reach, 4097)
    share = np.maximum(kernel.value((grid[1:] + grid[:-1]) / 2), 0.0)
    cells = rng.choice(len(share), size=n, p=share / share.sum())
    return grid[cells] + (grid[1] - grid[0]) * rng.random(n)
