"""Encoders that turn one column of a table into numbers.

An encoder is an immutable value, fitted to the rows of `fit`. For linear, kernel and neural models,
numbers are centred and scaled, missing values are filled and marked, and categories become
indicators. For trees, numbers and missing values stay as they are, and categories become codes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.columns.variables import Variable, sorted_distinct
from thetahat.foundation.checked_value import check_arrays, check_rule
from thetahat.foundation.types import Array

MISSING = "(missing)"
OTHER = "(other)"
DATE_PARTS = ("days", "month", "weekday", "hour")


@dataclass(frozen=True)
class ColumnEncoder(ABC):
    """Turns one column into one or several numeric columns."""

    name: str

    def __post_init__(self) -> None:
        check_rule(self, isinstance(self.name, str), "name must be text")

    @abstractmethod
    def encode(self, column: Variable) -> Any:
        """The encoded rows, (n, width): dense, or CSR for text."""

    @abstractmethod
    def names(self) -> list[str]:
        """Names of the new columns."""

    def unseen(self, column: Variable) -> dict[Any, int]:
        """Values that were absent in `fit`, and the number of times each occurs."""
        return {}


@dataclass(frozen=True)
class NumberEncoder(ColumnEncoder):
    """z = (x − centre)/scale, with the median for missing values and a column that marks them."""

    fill: float
    centre: float
    scale: float
    marks_gaps: bool
    levels: tuple[Any, ...] = ()
    """Values of an ordinal column, in order."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("fill", "centre", "scale"):
            check_rule(self, isinstance(getattr(self, name), float), f"{name} must be a number")
        _check_levels(self, self.levels)

    @classmethod
    def learn(cls, name: str, column: Variable, levels: tuple[Any, ...] = ()) -> NumberEncoder:
        x = _numbers(column, levels)
        known = x[np.isfinite(x)]
        fill = float(np.median(known)) if known.size else 0.0
        filled = np.where(np.isnan(x), fill, x)
        unit = _unit(known)
        if np.isfinite(filled).all():
            centre, spread = (float(part(filled / unit)) * unit for part in (np.mean, np.std))
        else:
            centre, spread = fill, 0.0
        return cls(name, fill, centre, spread or 1.0, bool(np.isnan(x).any()), levels)

    def encode(self, column: Variable) -> Array:
        x = _numbers(column, self.levels)
        gaps = np.isnan(x)
        unit = _unit(np.array([self.scale]))
        z = (np.where(gaps, self.fill, x) / unit - self.centre / unit) / (self.scale / unit)
        return np.column_stack([z, gaps]) if self.marks_gaps else z[:, None]

    def names(self) -> list[str]:
        return [self.name, f"{self.name}={MISSING}"] if self.marks_gaps else [self.name]


def _unit(x: Array) -> float:
    """1, or the power of two near the largest |x| if its square overflows."""
    largest = float(np.max(abs(x), initial=0.0))
    return 1.0 if largest < 1e150 else math.ldexp(1.0, math.frexp(largest)[1] - 1)


@dataclass(frozen=True)
class PlainNumber(ColumnEncoder):
    """The numbers as they are, NaN for missing values; positions for ordinal columns."""

    levels: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_levels(self, self.levels)

    def encode(self, column: Variable) -> Array:
        return _numbers(column, self.levels)[:, None]

    def names(self) -> list[str]:
        return [self.name]


@dataclass(frozen=True)
class Indicators(ColumnEncoder):
    """One column per frequent category, one for all rare ones, one for missing values; 0 or 1.

    For two categories without missing values, only the second one gets a column. A category that
    was absent in `fit` counts as rare if there were rare ones, otherwise it is 0 everywhere.
    """

    levels: tuple[Any, ...]
    rare: tuple[Any, ...]
    marks_gaps: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_levels(self, self.levels)
        _check_levels(self, self.rare)

    @classmethod
    def learn(
        cls, name: str, column: Variable, max_categories: int, min_share: float
    ) -> Indicators:
        values, which = column.distinct()
        counts = np.bincount(which[which >= 0], minlength=len(values))
        enough = max(2.0, min_share * which.size)
        by_count = sorted(range(len(values)), key=lambda k: (-counts[k], str(values[k])))
        kept = [k for k in by_count if counts[k] >= enough][:max_categories]
        if len(kept) == len(values) - 1:  # a single rare category keeps its own column
            kept = by_count[: len(values)] if len(values) <= max_categories else kept
        held = set(kept)
        frequent = sorted_distinct([values[k] for k in kept])
        rare = sorted_distinct([values[k] for k in by_count if k not in held])
        return cls(name, frequent, rare, bool((which < 0).any()))

    def encode(self, column: Variable) -> Array:
        values, which = column.distinct()
        width = len(self.names())
        place = {level: code for code, level in enumerate(self.levels)}
        if self._is_one:
            place = {self.levels[0]: width, self.levels[1]: 0}
        other = len(self.levels) if self.rare else width
        codes = [place.get(value, other) for value in values]
        gap = width - 1 if self.marks_gaps else width
        # An extra column collects values without an indicator, and is removed.
        rows = np.zeros((which.size, width + 1))
        rows[np.arange(which.size), np.array([*codes, gap], dtype=np.intp)[which]] = 1.0
        return rows[:, :width]

    @property
    def _is_one(self) -> bool:
        return len(self.levels) == 2 and not self.rare and not self.marks_gaps

    def names(self) -> list[str]:
        if self._is_one:
            return [f"{self.name}={self.levels[1]}"]
        ends = [
            *self.levels,
            *([OTHER] if self.rare else []),
            *([MISSING] if self.marks_gaps else []),
        ]
        return [f"{self.name}={end}" for end in ends]

    def unseen(self, column: Variable) -> dict[Any, int]:
        return _unseen(column, {*self.levels, *self.rare})


