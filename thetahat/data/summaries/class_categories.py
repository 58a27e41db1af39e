"""Counts of the categories of each column in every class, as a mergeable summary.

N_cjk = Σ w over the rows of class c whose column j holds category k. Categories are whole numbers
0, 1, ... stored in floating point; missing values (NaN) are not counted. y holds the codes of the
classes. Merging is exact for whole weights, in any order and grouping. Cost: O(n d) time per block,
and memory for classes times categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.source import Block
from thetahat.data.summaries.class_sums import class_codes
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array

LARGEST_CATEGORY = 2**52
"""Larger categories cannot be distinguished in floating point."""
COPIES = 4
"""Tables of one size that are in memory at once: counts of a block, counts of all rows,
log-probabilities, and those in the order in which predictions read them."""


@dataclass(frozen=True)
class CategoryCounts:
    """The total weight of each class, and of each category of each column in each class."""

    count: Array
    columns: tuple[Array, ...]
    """For each column an array of shape (classes, categories)."""

    def merge(self, other: CategoryCounts) -> CategoryCounts:
        """The counts of both sets of rows."""
        columns = zip(self.columns, other.columns, strict=True)
        return CategoryCounts(self.count + other.count, tuple(_added(a, b) for a, b in columns))


def _added(a: Array, b: Array) -> Array:
    """The sum of two tables, of which one may have more categories."""
    if a.shape[1] < b.shape[1]:
        a, b = b, a
    total = a.copy()
    total[:, : b.shape[1]] += b
    return total


def summarise_categories(
    block: Block,
    n_classes: int,
    schema: Schema,
    places: tuple[int, ...] | None = None,
    who: str = "",
) -> CategoryCounts:
    """The counts of one block, of all columns or of those at `places`."""
    X, code, weight = dense_rows(block), class_codes(block), block.row_weights
    count = np.bincount(code, weights=weight, minlength=n_classes)
    places = tuple(range(X.shape[1])) if places is None else places
    found = []
    sizes = []
    for place in places:
        require_categories(X[:, place], place, block.start, schema, who)
        sizes.append(int(np.nanmax(X[:, place], initial=-1.0)) + 1)
    require_table_memory(sizes, n_classes, [schema.label(place) for place in places], who)
    for place, size in zip(places, sizes, strict=True):
        values = X[:, place]
        known = ~np.isnan(values)
        key = code[known] * size + values[known].astype(np.int64)
        table = np.bincount(key, weights=weight[known], minlength=n_classes * size)
        found.append(table.reshape(n_classes, size))
    return CategoryCounts(count, tuple(found))


def require_table_memory(
    sizes: Sequence[int], n_classes: int, labels: Sequence[str], who: str
) -> None:
    """Require memory for tables of all categories of some columns, before they are allocated."""
    if not sizes:
        return
    most = max(range(len(sizes)), key=sizes.__getitem__)
    require_memory(
        COPIES * 8 * n_classes * sum(sizes),
        f"{who}: tables of {sum(sizes)} categories ({sizes[most]} of them in column "
        f"{labels[most]}) in {n_classes} classes",
        "Number the categories 0, 1, ... without gaps, for example with "
        "sklearn.preprocessing.OrdinalEncoder, and lower min_categories if it is set.",
    )


def require_categories(values: Array, place: int, start: int, schema: Schema, who: str) -> None:
    """Raise an error for entries that are not whole numbers ≥ 0, with row, column and remedy."""
    with np.errstate(invalid="ignore"):
        wrong = ~((values >= 0) & (values == np.floor(values)) & (values < LARGEST_CATEGORY))
    wrong &= ~np.isnan(values)
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    where = f"column {schema.label(place)} holds {values[row]:g} at row {start + row}"
    if values[row] < 0:
        raise DataError(
            f"Negative values in data passed to {who} (input X): {where}, but categories are whole "
            "numbers ≥ 0. Number them 0, 1, ..., for example with "
            "sklearn.preprocessing.OrdinalEncoder."
        )
    if values[row] >= LARGEST_CATEGORY:
        raise DataError(
            f"{who}: {where}, but categories are whole numbers from 0 to {LARGEST_CATEGORY - 1}. "
            "Number them 0, 1, ... without gaps, for example with "
            "sklearn.preprocessing.OrdinalEncoder."
        )
    raise DataError(
        f"{who}: {where}, but categories are whole numbers 0, 1, ... Number them with "
        "sklearn.preprocessing.OrdinalEncoder, or use NaiveBayes for columns of numbers."
    )
