"""Views of a source: the same rows with other targets, weights or units.

A view maps each block when it is read and stores nothing. Every map is a function of this module
with its options bound, so that a view can be sent to another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.in_memory import InMemory
from thetahat.data.row_state import ChangedRowState, RowState, of_changed
from thetahat.data.source import Block, S, Source
from thetahat.data.summaries.counts import distinct_labels
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True, kw_only=True)
class View(Source):
    """The rows of another source, each block through ``change``, which keeps the rows' order."""

    source: Source
    change: Callable[[Block], Block]
    by_position: bool = False
    """Whether the map depends on where a block starts, and not on its rows alone."""

    @classmethod
    def of(
        cls,
        source: Source,
        change: Callable[[Block], Block],
        *,
        lazy: bool = False,
        by_position: bool = False,
        **facts: Any,
    ) -> Source:
        """A view of `source`, of which `facts` differ (``n_outputs=0``).

        An in-memory source stays one, unless the view is to be `lazy`: the map is then applied at
        once, and an X that it returns unchanged is not copied.
        """
        if isinstance(source, InMemory) and not lazy:
            whole = source.whole
            seen = change(whole)
            X = source.X if seen.X is whole.X else seen.X
            return replace(source, X=X, y=seen.y, weight=seen.weight, **facts)
        shared = {field.name: getattr(source, field.name) for field in fields(Source)}
        return cls(**{**shared, **facts}, source=source, change=change, by_position=by_position)

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def files(self) -> tuple[str, ...]:
        return self.source.files

    def blocks(self) -> Iterator[Block]:
        return map(self.change, self.source.blocks())

    def reduce(self, summarise: Callable[..., S], *params: Any) -> S:
        """As `Source.reduce`; the source applies the map where its rows are."""
        return self.source.reduce(partial(of_changed, self.change, summarise), *params)

    def map_blocks(self, function: Callable[[Block], Any]) -> Iterator[Any]:
        """As `Source.map_blocks`; the source applies the map where its rows are."""
        return self.source.map_blocks(partial(of_changed, self.change, function))

    def head(self, n_rows: int | None = None) -> Block:
        """As `Source.head`; only these rows are changed."""
        return self.change(self.source.head(n_rows))

    def row_state(self, **start: Any) -> RowState:
        """As `Source.row_state`; the arrays are where the rows are."""
        return ChangedRowState(self.source.row_state(**start), self.change)

    def between(self, first: int, last: int) -> Iterator[Block]:
        return map(self.change, self.source.between(first, last))

    def with_missing(self) -> Source:
        return replace(self, source=self.source.with_missing())

    def with_categories(self) -> Source:
        if self.schema != self.source.schema:  # the map makes columns of its own, all numbers
            return self
        source = self.source.with_categories()
        return replace(self, source=source, schema=source.schema)

    def targets_only(self) -> Source:
        if self.change is not as_given:  # it may need the columns
            return self
        source = self.source.targets_only()
        return replace(self, source=source, n_features=source.n_features, schema=source.schema)


def held(source: Source) -> Source:
    """A lazy view of rows in memory, applied at once; any other source as it is. Cost: O(n d)."""
    if not isinstance(source, View):
        return source
    base = held(source.source)
    if not isinstance(base, InMemory):
        return source
    facts = {field.name: getattr(source, field.name) for field in fields(Source)}
    return View.of(base, source.change, **facts)


def one_target(source: Source, target: int) -> Source:
    """Column `target` of y alone."""
    return View.of(source, partial(_column_of_y, target=target), n_outputs=0)


def with_one_target(source: Source, who: str) -> Source:
    """The source with a 1-D target; several columns of targets are an error."""
    if source.n_outputs > 1:
        raise DataError(
            f"{who}: y should be a 1d array, but the target of these rows has {source.n_outputs} "
            "columns, and one is needed here. Fit one model per column."
        )
    return one_target(source, 0) if source.n_outputs else source


def one_against_rest(source: Source, code: int) -> Source:
    """Class codes as signs: y = +1 for class `code` and −1 for all others."""
    return View.of(source, partial(_one_sign, code=code, dtype=source.dtype))


def sign_targets(source: Source, n_classes: int) -> Source:
    """Class codes as targets of least squares: C columns, or one for two classes.

    In each column the rows of its class have +1 and all others −1.
    """
    n_outputs = 0 if n_classes <= 2 else n_classes
    change = partial(_signs, n_outputs=n_outputs, dtype=source.dtype)
    return View.of(source, change, n_outputs=n_outputs)


def relabelled(
    source: Source, encoding: LabelEncoding | None = None
) -> tuple[Source, LabelEncoding]:
    """Labels as the codes 0, 1, …, C−1 of their classes, and the encoding.

    Without an encoding, one pass over the rows finds the classes, those of rows of weight 0
    included. Cost: O(n log C).
    """
    stored = source.labels
    facts: dict[str, Any] = {"labels": None, "target_dtype": None}
    if stored is not None:
        known = stored.encoding
        if encoding is None:
            return View.of(source, as_given, **facts), known
        change = partial(_recoded, known=known, encoding=encoding, dtype=source.dtype)
        return View.of(source, change, **facts), encoding
    if encoding is not None:
        return View.of(source, _to_codes(encoding, source.dtype), **facts), encoding
    values = LabelEncoding(distinct_labels(source))
    _require_exact(source, values.classes)
    are_codes = np.array_equal(values.classes, np.arange(values.n_classes))
    to_codes = as_given if are_codes else _to_codes(values, source.dtype)
    view = View.of(source, to_codes, **facts)
    return view, LabelEncoding(source.target_values(values.classes))


