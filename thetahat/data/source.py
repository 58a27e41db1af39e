"""Rows in memory, in a file, on a device or on a cluster, and passes over them.

A `Source` yields `Block`s of rows in a fixed order; ``source.reduce(summarise, *params)`` applies a
function to the blocks and merges the results. Only sources know where rows are stored, and every
fit that is a sum over rows uses `reduce`: in memory, from a file, on one thread or many, with the
same sums.

A summary is any object with ``merge(other) -> summary``. Merging is associative up to rounding,
and the blocks and their order depend on the data alone, so results are the same bit for bit for any
number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from functools import reduce as fold
from typing import Any, Protocol, TypeVar

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.columns.schema import Schema
from thetahat.data.finite import require_finite_block
from thetahat.data.row_state import RowState
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array, Matrix, SparseMatrix

BLOCK_BYTES = 4 << 20
"""Target size of a block of rows: large enough for BLAS, small enough for the cache of a core."""
WIDE_BLOCK_BYTES = 1 << 26
"""Largest block of rows too wide for the cache."""
MAX_BLOCK_ROWS = 1 << 14
MIN_BLOCK_ROWS = 256


class Summary(Protocol):
    """A summary that `Source.reduce` can merge."""

    def merge(self, other: Any) -> Any: ...


S = TypeVar("S", bound=Summary)


class Labels(Protocol):
    """Labels (text, categories) of which a source yields the codes as y."""

    @property
    def encoding(self) -> LabelEncoding:
        """The classes and their codes; a pass over the rows may be needed to find them."""

    @property
    def description(self) -> str:
        """Where the labels are and an example, for error messages."""


def row_weights(weight: Array | None, n_rows: int) -> Array:
    """The weights of the rows: ones where there are none."""
    return np.ones(n_rows) if weight is None else weight


def kernel_weights(weight: Array | None) -> Array:
    """The weights as compiled loops take them: in double precision, empty if there are none."""
    return np.empty(0) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)


def weights_of(weight: Array | None, rows: Array) -> Array:
    """The weights of some rows; ones where all count alike."""
    return np.ones(len(rows)) if weight is None else weight[rows]


@dataclass(frozen=True)
class Block:
    """Some consecutive rows.

    ``X`` is a 2-D NumPy array, a scipy.sparse CSR array, or a device array; ``y`` is None, (n,) or
    (n, k) in floating point; ``weight`` is None (all ones) or (n,), non-negative. ``start`` is the
    number of the first row.
    """

    X: Matrix
    y: Array | None = None
    weight: Array | None = None
    start: int = 0

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: Any) -> Block:
        """Some of the rows, given by number or as a slice."""
        return Block(
            X=_some_rows(self.X, rows),
            y=None if self.y is None else self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
            start=self.start + (rows.start or 0) if isinstance(rows, slice) else 0,
        )

    @property
    def targets(self) -> Array:
        """``y``, for methods that need it."""
        assert self.y is not None
        return self.y

    @property
    def row_weights(self) -> Array:
        """One weight per row; ones if there are no weights."""
        return row_weights(self.weight, self.n_rows)


def _some_rows(X: Matrix, rows: Any) -> Matrix:
    """``X[rows]``; a slice of compressed sparse rows shares their memory."""
    if not isinstance(rows, slice) or getattr(X, "format", None) != "csr":
        return X[rows]
    start, stop, step = rows.indices(X.shape[0])
    if step != 1 or stop < start:
        return X[rows]
    whole: SparseMatrix = X
    bound = whole.indptr[start : stop + 1]
    held = slice(bound[0], bound[-1])
    # The constructor would copy arrays that are a small part of another.
    some: SparseMatrix = type(whole)((stop - start, X.shape[1]), dtype=X.dtype)
    some.data, some.indices, some.indptr = whole.data[held], whole.indices[held], bound - bound[0]
    return some


def joined(blocks: list[Block]) -> Block:
    """Blocks of consecutive rows as one, in memory of its own."""

    def column(name: str) -> Any:
        parts = [getattr(block, name) for block in blocks]
        if getattr(parts[0], "format", None) == "csr":
            from scipy.sparse import vstack

            return vstack(parts, format="csr")
        return None if parts[0] is None else np.concatenate(parts)

    return Block(X=column("X"), y=column("y"), weight=column("weight"))


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """Rows (x, y, w) and their properties that are known before any row is read."""

    n_features: int
    n_outputs: int = 0
    """Number of columns of y; 0 if y is 1-D or absent."""
    dtype: Any = np.float64
    """float32 or float64: the precision of X, and of the fitted parameters."""
    schema: Schema = field(default_factory=Schema)
    has_target: bool = False
    has_weight: bool = False
    target_dtype: Any = None
    """Type of the target where it is stored, if it holds whole numbers or Booleans."""
    labels: Labels | None = None
    """The labels, if y holds their codes; None if y holds numbers."""
    sparse_blocks: bool = False
    """Whether blocks hold sparse rows; rows in memory know it themselves."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of rows (the rows of a file may have to be counted first)."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The rows in order; every call yields the same blocks."""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files whose rows these are; none for rows in memory."""
        return ()

    def reduce(self, summarise: Callable[..., S], *params: Any) -> S:
        """Merge ``summarise(block, *params)`` over all blocks, in order.

        A large summary may have a method ``absorb``: a merge that may reuse its own memory, called
        only when the summary is not used elsewhere.
        """
        return fold(
            lambda whole, part: getattr(whole, "absorb", whole.merge)(part),
            ordered_map(lambda block: summarise(block, *params), self.blocks()),
        )

    def with_missing(self) -> Source:
        """The same rows, for a model that accepts NaN as a missing value."""
        return self

    def with_categories(self) -> Source:
        """The same rows, for a model that accepts the codes of categories, listed by the schema."""
        return self

    def targets_only(self) -> Source:
        """The same targets and weights, without the columns of X where these can be left out."""
        return self

    def between(self, first: int, last: int) -> Iterator[Block]:
        """Blocks that contain at least the rows from `first` to before `last`.

        Rows outside are left out where they need not be read.
        """
        return self.blocks()

    def require_finite(self, *, missing: bool = False) -> None:
        """Raise a `DataError` naming column, row and value when X holds NaN or infinity.

        With `missing`, NaN marks a missing value and is accepted.
        """
        for _ in self.map_blocks(partial(self._require_finite_block, missing=missing)):
            pass

    def _require_finite_block(self, block: Block, missing: bool = False) -> None:
        require_finite_block(block.X, block.start, self.schema, missing=missing)

    def head(self, n_rows: int | None = None) -> Block:
        """The first rows: `n_rows` of them, or fewer if there are no more in the first block."""
        return next(iter(self.blocks())).take(slice(0, n_rows))

    def row_state(self, **start: Any) -> RowState:
        """Arrays with one entry per row, by name, filled with the given values."""
        return RowState(self, start)

    def map_blocks(self, function: Callable[[Block], Any]) -> Iterator[Any]:
        """Yield ``function(block)`` for all blocks in order, computed where the rows are."""
        return ordered_map(function, self.blocks())

    def map_rows(self, function: Callable[[Block], Array]) -> Array:
        """Stack ``function(block)`` over all blocks: predictions, residuals, scores."""
        return np.concatenate(list(self.map_blocks(function)))

    def target_values(self, y: Array) -> Array:
        """Targets as they are stored: labels, whole numbers or Booleans where possible."""
        if self.labels is not None:
            return self.labels.encoding.decode(y)
        if self.target_dtype is not None and (y == y.astype(self.target_dtype)).all():
            return y.astype(self.target_dtype)
        return y

    def arrays(self) -> tuple[Matrix, Array | None, Array | None]:
        """Load all rows into memory: X, y and the row weights, None where there are none.

        Labels are returned as they are stored, so that ``model.fit(X, y, sample_weight)`` gives
        the same fit as ``model.fit(source)``. Cost: O(n d) time and memory.

        Returns
        -------
        X : ndarray or CSR array of shape (n, d)
            The features of all rows. Missing values are NaN. Sparse blocks give a sparse matrix.
        y : ndarray of shape (n,) or (n, k), or None
            The targets of all rows.
        sample_weight : ndarray of shape (n,), or None
            The weights of all rows.

        Examples
        --------
        >>> import thetahat as th
        >>> data = th.datasets.load_longley()
        >>> X, y, weight = th.scan(data.path, target="TOTEMP").arrays()
        >>> X.shape, y.shape, weight
        ((16, 6), (16,), None)
        """
        whole = joined(list(self.with_missing().blocks()))
        y = None if whole.y is None else self.target_values(whole.y)
        return whole.X, y, whole.weight

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """Refuse the conversion that functions for arrays try, with the remedy."""
        raise CapabilityError(
            "These rows are a source that is read block by block, but an array in memory is "
            "needed here. Load all rows with X, y, sample_weight = source.arrays()."
        )


def blocks_of(source: Source, rows: int) -> Iterator[Block]:
    """The rows in blocks of `rows` each, for any blocks of the source; the last may be smaller."""
    kept: list[Block] = []
    held = 0
    for block in source.blocks():
        kept.append(block)
        held += block.n_rows
        while held >= rows:
            whole = joined(kept) if len(kept) > 1 else kept[0]
            yield whole.take(slice(0, rows))
            held -= rows
            kept = [whole.take(slice(rows, None))] if held else []
    if held:
        yield joined(kept)


def rows_per_block(n_features: int) -> int:
    """Rows in a block of about `BLOCK_BYTES` as float64; depends on the width alone.

    Blocks of wide rows have more rows than fit, so that merging d × d summaries pays off.
    """
    width = max(1, n_features)
    rows = max(BLOCK_BYTES // (8 * width), min(2 * width, WIDE_BLOCK_BYTES // (8 * width)))
    return int(
        min(MAX_BLOCK_ROWS, max(MIN_BLOCK_ROWS, 1 << (rows.bit_length() - 1 if rows else 0)))
    )
