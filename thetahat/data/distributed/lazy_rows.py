"""Predictions for Dask collections, computed by the workers when they are needed."""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import numpy as np

from thetahat.data.distributed.cluster import computed
from thetahat.data.distributed.pieces import dask, pieces_of
from thetahat.foundation.errors import CapabilityError


def lazy_rows(model: Any, owner: type, method: str, X: Any, *args: Any, **params: Any) -> Any:
    """``model.method(X)`` as a Dask array whose partitions are those of X.

    ``owner`` is the class whose method is meant: a class that overrides it may call this one. The
    first row of X is computed at once, which shows the type and the shape of the result.
    """
    pieces = pieces_of(X, "X", type(model).__name__)
    delayed, array = dask("delayed").delayed, dask("array")
    first = delayed(_first_row, pure=False)
    heads = (computed([first(part)])[0] for part in pieces.parts)
    row = next((head for head in heads if head.shape[0]), None)
    if row is None:
        row = np.zeros((1, model.n_features_in_))
    example = _bound(model, owner, method)(row, *args, **params)
    if not isinstance(example, np.ndarray):
        each_part = "map_blocks" if hasattr(X, "map_blocks") else "map_partitions"
        raise CapabilityError(
            f"{type(model).__name__}.{method} of a Dask collection must give an array, but "
            f"gives a {type(example).__name__}. Call it for each partition: X.{each_part}(...)."
        )
    shared = delayed(model, traverse=False)
    each = delayed(_rows_of, pure=False)
    sizes = pieces.sizes or (np.nan,) * len(pieces.parts)
    empty = example[:0]
    parts = [
        array.from_delayed(
            each(shared, owner, method, part, empty, args, params),
            shape=(size, *example.shape[1:]),
            meta=empty,
        )
        for part, size in zip(pieces.parts, sizes, strict=True)
    ]
    return array.concatenate(parts, axis=0, allow_unknown_chunksizes=True)


def _first_row(part: Any) -> Any:
    return part.iloc[:1] if hasattr(part, "iloc") else part[:1]


def _rows_of(
    model: Any, owner: type, method: str, part: Any, empty: Any, args: Any, params: Any
) -> Any:
    if not part.shape[0]:
        return empty
    return np.asarray(_bound(model, owner, method)(part, *args, **params))


def _bound(model: Any, owner: type, method: str) -> Any:
    """The method as its class defines it: scikit-learn would put what `transform` gives in a table.

    A lazy result is always an array.
    """
    return unwrap(vars(owner)[method]).__get__(model, type(model))