def all_positive(source: Source) -> Source:
    """y = +1 for every row, for methods of signs that learn from one class alone."""
    return View.of(source, partial(_positive, dtype=source.dtype), has_target=True, n_outputs=0)


def reweighted(
    source: Source,
    factor: Callable[[Block], Array],
    *,
    lazy: bool = False,
    by_position: bool = False,
) -> Source:
    """Each row's weight times ``factor(block)``, which a lazy view computes in every pass."""
    change = partial(_times, factor=factor)
    return View.of(source, change, lazy=lazy, by_position=by_position, has_weight=True)


def in_target_units(source: Source, unit: float) -> Source:
    """y/unit for y, in float64. Cost: O(n)."""
    return View.of(source, partial(_in_target_unit, unit=unit))


def shifted(source: Source, centre: Array) -> Source:
    """X − centre for X; a memory map is shifted block by block. Cost: O(n d)."""
    is_array = isinstance(source, InMemory) and type(source.X) is np.ndarray
    return View.of(source, partial(_shift, centre=centre), lazy=not is_array)


def rescaled(
    source: Source,
    x_centre: Array | None,
    x_scale: Array | None,
    y_centre: Array | None,
    y_scale: Array | None,
) -> Source:
    """(x − centre)/scale for the columns of X and y, in float64, always block by block.

    Centres and scales have one entry per column; None leaves the columns as they are.
    """
    x_units, y_units = (x_centre, x_scale), (y_centre, y_scale)
    change = partial(_rescale, x_units=x_units, y_units=y_units)
    return View.of(source, change, lazy=True, dtype=np.float64)


def _column_of_y(block: Block, target: int) -> Block:
    assert block.y is not None
    return replace(block, y=block.y[:, target])


def _one_sign(block: Block, code: int, dtype: Any) -> Block:
    return replace(block, y=np.where(np.asarray(block.y) == code, 1.0, -1.0).astype(dtype))


def _positive(block: Block, dtype: Any) -> Block:
    return replace(block, y=np.ones(block.n_rows, dtype=dtype))


def _signs(block: Block, n_outputs: int, dtype: Any) -> Block:
    codes = np.asarray(to_host(block.targets))
    own = codes[:, None] == np.arange(n_outputs) if n_outputs else codes == 1
    return replace(block, y=np.where(own, 1, -1).astype(dtype))


def _require_exact(source: Source, classes: Array) -> None:
    """Refuse whole numbers that may have been rounded to the same floating-point number."""
    largest = float(np.abs(classes).max())
    if source.target_dtype is not None and largest >= 2.0 ** (np.finfo(source.dtype).nmant + 1):
        raise DataError(
            f"The labels are whole numbers up to {largest:.0f}, which cannot be distinguished in "
            f"{np.dtype(source.dtype).name}, the precision of X. Store the labels as text."
        )


def as_given(block: Block) -> Block:
    """The rows as they are, for a view that differs in its facts only."""
    return block


def _to_codes(encoding: LabelEncoding, dtype: Any) -> Callable[[Block], Block]:
    return partial(_codes, encoding=encoding, dtype=dtype)


def _recoded(block: Block, known: LabelEncoding, encoding: LabelEncoding, dtype: Any) -> Block:
    """Codes of other classes for the codes of the `known` ones."""
    labels = known.decode(block.targets)
    return replace(block, y=encoding.encode(labels).astype(dtype))


def _codes(block: Block, encoding: LabelEncoding, dtype: Any) -> Block:
    return replace(block, y=encoding.encode(np.asarray(block.y)).astype(dtype))


def _times(block: Block, factor: Callable[[Block], Array]) -> Block:
    share = factor(block)
    return replace(block, weight=share if block.weight is None else block.weight * share)


def _in_target_unit(block: Block, unit: float) -> Block:
    return replace(block, y=np.asarray(block.y, dtype=np.float64) / unit)


def _shift(block: Block, centre: Array) -> Block:
    return replace(block, X=dense_rows(block) - centre)


def _rescale(block: Block, x_units: tuple[Any, Any], y_units: tuple[Any, Any]) -> Block:
    X, y = _in_units(dense_rows(block), *x_units), block.y
    if y is None:
        return replace(block, X=X)
    columns = y if y.ndim == 2 else y[:, None]
    return replace(block, X=X, y=_in_units(columns, *y_units).reshape(y.shape))


def _in_units(columns: Array, centre: Array | None, scale: Array | None) -> Array:
    columns = np.asarray(columns, dtype=np.float64)
    columns = columns if centre is None else columns - centre
    return columns if scale is None else columns / scale
