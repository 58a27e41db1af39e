"""Rules that an index of neighbours must satisfy, also when it comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.extremes import SMALLEST
from thetahat.data.validation import is_sparse
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.mathematics.distances.minkowski import Minkowski, RootOfSquares, SquaredEuclidean
from thetahat.mathematics.distances.pairs import NanEuclidean
from thetahat.models.neighbors.search.copies import Copies
from thetahat.models.neighbors.search.graph import NeighborGraph

FEW = 64
"""Rows that are looked at first; those of ordinary size differ enough."""


def check_index(index: Any) -> None:
    """Raise an error if the parts of a `NeighborIndex` do not belong together."""
    rows, distance = index.rows, index.distance
    is_matrix = isinstance(rows, np.ndarray) or is_sparse(rows)
    check_rule(
        index,
        is_matrix and rows.ndim == 2 and rows.dtype.char in "fd" and 0 not in rows.shape,
        "rows must be a matrix of floating-point numbers",
    )
    check_rule(
        index, distance is None or isinstance(distance, Distance), "the distance is not known"
    )
    check_rule(
        index,
        distance is not None or rows.shape[0] == rows.shape[1],
        "given distances must be a square matrix",
    )
    values = rows if isinstance(rows, np.ndarray) else rows.data
    may_miss = distance is not None and distance.accepts_missing
    check_rule(
        index,
        not (bool(np.isinf(values).any()) if may_miss else _any_not_finite(values)),
        "rows must hold finite numbers",
    )
    is_tree = isinstance(distance, Termwise) and distance.order is not None
    allowed = ("kd_tree", "brute") if is_tree and not is_sparse(rows) else ("brute",)
    check_rule(index, index.algorithm in allowed, "the algorithm is not known")
    check_rule(index, index.axis in ("widest", "alternating"), "the axis is not known")
    check_rule(index, index.pivot in ("median", "random"), "the pivot is not known")
    for name, least in (("leaf_size", 1), ("random_state", 0)):
        value = getattr(index, name)
        check_rule(
            index,
            isinstance(value, int | np.integer) and not isinstance(value, bool)
            and bool(least <= value < 2**63),
            f"{name} must be a whole number",
        )  # fmt: skip
    if isinstance(distance, Termwise):
        distance.fitted(rows)  # raises an error if its parameters are for other columns
    if index.graph is not None:
        check_rule(
            index,
            isinstance(index.graph, NeighborGraph)
            and isinstance(index.rows, np.ndarray)
            and suits_graph(index.distance)
            and _links_the_rows(index),
            "the graph must belong to the rows and the distance",
        )


def require_visible_differences(rows: Matrix, distance: Distance | None) -> None:
    """Raise an error if all differences of rows vanish in the powers that the distance sums.

    Cost: O(d) unless the first rows are nearly equal, else O(n d).
    """
    power = summed_power(distance)
    if power is None or not _vanishes(rows[:FEW], distance, power)[0]:
        return
    vanishes, largest = _vanishes(rows, distance, power)
    if vanishes and largest > 0:
        raise DataError(
            f"Nearest neighbours: the rows of X differ by so little (up to {largest:.2g} in a "
            f"column) that the powers of their differences underflow to 0 under {distance!r}. "
            "Rescale X, so that differences are near 1."
        )


def require_finite(distance: Array, queries: Array | None = None) -> None:
    """Raise an error for the first query with an infinite distance."""
    if not np.isfinite(distance.max(initial=0.0)):
        query = int(np.argmax(~np.isfinite(distance).all(axis=1)))
        query = query if queries is None else int(queries[query])
        raise DataError(
            f"Nearest neighbours: the distances of query {query} are too large for floating-"
            "point numbers (they overflow to infinity). Scale the columns first, for example "
            "with th.Standardizer."
        )


def summed_power(distance: Distance | None) -> float | None:
    """The power of the differences, if they are summed and are not those of unit vectors."""
    if isinstance(distance, Minkowski):
        return None if distance.p == 1 else distance.p
    return 2.0 if isinstance(distance, RootOfSquares | SquaredEuclidean | NanEuclidean) else None


def _vanishes(rows: Matrix, distance: Distance | None, power: float) -> tuple[bool, float]:
    points = distance.embedded(rows) if isinstance(distance, Termwise) else rows
    with np.errstate(over="ignore", under="ignore"):
        if is_sparse(points):
            spread = _spread_of_columns(points)
        else:
            spread = np.fmax.reduce(points, axis=0) - np.fmin.reduce(points, axis=0)
        largest = float(np.fmax.reduce(spread, initial=0.0))
        return bool(np.float64(largest) ** power < SMALLEST), largest


def _spread_of_columns(rows: SparseMatrix) -> Array:
    """Largest minus smallest entry of each column of CSR rows, zeros included; NaN is left out."""
    n, d = rows.shape
    full = np.bincount(rows.indices, minlength=d) == n
    highest, lowest = np.where(full, -np.inf, 0.0), np.where(full, np.inf, 0.0)
    np.fmax.at(highest, rows.indices, rows.data)
    np.fmin.at(lowest, rows.indices, rows.data)
    return highest - lowest


def _links_the_rows(index: Any) -> bool:
    """Whether a graph links all rows, or all distinct rows, over which the distance is taken."""
    n_links = len(index.graph.links)
    if n_links >= len(index.rows):
        return bool(n_links == len(index.rows))
    return bool(n_links == len(Copies.of(np.asarray(index.distance.embedded(index.rows))).first))


def suits_graph(distance: Distance | None) -> bool:
    """Whether walks through a graph can use the distance: a sum of squares or absolute values."""
    return isinstance(distance, Termwise) and distance.order in (1, 2)


def _any_not_finite(values: Array) -> bool:
    # The sum is finite unless an entry is not, or the sum overflows; look closer only then.
    with np.errstate(over="ignore", invalid="ignore"):
        return not bool(np.isfinite(values.sum()) or np.isfinite(values).all())
