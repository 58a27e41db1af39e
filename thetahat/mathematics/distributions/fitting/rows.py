"""The values that a distribution is fitted to: one column of a source, and averages over it.

`averages` is the mergeable summary of every fit: for statistics T(x) = (T₁, …, T_k) it holds Σw,
Σw T(x)/Σw, the extremes, and how many values lie outside the support.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.validation import as_source
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array

Statistics = Callable[[Array], Array]


@dataclass(frozen=True)
class Support:
    """The values that data of a distribution may have, and the words for them in messages."""

    low: float = -np.inf
    high: float = np.inf
    open_ends: bool = False
    whole: bool = False
    remedy: str = "Correct or remove these values."

    def contains(self, x: Array) -> Array:
        """Which of the finite values are possible."""
        inside = (
            (x > self.low) & (x < self.high)
            if self.open_ends
            else (x >= self.low) & (x <= self.high)
        )
        return inside & (x == np.floor(x)) if self.whole else inside

    @property
    def words(self) -> str:
        """The rule, as in "values must be whole numbers ≥ 0"."""
        kind = "whole numbers" if self.whole else "numbers"
        if np.isfinite(self.low) and np.isfinite(self.high):
            if self.whole and self.high == self.low + 1:
                return f"{self.low:g} or {self.high:g}"
            strictly = "strictly between" if self.open_ends else "from"
            joined = "and" if self.open_ends else "to"
            return f"{kind} {strictly} {self.low:g} {joined} {self.high:g}"
        sign = (">", "<") if self.open_ends else ("≥", "≤")
        if np.isfinite(self.low):
            return f"{kind} {sign[0]} {self.low:g}"
        return f"{kind} {sign[1]} {self.high:g}" if np.isfinite(self.high) else kind


@dataclass(frozen=True)
class Averages:
    """Σw, the weighted means of some statistics, the extremes, and what is outside the support."""

    n_rows: int
    weight: float
    mean: Array
    low: float
    high: float
    outside: int = 0
    first: tuple[int, float] = (-1, 0.0)

    def merge(self, other: Averages) -> Averages:
        """The averages of both sets of rows."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        if share == 0 or self.weight == 0:  # an infinite mean times a share of 0 would be NaN
            mean = self.mean if share == 0 else other.mean
        else:
            with np.errstate(invalid="ignore"):
                mean = np.where(
                    np.isfinite(self.mean) & np.isfinite(other.mean),
                    self.mean + (other.mean - self.mean) * share,
                    self.mean + other.mean,
                )
        return Averages(
            self.n_rows + other.n_rows,
            weight,
            mean,
            min(self.low, other.low),
            max(self.high, other.high),
            self.outside + other.outside,
            self.first if self.outside else other.first,
        )


def column(data: Any, sample_weight: Any, who: str, *, may_be_empty: bool = False) -> Source | Any:
    """The data as a source of one column; None for no values, if that is allowed."""
    if isinstance(data, Source):
        source = as_source(data, None, sample_weight, who=who)
    else:
        values = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim == 2:
            _refuse_columns(values.shape[1], who)
        if values.ndim != 1:
            raise DataError(
                f"{who}: data has shape {values.shape}, but it must be one column of values, "
                "(n,). Use np.ravel(data) if all entries are values."
            )
        if values.size == 0:
            if may_be_empty:
                return None
            raise DataError(
                f"{who}: data is empty, but at least one value is needed. Give observed values."
            )
        source = as_source(values[:, None], None, sample_weight, who=who)
    if source.n_features != 1:
        _refuse_columns(source.n_features, who)
    return source


def _refuse_columns(n: int, who: str) -> None:
    raise DataError(
        f"{who}: data has {n} columns, but the values of this distribution are one column. Select "
        "it: data[:, j], or th.scan(path, features=[name])."
    )


def averages(
    source: Source, statistics: Statistics, support: Support | None = None, who: str = ""
) -> Averages:
    """The averages over all rows of a source; an error if values lie outside the support."""
    found = source.reduce(summarise, statistics, support)
    if found.outside:
        assert support is not None
        row, value = found.first
        total = source.n_rows
        which = (
            f"1 of {total:,} values is"
            if found.outside == 1
            else f"{found.outside:,} of {total:,} values are"
        )
        raise DataError(
            f"{who}: values must be {support.words}, but {which} not (first at row {row}: "
            f"{value:g}). {support.remedy}"
        )
    if found.weight == 0:
        raise DataError(f"{who}: all weights are 0. Give at least one value a positive weight.")
    return found


def summarise(block: Block, statistics: Statistics, support: Support | None) -> Averages:
    """The averages of one block."""
    x = np.asarray(dense_rows(block)[:, 0], dtype=np.float64)
    weight = np.asarray(to_host(block.row_weights), dtype=np.float64)
    used = weight > 0
    if support is not None:
        wrong = used & ~(np.isfinite(x) & support.contains(x))
        if wrong.any():
            row = int(np.argmax(wrong))
            count = int(wrong.sum())
            return Averages(
                0,
                0.0,
                _none(statistics),
                np.inf,
                -np.inf,
                count,
                (block.start + row, float(x[row])),
            )
    x, weight = (x, weight) if used.all() else (x[used], weight[used])
    total = float(weight.sum())
    if total == 0:
        return Averages(0, 0.0, _none(statistics), np.inf, -np.inf)
    values = statistics(x)
    mean = values.mean(axis=1) if block.weight is None else (values * (weight / total)).sum(axis=1)
    return Averages(x.size, total, mean, float(x.min()), float(x.max()))


def _none(statistics: Statistics) -> Array:
    """Zeros, one for each statistic."""
    return np.zeros(len(statistics(np.empty(0))))


def require_spread(found: Averages, who: str, what: str) -> None:
    """Refuse equal values, for which the likelihood has no maximum."""
    if found.low == found.high:
        count = "the only value is" if found.n_rows == 1 else f"all {found.n_rows:,} values are"
        raise DataError(
            f"{who}: at least two different values are needed, but {count} {found.low:g}, so that "
            f"{what} and the likelihood has no maximum. Give more values, or pass known "
            "parameters to the constructor."
        )


@dataclass(frozen=True)
class _Weights:
    total: Array

    def merge(self, other: _Weights) -> _Weights:
        return _Weights(self.total + other.total)


def category_weights(source: Source, n_categories: int) -> Array:
    """The total weight of each of the numbers 0, …, K − 1, which the values must be."""
    return source.reduce(_count, n_categories).total


def _count(block: Block, n_categories: int) -> _Weights:
    x = np.asarray(dense_rows(block)[:, 0], dtype=np.float64)
    weight = np.asarray(to_host(block.row_weights), dtype=np.float64)
    used = weight > 0
    codes = x[used].astype(np.intp)
    return _Weights(np.bincount(codes, weights=weight[used], minlength=n_categories))
