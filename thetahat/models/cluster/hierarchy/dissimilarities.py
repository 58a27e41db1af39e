"""Dissimilarities of all pairs of rows, as the upper triangle of their matrix, row by row."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.cluster.hierarchy.squared_distances import squared_distances
from thetahat.models.neighbors.search.metric import named_distance

PAIRS_AT_ONCE = 1 << 20
_ALMOST_EQUAL = 1e-8
"""Relative difference that rounding may leave between d(x, y) and d(y, x)."""


def distance_of(metric: Any, rows: Array, who: str) -> Distance | None:
    """The distance that `metric` names; None for given dissimilarities or a function of X."""
    if isinstance(metric, str) and metric == "precomputed":
        return None
    if _takes_all_rows(metric):
        return None
    return named_distance(metric, None, 2, who).fitted(rows)


def triangle_of(
    rows: Array, distance: Distance | None, metric: Any, who: str, remedy: str
) -> Array:
    """The dissimilarities between all rows. Cost: O(n² d) time, n²/2 numbers.

    `remedy` is the advice if they do not fit into memory.
    """
    n = rows.shape[0]
    require_memory(
        8 * (n * (n - 1) // 2), f"{who}: the array of dissimilarities of {n} rows", remedy
    )
    if distance is None:
        given = metric(rows) if callable(metric) else rows
        return triangle_of_given(given, n, who)
    if isinstance(distance, Termwise):
        out = _reduced(np.ascontiguousarray(distance.embedded(rows), dtype=np.float64), distance)
        at_once = 1 << 16
        for start in range(0, len(out), at_once):
            part = slice(start, start + at_once)
            out[part] = distance.from_reduced(out[part], rows.shape[1])
        return out
    out = np.empty(n * (n - 1) // 2)
    step = max(1, PAIRS_AT_ONCE // n)
    for start in range(0, n, step):
        block = distance._between_all(rows[start : start + step], rows[start:])
        for i, row in enumerate(block):
            first = start + i
            place = n * first - first * (first + 1) // 2
            out[place : place + n - first - 1] = row[i + 1 :]
    return out


def _reduced(points: Array, distance: Termwise) -> Array:
    """The sums of terms of all pairs, before the root."""
    order, n = distance.order, len(points)
    if order == 2:
        return squared_distances(points)
    out = np.empty(n * (n - 1) // 2)
    _native.triangle_distances(
        points, 1.0 if order is None else float(order), order is None, out, n_threads()
    )
    return out


def triangle_of_given(given: Any, n: int, who: str) -> Array:
    """The upper triangle of a matrix of dissimilarities, which is checked."""
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.shape != (n, n):
        raise DataError(
            f"{who}: Distance matrix should be square, got matrix of shape {matrix.shape}. "
            f"Pass a matrix of shape ({n}, {n})."
        )
    out = np.empty(n * (n - 1) // 2)
    for i in range(n):
        row, column = matrix[i, i + 1 :], matrix[i + 1 :, i]
        _require_dissimilarities(row, column, i, who)
        place = n * i - i * (i + 1) // 2
        out[place : place + n - i - 1] = row
    return out


def _require_dissimilarities(row: Array, column: Array, i: int, who: str) -> None:
    if not row.size:
        return
    least = row.min()
    if not least >= 0:
        j = int(np.flatnonzero(~(row >= 0))[0])
        raise DataError(
            f"{who}: the dissimilarity of rows {i} and {i + 1 + j} is {row[j]:g}. Dissimilarities "
            "must be numbers ≥ 0; turn similarities s into 1 − s or √(2 − 2s)."
        )
    if np.array_equal(row, column):
        return
    with np.errstate(invalid="ignore"):
        uneven = ~(np.abs(row - column) <= _ALMOST_EQUAL * np.maximum(np.abs(row), np.abs(column)))
    uneven &= row != column  # two infinities are equal
    if uneven.any():
        j = int(np.flatnonzero(uneven)[0])
        raise DataError(
            f"{who}: the dissimilarities are not symmetric: {row[j]:g} from row {i} to row "
            f"{i + 1 + j}, but {column[j]:g} back. Use their mean, (D + D.T) / 2."
        )


def _takes_all_rows(metric: Any) -> bool:
    """Whether a function is called with all rows and returns the matrix, as in scikit-learn."""
    if not callable(metric) or isinstance(metric, Distance | type):
        return False
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        each
        for each in parameters
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) not in (1, 2):
        raise ParameterError(
            f"metric={metric!r}: must be a function of two rows, or a function of all rows that "
            f"returns the matrix of dissimilarities; this one takes {len(needed)} arguments."
        )
    return len(needed) == 1
