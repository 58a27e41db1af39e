"""Rows of one file or several in blocks that do not depend on the format.

Each format has its own pieces: row groups, record batches, a megabyte of text. They are combined to
blocks of `rows_per_block` rows, the same blocks that the same numbers have in memory, so sums over
rows are the same bit for bit. Only a block and a piece are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.schema import Schema
from thetahat.data.finite import require_finite_block
from thetahat.data.magnitudes import require_target_size, require_weight_size
from thetahat.data.on_disk.beside import Beside
from thetahat.data.on_disk.choice import Choice, require_numbers, schema_of
from thetahat.data.on_disk.labels import Categories
from thetahat.data.on_disk.read_ahead import read_ahead
from thetahat.data.on_disk.reader import Reader
from thetahat.data.source import Block, Source, rows_per_block
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError


@dataclass(frozen=True, kw_only=True)
class FileSource(Source):
    """A file that is read again at each pass, and checked as it is read."""

    reader: Reader
    choice: Choice
    target_beside: Beside | None = None
    weight_beside: Beside | None = None
    first_row: int = 0
    """Number of the first row that the reader yields."""
    is_part: bool = False
    """Whether the reader yields only a part of the rows."""
    accepts_missing: bool = False
    """Whether NaN and empty fields in X are passed on as missing values."""
    categories: Mapping[int, Categories] | None = None
    """The categories of the columns that hold no numbers; None if only numbers are accepted."""

    def __repr__(self) -> str:
        columns = "1 column" if self.n_features == 1 else f"{self.n_features} columns"
        return f"<{type(self).__name__} {self.reader.path}, {columns}>"

    @cached_property
    def n_rows(self) -> int:
        return self.reader.count_rows()

    @property
    def files(self) -> tuple[str, ...]:
        besides = (self.target_beside, self.weight_beside)
        others = [each.values for each in besides if each is not None]
        readers = [self.reader, *(each for each in others if isinstance(each, Reader))]
        return tuple(path for reader in readers for path in reader.files)

    def with_missing(self) -> Source:
        return replace(self, accepts_missing=True)

    def with_categories(self) -> Source:
        """Cost: one pass over the columns that hold no numbers."""
        features = self.choice.features
        fields = self.reader.fields
        places = [place for place in features if not fields[place].holds_numbers]
        if self.categories is not None or not places:
            return self
        found = {place: Categories.of(self.reader, place) for place in places}
        columns = [
            replace(column, categories=found[place].values) if place in found else column
            for place, column in zip(features, self.schema.columns, strict=True)
        ]
        return replace(self, categories=found, schema=Schema(tuple(columns)))

    def targets_only(self) -> Source:
        if not self.choice.targets:
            return self
        return replace(
            self, choice=replace(self.choice, features=()), n_features=0, schema=Schema()
        )

    def between(self, first: int, last: int) -> Iterator[Block]:
        if self.target_beside is not None or self.weight_beside is not None:
            return self.blocks()
        with self.reader.unchanged():
            reader, start = self.reader.part(first, last)
        return replace(self, reader=reader, first_row=start, is_part=True).blocks()

    def blocks(self) -> Iterator[Block]:
        return read_ahead(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        rows = rows_per_block(self.n_features)
        encodings: dict[int, Any] = dict(self.categories or {})
        if self.categories is None:
            require_numbers(self.reader, self.choice.features)
        if self.labels is not None:
            encodings.update(dict.fromkeys(self.choice.targets, self.labels.encoding))
        pieces = self.reader.pieces(self.choice.columns, rows, encodings)
        targets = repeat(None) if self.target_beside is None else self.target_beside.walk(rows)
        weights = repeat(None) if self.weight_beside is None else self.weight_beside.walk(rows)
        start, any_weight = self.first_row, not self.has_weight or self.is_part
        for numbers, target, weight in zip(rebatch(pieces, rows), targets, weights, strict=False):
            self._require_same_rows(len(numbers), target, weight, start)
            block = self._block(numbers, target, weight, start)
            any_weight = any_weight or bool(block.weight is not None and block.weight.any())
            yield block
            start += block.n_rows
        if not self.is_part and self.__dict__.get("n_rows", start) != start:
            raise DataError(
                f"{self.reader.path} has {start} rows now, but had {self.n_rows} when they were "
                "counted. Open the rows again with th.scan."
            )
        if not any_weight:
            raise DataError(
                f"{self.reader.path}: all sample weights are zero. Give at least one row a "
                "positive weight."
            )

    def _require_same_rows(
        self, n_rows: int, target: NDArray[Any] | None, weight: NDArray[Any] | None, start: int
    ) -> None:
        for beside, values in ((self.target_beside, target), (self.weight_beside, weight)):
            if beside is not None and values is not None and len(values) != n_rows:
                raise DataError(
                    f"{self.reader.path} has {n_rows} rows from row {start} on, where "
                    f"{beside.origin} has {len(values)}. Give one entry per row, and open the rows "
                    "again with th.scan."
                )

    def _block(
        self,
        numbers: NDArray[Any],
        target: NDArray[Any] | None,
        weight: NDArray[Any] | None,
        start: int,
    ) -> Block:
        """Split the columns by role, and check them."""
        first, last = len(self.choice.features), len(self.choice.features + self.choice.targets)
        X = np.ascontiguousarray(numbers[:, :first], dtype=self.dtype)
        if not self.accepts_missing:
            require_finite_block(X, start, self.schema, self.reader.origin)
        if self.choice.targets:
            target = numbers[:, first:last]
        if self.choice.weights:
            weight = numbers[:, last]
        return Block(
            X=X,
            y=None if target is None else self._checked_target(target, start),
            weight=None if weight is None else self._checked_weight(weight, start),
            start=start,
        )

    def _checked_target(self, target: NDArray[Any], start: int) -> NDArray[Any]:
        columns = target.reshape(target.shape[0], -1)
        schema = schema_of(self.reader, self.choice.targets)
        require_finite_block(columns, start, schema, self._origin(self.target_beside), role="y")
        require_target_size(columns, self.dtype, self._origin(self.target_beside), start=start)
        return np.ascontiguousarray(columns if self.n_outputs else columns[:, 0], dtype=self.dtype)

    def _checked_weight(self, weight: NDArray[Any], start: int) -> NDArray[np.float64]:
        weight = np.ascontiguousarray(weight.reshape(-1), dtype=np.float64)
        schema = schema_of(self.reader, self.choice.weights)
        origin = self._origin(self.weight_beside)
        require_finite_block(weight[:, np.newaxis], start, schema, origin, role="sample_weight")
        negative = np.flatnonzero(weight < 0)
        if negative.size:
            row = int(negative[0])
            raise DataError(
                f"{origin}: the weight at row {start + row} is {weight[row]:g}, but weights must "
                "be ≥ 0. Drop such rows instead."
            )
        require_weight_size(weight, origin, start=start)
        return weight

    def _origin(self, beside: Beside | None) -> str:
        return self.reader.origin if beside is None else beside.origin


def rebatch(pieces: Iterable[NDArray[Any]], rows: int) -> Iterator[NDArray[Any]]:
    """The same rows in C-ordered arrays of `rows` rows; only the last may have fewer."""
    held, filled = np.empty((0, 0)), 0
    for piece in pieces:
        if not filled and piece.shape[0] == rows and piece.flags.c_contiguous:
            yield piece
            continue
        taken = 0
        while taken < piece.shape[0]:
            if not filled:
                held = np.empty((rows, piece.shape[1]), dtype=piece.dtype)
            size = min(rows - filled, piece.shape[0] - taken)
            held[filled : filled + size] = piece[taken : taken + size]
            filled, taken = filled + size, taken + size
            if filled == rows:
                yield held
                filled = 0
    if filled:
        yield held[:filled]
