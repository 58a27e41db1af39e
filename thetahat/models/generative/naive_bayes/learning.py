"""How the likelihoods of a group of columns are learned from the rows of every class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.extremes import SMALLEST, SMALLEST_IN_SQUARES, require_visible_columns
from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_categories import summarise_categories
from thetahat.data.summaries.class_sums import (
    ClassMoments,
    class_codes,
    summarise_class_moments,
)
from thetahat.data.summaries.quantiles import Weighted, distinct
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.generative.naive_bayes.binned import (
    column_spread,
    equal_bins,
    kernel_bandwidth,
    log_histogram,
)
from thetahat.models.generative.naive_bayes.gaussian_nb import known_moments
from thetahat.models.generative.naive_bayes.level_counts import LevelCounts
from thetahat.models.generative.naive_bayes.likelihoods import (
    CategoryColumns,
    GaussianColumns,
    HistogramColumns,
    KernelColumns,
    bin_codes,
    codes_of,
)

WHO = "NaiveBayes"


def _some_columns(block: Block, places: Array) -> Block:
    """The block with some columns alone; all of them are not copied."""
    X = np.asarray(block.X)
    return block if len(places) == X.shape[1] else replace(block, X=X[:, places])


def _words(source: Source, place: Any) -> str:
    return f"{WHO}: Column {source.schema.label(int(place))}"


def gaussian_moments(source: Source, places: Array, n_classes: int) -> ClassMoments:
    """Means and squared deviations of some columns in every class, checked."""
    found = source.reduce(
        lambda block: summarise_class_moments(_some_columns(block, places), n_classes)
    )
    if not found.is_finite:
        column = int(np.argmin(np.isfinite(found.scatter).all(axis=0)))
        raise DataError(
            f"{_words(source, places[column])} is so large that its squares overflow. Rescale it."
        )
    if not (found.total_variance > SMALLEST).all():
        require_visible_columns(source, SMALLEST_IN_SQUARES)
    return found


def gaussian_columns(
    found: ClassMoments, source: Source, places: Array, var_smoothing: float
) -> GaussianColumns:
    """Means and variances, smoothed by a share of the largest variance of these columns."""
    mean, variance, largest = known_moments(found, lambda column: _words(source, places[column]))
    variance = variance + var_smoothing * (largest or 1.0)
    if not variance.all():
        column = int(np.argwhere(variance == 0)[0, 1])
        raise DataError(
            f"{_words(source, places[column])} is constant in a class, so that its variance is 0, "
            "and var_smoothing=0. Set var_smoothing to a positive number, or drop the column."
        )
    return GaussianColumns(places, mean, variance)


@dataclass(frozen=True)
class _DistinctColumns:
    """The distinct values of columns, as a mergeable summary."""

    columns: tuple[Array, ...]

    def merge(self, other: _DistinctColumns) -> _DistinctColumns:
        pairs = zip(self.columns, other.columns, strict=True)
        return _DistinctColumns(tuple(np.union1d(a, b) for a, b in pairs))


def category_counts(source: Source, places: Array, binary: Array, n_classes: int) -> LevelCounts:
    """The levels of some columns and their counts; those of binary columns are 0 and 1."""

    def values(block: Block) -> _DistinctColumns:
        X = np.asarray(block.X)
        return _DistinctColumns(
            tuple(distinct(X[:, place], block.weight).values for place in places)
        )

    found = source.reduce(values).columns
    levels = []
    for place, is_binary, each in zip(places, binary, found, strict=True):
        if is_binary and not np.isin(each, (0.0, 1.0)).all():
            wrong = each[~np.isin(each, (0.0, 1.0))][0]
            raise DataError(
                f"{_words(source, place)} holds {wrong:g}, but a Bernoulli column holds 0 and 1. "
                'Use the likelihood "categorical" or "gaussian", or threshold the column.'
            )
        levels.append(np.array([0.0, 1.0]) if is_binary else each.astype(np.float64))

    def coded(block: Block) -> Any:
        X = np.asarray(block.X)
        codes = [codes_of(X[:, place], each) for place, each in zip(places, levels, strict=True)]
        # Missing entries are not counted, and those of weight 0 count 0.
        parts = [np.where(c > len(e), np.nan, c) for c, e in zip(codes, levels, strict=True)]
        coded_block = replace(block, X=np.column_stack(parts))
        return summarise_categories(coded_block, n_classes, source.schema, None, WHO)

    counts = source.reduce(coded).columns
    tables = [_padded(table, len(each)) for table, each in zip(counts, levels, strict=True)]
    return LevelCounts(places, tuple(levels), tuple(tables))


def _padded(counts: Array, size: int) -> Array:
    """A table of counts with a column for each of its levels."""
    return np.pad(counts[:, :size], ((0, 0), (0, max(0, size - counts.shape[1]))))


def category_columns(found: LevelCounts, source: Source, alpha: float) -> CategoryColumns:
    """Tables of the shares of the categories."""
    for place, levels in zip(found.places, found.levels, strict=True):
        if not levels.size:
            raise DataError(f"{_words(source, place)} holds missing values only. Drop it.")
    tables = [_log_shares_and_unseen(table, alpha) for table in found.counts]
    return CategoryColumns(found.places, found.levels, tuple(tables))


def _log_shares_and_unseen(counts: Array, alpha: float) -> Array:
    """log (N_k + α)/(N + αK) of K categories, and log α/(N + αK) of an unseen one, (C, K + 1)."""
    size, alpha = counts.shape[1], float(alpha)
    empty = counts.sum(axis=1, keepdims=True) + alpha * size == 0
    total = np.where(empty, size, counts.sum(axis=1, keepdims=True) + alpha * size)
    smoothed = np.where(empty, 1.0, counts + alpha)
    with np.errstate(divide="ignore"):
        shares = np.log(smoothed) - np.log(total)
        unseen = np.log(alpha) - np.log(total)
    return np.hstack([shares, unseen])


def learn_histograms(
    source: Source, places: Array, n_classes: int, alpha: float, bins: str | int
) -> HistogramColumns:
    """Equal bins by a rule over the rows of all classes, and their counts in every class."""
    spread = column_spread(source, places)
    for place, low, high in zip(places, spread.low, spread.high, strict=True):
        if low > high:
            raise DataError(f"{_words(source, place)} holds missing values only. Drop it.")
        if not np.isfinite(np.float64(high) - np.float64(low)):
            raise DataError(f"{_words(source, place)} has a range that overflows. Rescale it.")
    chosen = [
        equal_bins(spread.quantiles.column(j), float(low), float(high), bins)
        for j, (low, high) in enumerate(zip(spread.low, spread.high, strict=True))
    ]
    width = np.array([each[0] for each in chosen])
    count = np.array([each[1] for each in chosen], dtype=np.int64)
    low = np.where(spread.high > spread.low, spread.low, spread.low - 0.5).astype(np.float64)

    def counted(block: Block) -> Any:
        rows = np.asarray(block.X)[:, places]
        codes = bin_codes(rows, low, width, count)[0].astype(np.float64)
        codes[codes >= count] = np.nan
        return summarise_categories(replace(block, X=codes), n_classes, source.schema, None, WHO)

    counts = source.reduce(counted).columns
    tables = [
        log_histogram(np.pad(table, ((0, 0), (0, size - table.shape[1]))), each, alpha)
        for table, size, each in zip(counts, count, width, strict=True)
    ]
    return HistogramColumns(places, low, width, count, tuple(tables))


@dataclass(frozen=True)
class _ClassValues:
    """The distinct values of every column and class with their weights, as a mergeable summary."""

    columns: tuple[tuple[Weighted, ...], ...]

    def merge(self, other: _ClassValues) -> _ClassValues:
        pairs = zip(self.columns, other.columns, strict=True)
        return _ClassValues(tuple(tuple(map(_together, ours, theirs)) for ours, theirs in pairs))


def _together(a: Weighted, b: Weighted) -> Weighted:
    return distinct(np.concatenate([a.values, b.values]), np.concatenate([a.weights, b.weights]))


def learn_kernels(
    source: Source, places: Array, n_classes: int, kernel: SmoothingKernel, bandwidth: str | float
) -> KernelColumns:
    """The values of every class with their weights, and a bandwidth per column and class."""

    def values(block: Block) -> _ClassValues:
        X, code, weight = np.asarray(block.X), class_codes(block), block.row_weights
        own = [code == each for each in range(n_classes)]
        return _ClassValues(
            tuple(tuple(distinct(X[of, place], weight[of]) for of in own) for place in places)
        )

    found, widths = [], np.empty((len(places), n_classes))
    for j, (place, classes) in enumerate(zip(places, source.reduce(values).columns, strict=True)):
        pooled = distinct(
            np.concatenate([each.values for each in classes]),
            np.concatenate([each.weights for each in classes]),
        )
        if not pooled.values.size:
            raise DataError(f"{_words(source, place)} holds missing values only. Drop it.")
        if not np.isfinite(np.float64(pooled.values[-1]) - np.float64(pooled.values[0])):
            raise DataError(f"{_words(source, place)} has a range that overflows. Rescale it.")
        # A class without known values has the density of all rows, and one without spread the
        # bandwidth of all rows.
        known = [each if each.values.size else pooled for each in classes]
        fallback = kernel_bandwidth(pooled, bandwidth, kernel) or 1.0
        widths[j] = [kernel_bandwidth(each, bandwidth, kernel) or fallback for each in known]
        found.append(known)
    return KernelColumns(
        places,
        kernel,
        widths,
        tuple(tuple(each.values for each in classes) for classes in found),
        tuple(tuple(each.weights for each in classes) for classes in found),
    )
