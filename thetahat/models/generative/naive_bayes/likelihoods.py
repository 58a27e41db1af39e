"""The likelihoods of groups of columns, fitted: log Π_j p_j(x_j | c), and samples of the columns.

All columns of one kind are one value, so that their terms are summed at once. A missing entry (NaN)
adds 0: its column is left out of the product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue, check_arrays
from thetahat.foundation.types import Array
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.generative.naive_bayes.categorical_nb import drawn_codes
from thetahat.models.generative.naive_bayes.gaussian_nb import SMALLEST_VARIANCE, log_scales
from thetahat.models.generative.naive_bayes.kernel_estimates import KernelEstimates
from thetahat.models.generative.naive_bayes.tables import CategoryTables


@dataclass(frozen=True)
class ColumnLikelihoods(CheckedValue, ABC):
    """The likelihoods of the columns at ``places``."""

    places: Array

    @abstractmethod
    def logs(self, rows: Array) -> Array:
        """Σ_j log p_j(x_j | c) for rows of these columns alone, (n, C) in float64."""

    @abstractmethod
    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        """Rows of these columns drawn from p(· | c), (n_samples, len(places))."""

    @abstractmethod
    def column(self, number: int) -> ColumnLikelihoods:
        """The likelihood of one of these columns."""


@dataclass(frozen=True)
class GaussianColumns(ColumnLikelihoods):
    """Normal columns with means and variances of shape (C, len(places))."""

    mean: Array
    variance: Array

    def __post_init__(self) -> None:
        shape = (None, len(self.places))
        check_arrays(self, {"mean": (np.float64, shape), "variance": (np.float64, shape)})
        object.__setattr__(self, "_factor", 0.5 / np.maximum(self.variance, SMALLEST_VARIANCE))
        object.__setattr__(self, "_scales", log_scales(self.variance))
        object.__setattr__(self, "_constant", log_scales(self.variance).sum(axis=1))

    def logs(self, rows: Array) -> Array:
        factor: Array = self._factor  # type: ignore[attr-defined]
        scales: Array = self._scales  # type: ignore[attr-defined]
        constant: Array = self._constant  # type: ignore[attr-defined]
        total = np.empty((rows.shape[0], self.mean.shape[0]))
        _native.diagonal_gaussians(rows, self.mean, factor, constant, total)
        if np.isnan(np.add.reduce(total, axis=None)):
            gaps = np.isnan(rows)
            some = gaps.any(axis=1)
            for code in range(total.shape[1]):
                gap = rows[some] - self.mean[code]
                terms = np.where(gaps[some], 0.0, scales[code] - factor[code] * gap * gap)
                total[some, code] = terms.sum(axis=1)
        return total

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        noise = rng.standard_normal((n_samples, self.mean.shape[1]))
        return self.mean[code] + np.sqrt(self.variance[code]) * noise

    def column(self, number: int) -> GaussianColumns:
        return GaussianColumns(
            self.places[[number]], self.mean[:, [number]].copy(), self.variance[:, [number]].copy()
        )


@dataclass(frozen=True)
class CategoryColumns(ColumnLikelihoods):
    """Columns of categories with tables of probabilities.

    ``levels[j]`` has the numbers of the categories in ascending order, and ``tables[j]`` their
    log-probabilities, (C, K_j + 1), with that of an unseen category last.
    """

    levels: tuple[Array, ...]
    tables: tuple[Array, ...]

    def __post_init__(self) -> None:
        # One more row of zeros for missing entries.
        padded = [np.pad(table, ((0, 0), (0, 1))) for table in self.tables]
        object.__setattr__(self, "_lookup", CategoryTables.of(padded))
        sizes = np.array([len(levels) for levels in self.levels], dtype=np.uint64)
        counted = all(np.array_equal(each, np.arange(len(each))) for each in self.levels)
        object.__setattr__(self, "_sizes", sizes if counted else np.zeros_like(sizes))

    def logs(self, rows: Array) -> Array:
        lookup: CategoryTables = self._lookup  # type: ignore[attr-defined]
        sizes: Array = self._sizes  # type: ignore[attr-defined]
        with np.errstate(invalid="ignore"):
            codes = rows.astype(np.int64)
        # The usual case: all entries are known, and the levels are 0, 1, ...
        if ((codes == rows) & (codes.view(np.uint64) < sizes)).all():
            return lookup.sums(codes)
        codes = np.empty(rows.shape, dtype=np.int64)
        for j, levels in enumerate(self.levels):
            codes[:, j] = codes_of(rows[:, j], levels)
        return lookup.sums(codes)

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = np.empty((n_samples, len(self.levels)))
        for j, (levels, table) in enumerate(zip(self.levels, self.tables, strict=True)):
            chosen = drawn_codes(table[code, :-1], n_samples, rng)
            drawn[:, j] = levels[chosen.astype(np.intp)]
        return drawn

    def column(self, number: int) -> CategoryColumns:
        return CategoryColumns(
            self.places[[number]], (self.levels[number],), (self.tables[number],)
        )


def codes_of(values: Array, levels: Array) -> Array:
    """Places among K levels in ascending order; K for other values, K + 1 for missing ones."""
    if not len(levels):
        return np.isnan(values).astype(np.int64)
    place = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
    codes = np.where(levels[place] == values, place, len(levels))
    return np.where(np.isnan(values), len(levels) + 1, codes)


@dataclass(frozen=True)
class HistogramColumns(ColumnLikelihoods):
    """Columns with histograms of equal bins, the same bins for all classes.

    ``tables[j]`` has the log-densities of the bins and of both tails, (C, B_j + 2).
    """

    low: Array
    width: Array
    count: Array
    tables: tuple[Array, ...]

    def __post_init__(self) -> None:
        padded = [np.pad(table, ((0, 0), (0, 1))) for table in self.tables]
        object.__setattr__(self, "_lookup", CategoryTables.of(padded))

    def logs(self, rows: Array) -> Array:
        lookup: CategoryTables = self._lookup  # type: ignore[attr-defined]
        with np.errstate(over="ignore"):
            place = (rows - self.low) / self.width
        if ((place >= 0) & (place < self.count)).all():  # the usual case
            return lookup.sums(place.astype(np.int64))
        codes, beyond = bin_codes(rows, self.low, self.width, self.count)
        return lookup.sums(codes) - beyond.sum(axis=1, keepdims=True)

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
            self.places[one],
            self.low[one],
            self.width[one],
            self.count[one],
            (self.tables[number],),
        )


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


@dataclass(frozen=True)
class KernelColumns(ColumnLikelihoods):
    """Columns with kernel estimates: distinct values and their weights per column and class."""

    kernel: SmoothingKernel
    width: Array
    """Bandwidths, (len(places), C)."""
    values: tuple[tuple[Array, ...], ...]
    weights: tuple[tuple[Array, ...], ...]

    @cached_property
    def _estimates(self) -> KernelEstimates:
        sizes = np.array([[len(each) for each in some] for some in self.values])
        values, weights = (
            np.concatenate([each for some in lists for each in some])
            for lists in (self.values, self.weights)
        )
        return KernelEstimates.of(self.kernel, self.width, sizes, values, weights)

    def logs(self, rows: Array) -> Array:
        found = self._estimates.logs(np.asarray(rows, dtype=np.float64))
        if np.isnan(np.add.reduce(found, axis=None)):
            found[np.isnan(rows)] = 0.0
        return np.add.reduce(found, axis=1)

    def sample(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = np.empty((n_samples, len(self.values)))
        for j in range(len(self.values)):
            weights = self.weights[j][code]
            centres = rng.choice(self.values[j][code], size=n_samples, p=weights / weights.sum())
            drawn[:, j] = centres + self.width[j, code] * _noise(self.kernel, n_samples, rng)
        return drawn

    def column(self, number: int) -> KernelColumns:
        one = [number]
        return KernelColumns(
            self.places[one],
            self.kernel,
            self.width[one],
            (self.values[number],),
            (self.weights[number],),
        )


def _noise(kernel: SmoothingKernel, n: int, rng: np.random.Generator) -> Array:
    """Draws from the density K, by its distribution function on a fine grid."""
    reach = kernel.reach(1e-12)
    grid = np.linspace(-reach, reach, 4097)
    share = np.maximum(kernel.value((grid[1:] + grid[:-1]) / 2), 0.0)
    cells = rng.choice(len(share), size=n, p=share / share.sum())
    return grid[cells] + (grid[1] - grid[0]) * rng.random(n)
