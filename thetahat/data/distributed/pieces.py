"""Dask collections as pieces: one delayed object per partition, and the rows of each if known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.optional import optional_import

Sizes = tuple[int, ...]


def is_dask(values: Any) -> bool:
    """Whether this is a collection of Dask, without importing it."""
    return type(values).__module__.partition(".")[0] == "dask"


def dask(module: str = "") -> Any:
    """Dask, or one of its modules."""
    name = f"dask.{module}" if module else "dask"
    return optional_import(name, extra="dask", purpose="Data in Dask collections")


@dataclass(frozen=True)
class Pieces:
    """The partitions of one collection."""

    parts: tuple[Any, ...]
    """One delayed object per partition."""
    sizes: Sizes | None
    """The number of rows of each; None if it is known only when they are computed."""
    template: Any = None
    """An empty array or table of the same type; None if it is not known."""

    @property
    def n_rows(self) -> int | None:
        return None if self.sizes is None else sum(self.sizes)


def pieces_of(values: Any, role: str, who: str) -> Pieces:
    """The partitions of an array, dataframe or series of Dask, or of a list of delayed objects."""
    if isinstance(values, Sequence) and values and all(map(_is_delayed, values)):
        return Pieces(tuple(values), None)
    if _is_delayed(values):
        return Pieces((values,), None)
    if hasattr(values, "rechunk"):
        return _pieces_of_array(values, role, who)
    if (
        hasattr(values, "to_delayed")
        and hasattr(values, "npartitions")
        and hasattr(values, "_meta")
    ):
        return Pieces(tuple(values.to_delayed()), None, values._meta)
    raise DataError(
        f"{who}: {role} is a {type(values).__name__} of Dask. Pass a Dask array, dataframe or "
        "series, or a list of delayed partitions to th.from_dask."
    )


def _pieces_of_array(values: Any, role: str, who: str) -> Pieces:
    if values.ndim not in (1, 2):
        raise DataError(
            f"{who}: {role} is a Dask array with {values.ndim} dimensions, but rows and columns "
            "are needed. Reshape it to two dimensions."
        )
    if values.ndim == 2 and values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    rows = values.chunks[0]
    known = not any(math.isnan(size) for size in rows)
    parts = tuple(values.to_delayed().reshape(values.numblocks[0]))
    template = values._meta
    if isinstance(template, np.ndarray):  # Dask's has no columns
        width = values.shape[1:]
        template = None if any(map(math.isnan, width)) else np.empty((0, *width), values.dtype)
    elif hasattr(template, "indptr"):
        template = type(template)((0, values.shape[1]), dtype=values.dtype)
    return Pieces(parts, tuple(map(int, rows)) if known else None, template)


def _is_delayed(values: Any) -> bool:
    return is_dask(values) and isinstance(values, dask("delayed").Delayed)


def beside(values: Any, sizes: Sizes, role: str, who: str) -> Pieces:
    """Targets or weights in partitions of the given sizes.

    A Dask array of known sizes is divided again, and an array in memory is cut into pieces. A
    single weight counts for every row.
    """
    if not is_dask(values) and not (isinstance(values, Sequence) and any(map(is_dask, values))):
        if np.ndim(values) == 0 and role == "sample_weight":
            values = np.full(sum(sizes), values)
        if np.ndim(values) == 0:
            raise DataError(
                f"{who}: {role} is of type {type(values).__name__} ({repr(values)[:40]}). Give one "
                "target per row, as an array or a Dask collection."
            )
        _require_rows(len(values), sizes, role, who)
        bounds = pairwise(accumulate(sizes, initial=0))
        cut = values.iloc if hasattr(values, "iloc") else values
        parts = [dask("delayed").delayed(cut[low:high], traverse=False) for low, high in bounds]
        return Pieces(tuple(parts), sizes, cut[:0])
    found = pieces_of(values, role, who)
    if found.sizes is not None and found.sizes != sizes:
        _require_rows(sum(found.sizes), sizes, role, who)
        return pieces_of(values.rechunk({0: sizes}), role, who)
    if len(found.parts) != len(sizes):
        raise DataError(
            f"{who}: X has {len(sizes)} partitions and {role} has {len(found.parts)} of unknown "
            f"length. Take {role} from the same dataframe as X, or let Dask count the rows: "
            f"{role} = {role}.compute_chunk_sizes() for an array, {role}.to_dask_array("
            "lengths=True) for a series."
        )
    return found


def _require_rows(n_rows: int, sizes: Sizes, role: str, who: str) -> None:
    if n_rows != sum(sizes):
        what = {"y": "target"}.get(role, "weight")
        raise DataError(
            f"{who}: Found input variables with inconsistent numbers of samples: X has "
            f"{sum(sizes)} rows, {role} has {n_rows}. Give one {what} per row."
        )