@dataclass(frozen=True)
class Codes(ColumnEncoder):
    """Code of the category; NaN for missing values and for categories absent in `fit`."""

    levels: tuple[Any, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_levels(self, self.levels)

    @classmethod
    def learn(cls, name: str, column: Variable) -> Codes:
        return cls(name, column.held())

    def encode(self, column: Variable) -> Array:
        return column.codes(self.levels)[:, None]

    def names(self) -> list[str]:
        return [self.name]

    def unseen(self, column: Variable) -> dict[Any, int]:
        return _unseen(column, set(self.levels))


@dataclass(frozen=True)
class Words(ColumnEncoder):
    """Text as weights of its words: term frequency × inverse document frequency."""

    vectorizer: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rule(self, hasattr(self.vectorizer, "transform"), "vectorizer must be a transformer")

    @classmethod
    def learn(cls, name: str, column: Variable, max_terms: int) -> Words:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            max_features=max_terms, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b"
        )
        texts = _texts(column)
        if not any(text.split() for text in texts):
            texts = [*texts, "nothing"]  # without any word, use a vocabulary of one unused word
        return cls(name, vectorizer.fit(texts))

    def encode(self, column: Variable) -> Any:
        return self.vectorizer.transform(_texts(column))

    def names(self) -> list[str]:
        return [f"{self.name}: {word}" for word in self.vectorizer.get_feature_names_out()]


@dataclass(frozen=True)
class DateParts(ColumnEncoder):
    """Days since 1970, month, weekday and, if times of day differ, the hour."""

    parts: tuple[str, ...]
    centre: Array
    scale: Array
    fill: Array
    """Replacement of missing values: NaN for trees, otherwise the median."""

    def __post_init__(self) -> None:
        super().__post_init__()
        known = isinstance(self.parts, tuple) and set(self.parts) <= set(DATE_PARTS)
        check_rule(self, known, f"parts must be among {', '.join(DATE_PARTS)}")
        shape = (len(self.parts),)
        check_arrays(self, {name: (np.float64, shape) for name in ("centre", "scale", "fill")})

    @classmethod
    def learn(cls, name: str, column: Variable, *, scaled: bool) -> DateParts:
        when = dates_of(column)
        known = when[~np.isnat(when)]
        times = (known - known.astype("datetime64[D]")).astype("timedelta64[s]")
        parts = DATE_PARTS if times.any() else DATE_PARTS[:3]
        x = _date_parts(when, parts)
        middle = np.array([np.median(c[~np.isnan(c)]) if known.size else 0.0 for c in x.T])
        if not scaled:
            nothing = np.zeros(len(parts))
            return cls(name, parts, nothing, nothing + 1.0, np.full(len(parts), np.nan))
        filled = np.where(np.isnan(x), middle, x)
        spread = filled.std(axis=0)
        return cls(name, parts, filled.mean(axis=0), np.where(spread > 0, spread, 1.0), middle)

    def encode(self, column: Variable) -> Array:
        x = _date_parts(dates_of(column), self.parts)
        return (np.where(np.isnan(x), self.fill, x) - self.centre) / self.scale

    def names(self) -> list[str]:
        return [f"{self.name}: {part}" for part in self.parts]


def _check_levels(encoder: ColumnEncoder, levels: Any) -> None:
    hashable = isinstance(levels, tuple) and not any(
        isinstance(level, list | dict | set | np.ndarray) for level in levels
    )
    check_rule(encoder, hashable, "levels must be a tuple of values")


def is_date(column: Variable) -> bool:
    """Whether the type of the column is a date or a time."""
    return any(word in str(column.dtype).lower() for word in ("date", "timestamp"))


def dates_of(column: Variable) -> Array:
    """The column as ``datetime64[s]``, with NaT for missing values."""
    values = column.values
    if getattr(column.dtype, "tz", None) is not None and hasattr(values, "dt"):
        values = values.dt.tz_convert(None)  # NumPy knows no time zones
    if hasattr(values, "to_numpy"):
        is_arrow = type(values).__module__.startswith("pyarrow")
        values = values.to_numpy(zero_copy_only=False) if is_arrow else values.to_numpy()
    return np.asarray(values).astype("datetime64[s]")


def _date_parts(when: Array, parts: tuple[str, ...]) -> Array:
    days = when.astype("datetime64[D]")
    gaps = np.isnat(when)
    number = np.where(gaps, 0, days.astype(np.int64))
    month = np.where(gaps, 0, when.astype("datetime64[M]").astype(np.int64) % 12 + 1)
    hour = np.where(gaps, 0, (when - days).astype("timedelta64[h]").astype(np.int64))
    known = {"days": number, "month": month, "weekday": (number + 3) % 7, "hour": hour}
    rows = np.column_stack([known[part] for part in parts]).astype(np.float64)
    rows[gaps] = np.nan
    return rows


def _numbers(column: Variable, levels: tuple[Any, ...]) -> Array:
    return column.codes(levels) if levels else np.asarray(column.numbers(), dtype=np.float64)


def _texts(column: Variable) -> list[str]:
    values, which = column.distinct()
    texts = [*(str(value) for value in values), ""]
    return [texts[k] for k in which]


def _unseen(column: Variable, known: set[Any]) -> dict[Any, int]:
    values, which = column.distinct()
    counts = np.bincount(which[which >= 0], minlength=len(values))
    return {v: int(c) for v, c in zip(values, counts, strict=True) if v not in known and c}
