"""The work of one worker: check a partition, summarise its blocks, merge summaries in order.

All functions are pure: a partition that is lost with a worker is computed again by another one, and
gives the same bits. A partition runs on one thread; the workers run several partitions at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce as fold
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.columns.schema import Schema
from thetahat.data.columns.tables import is_table, table_to_numpy
from thetahat.data.columns.variables import ArrayVariable, Variable, variables
from thetahat.data.finite import REFUSAL, require_finite_block
from thetahat.data.in_memory import InMemory
from thetahat.data.magnitudes import require_target_size, require_weight_size
from thetahat.data.on_disk.reader import codes_of
from thetahat.data.source import Block
from thetahat.data.validation import as_features, as_numbers, is_sparse
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

ORIGIN = "the Dask collection"
OPENED = (
    "th.from_dask does not accept them; a model that does takes the collection itself, as in "
    "model.fit(X, y). For other models"
)
ROLES = ("X", "y", "sample_weight")


@dataclass(frozen=True)
class Facts:
    """What the client knows about all partitions."""

    who: str
    n_features: int
    n_outputs: int
    dtype: Any
    schema: Schema
    encoding: LabelEncoding | None
    missing: bool
    """Whether NaN in X marks a missing value and is accepted."""
    infinite: bool = False
    """Whether infinity and NaN in X are accepted."""
    sparse: bool = False
    """Whether the partitions are sparse."""
    roles: tuple[str, ...] = ("X",)
    """Those of X, y and sample_weight that are given."""


def checked_partition(
    x: Any, y: Any, weight: Any, start: int, facts: Facts, number: int, size: int
) -> InMemory:
    """The rows of a partition in floating point; raises an error that names an invalid row.

    ``number`` is that of the partition, and ``size`` its declared or counted number of rows.
    """
    parts = dict(zip(ROLES, (x, y, weight), strict=True))
    given = {role: parts[role] for role in facts.roles}
    lengths = {role: n_rows_of(values, role, number, facts.who) for role, values in given.items()}
    _require_rows(lengths, facts.who, number, size)
    features, schema = as_features(x, who=f"{facts.who}: partition {number} of X")
    if features.shape[1] != facts.n_features or schema.names != facts.schema.names:
        named = bool(schema.names or facts.schema.names)
        raise DataError(
            f"{facts.who}: partition {number} (from row {start} on) has "
            f"{_described(features.shape[1], schema, named)}, but "
            f"{_described(facts.n_features, facts.schema, named)} are expected. All partitions "
            f"need the same columns{', with the same names,' if named else ''} in the same order."
        )
    X = _as_declared(features, start, facts).astype(facts.dtype, copy=False)
    if not facts.infinite:
        refusal = OPENED if facts.who == "from_dask" else REFUSAL
        require_finite_block(X, start, facts.schema, ORIGIN, missing=facts.missing, refusal=refusal)
    target = None if y is None else _checked_target(y, start, number, facts)
    weights = None if weight is None else _checked_weight(weight, start, number, facts)
    return InMemory(
        X=X,
        y=target,
        weight=weights,
        n_features=facts.n_features,
        n_outputs=facts.n_outputs,
        dtype=facts.dtype,
        schema=facts.schema,
        has_target=target is not None,
        has_weight=weights is not None,
    )


def _described(n_columns: int, schema: Schema, named: bool) -> str:
    """The number of columns, with their names where some partition has names."""
    listed = f"({', '.join(map(repr, schema.names[:8]))})" if schema.names else "without names"
    return f"{n_columns} columns {listed}" if named else f"{n_columns} columns"


def _as_declared(features: Any, start: int, facts: Facts) -> Any:
    """Sparse rows where the collection has them; raises an error if it says that it has none."""
    if facts.sparse and not is_sparse(features):
        from scipy.sparse import csr_array

        return csr_array(features)
    if is_sparse(features) and not facts.sparse:
        raise DataError(
            f"{facts.who}: the partition from row {start} on is sparse, but the Dask collection "
            "does not say so. Declare it: X.map_blocks(scipy.sparse.csr_array, "
            "meta=scipy.sparse.csr_array((0, 0))), or make all partitions dense."
        )
    return features


def n_rows_of(values: Any, role: str, number: int, who: str) -> int:
    """The rows of a partition; raises an error that names one that is no array or table."""
    shape = (len(values),) if isinstance(values, list | tuple) else getattr(values, "shape", ())
    if not shape:
        raise DataError(
            f"{who}: partition {number} of {role} is of type {type(values).__name__} "
            f"({repr(values)[:40]}), but each partition must be an array or a table with rows. "
            "Return one from the function that makes the partitions."
        )
    return int(shape[0])


def _require_rows(lengths: dict[str, int], who: str, number: int, size: int) -> None:
    for role, n_rows in lengths.items():
        if n_rows != size:
            raise DataError(
                f"{who}: Found input variables with inconsistent numbers of samples: partition "
                f"{number} of {role} has {n_rows} rows, but {size} are expected, the declared "
                "length of the partition, or that of X. Divide X, y and sample_weight alike, and "
                "declare the length that the partitions have."
            )


def _require_width(shape: tuple[int, ...], width: int, role: str, number: int, who: str) -> None:
    """Refuse a partition of y or of the weights with other columns than expected."""
    if len(shape) > 2 or (shape[1] if len(shape) == 2 else 1) != width:
        allowed = f"({shape[0]}, {width})" if width > 1 else f"({shape[0]},) or ({shape[0]}, 1)"
        reason = (
            "Give one weight per row."
            if role == "sample_weight"
            else "This is the width of the first partition, or of the collection. All partitions "
            "need the same columns."
        )
        raise DataError(
            f"{who}: partition {number} of {role} has shape {shape}, but {allowed} is expected. "
            f"{reason}"
        )


def _checked_target(y: Any, start: int, number: int, facts: Facts) -> Array:
    if facts.encoding is not None:
        codes = codes_of(labels_of(y), facts.encoding)
        return codes.astype(facts.dtype, copy=False)
    target = _floats(y, "y", f"{facts.who}: partition {number}")
    _require_width(target.shape, facts.n_outputs or 1, "y", number, facts.who)
    columns = target.reshape(len(target), -1)
    require_finite_block(columns, start, Schema(), ORIGIN, role="y")
    require_target_size(columns, facts.dtype, facts.who, start=start)
    chosen = columns if facts.n_outputs else columns[:, 0]
    return np.ascontiguousarray(chosen, dtype=facts.dtype)


def _checked_weight(weight: Any, start: int, number: int, facts: Facts) -> Array:
    values = _floats(weight, "sample_weight", f"{facts.who}: partition {number}")
    _require_width(values.shape, 1, "sample_weight", number, facts.who)
    values = np.ascontiguousarray(values.reshape(-1), dtype=np.float64)
    require_finite_block(values[:, None], start, Schema(), ORIGIN, role="sample_weight")
    negative = np.flatnonzero(values < 0)
    if negative.size:
        row = int(negative[0])
        raise DataError(
            f"{facts.who}: {negative.size} of {len(values)} sample weights of partition {number} "
            f"are negative (first at row {start + row}: {values[row]:g}); weights must be ≥ 0. "
            "Drop those rows instead."
        )
    require_weight_size(values, facts.who, start=start)
    return values


def _floats(values: Any, role: str, who: str) -> Array:
    return as_numbers(table_to_numpy(values)[0] if is_table(values) else values, role, who)


def labels_of(y: Any) -> Variable:
    """A column of labels, from a series, a frame of one column or an array."""
    if is_table(y):
        return variables(y)[0]
    return ArrayVariable(None, np.asarray(y).reshape(len(y)))


def distinct_labels(y: Any, start: int, number: int, who: str) -> list[Any]:
    """The distinct labels of a partition; raises an error for a missing one."""
    n_rows_of(y, "y", number, who)
    _require_width(tuple(np.shape(y)), 1, "y", number, who)
    labels, which = labels_of(y).distinct()
    missing = np.flatnonzero(which < 0)
    if missing.size:
        raise DataError(
            f"{who}: y holds no label at row {start + missing[0]} of {ORIGIN}, but every row needs "
            "one. Drop such rows, or give missing labels a class of their own."
        )
    return [labels[place] for place in np.unique(which)]


def lengths_and_bytes(parts: dict[str, Any], number: int, who: str) -> tuple[dict[str, int], int]:
    """The rows of a partition of X, y and the weights, by role, and the size of X in memory."""
    lengths = {role: n_rows_of(values, role, number, who) for role, values in parts.items()}
    x = parts["X"]
    held = x.data.nbytes + x.indices.nbytes if is_sparse(x) else getattr(x, "nbytes", None)
    if held is None:
        used = getattr(x, "memory_usage", None)
        held = int(used(deep=True).sum()) if used is not None else 0
    return lengths, int(held)


def template_of(values: Any, role: str, who: str) -> Any:
    """An empty array or table of the same columns as the first partition."""
    n_rows_of(values, role, 0, who)
    if hasattr(values, "iloc"):
        return values.iloc[:0]
    return values[:0] if hasattr(values, "shape") else np.asarray(values)[:0]


def blocks_from(part: InMemory, start: int) -> Iterator[Block]:
    """The blocks of a partition, with row numbers of the whole collection."""
    return (replace(block, start=block.start + start) for block in part.blocks())


def block_from(part: InMemory, start: int, low: int, n_rows: int) -> Block:
    """Some rows of a partition, from its row `low` on."""
    block = part.whole.take(slice(low, min(part.n_rows, low + n_rows)))
    return replace(block, start=start + low)


def first_rows(part: InMemory, n_rows: int) -> Block:
    """The first rows of a partition."""
    return part.whole.take(slice(0, n_rows))


def summary_of(part: InMemory, start: int, work: bytes) -> Any:
    """The merged summaries of the blocks of a partition."""
    summarise, params = unpacked(work)
    with one_blas_thread():
        return merged(*(summarise(block, *params) for block in blocks_from(part, start)))


def results_of(part: InMemory, start: int, work: bytes) -> list[Any]:
    """The results of a function of each block of a partition."""
    function, params = unpacked(work)
    with one_blas_thread():
        return [function(block, *params) for block in blocks_from(part, start)]


def merged(*summaries: Any) -> Any:
    """The summaries merged from left to right; none of them is changed."""
    return fold(lambda whole, part: whole.merge(part), summaries)


def packed(function: Callable[..., Any], params: tuple[Any, ...]) -> bytes:
    """A function and its arguments, for workers."""
    import cloudpickle

    return bytes(cloudpickle.dumps((function, params)))


def unpacked(work: bytes) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function and its arguments."""
    import cloudpickle

    function, params = cloudpickle.loads(work)
    return function, params
