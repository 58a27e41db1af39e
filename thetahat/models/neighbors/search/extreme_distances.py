"""Neighbours at distances whose sums of powers under- or overflow.

Searches compare sums of powers, which are 0 below about 1e-162 and infinite beyond 1e154 for p = 2.
The few pairs that reach these limits are measured again; where a list of neighbours ends at such a
pair, all rows are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Termwise
from thetahat.mathematics.distances.minkowski import SquaredEuclidean
from thetahat.mathematics.distances.remeasured import SMALLEST, measured_again
from thetahat.models.neighbors.search.found import Nearest, Within
from thetahat.models.neighbors.search.index_checks import require_finite, summed_power

ENTRIES_AT_ONCE = 1 << 18


def nearest_with_extremes(
    distance: Termwise, rows: Matrix, points: Matrix, n_columns: int, found: Nearest
) -> Nearest:
    """The nearest rows, from those by reduced distances; ``rows`` and ``points`` are embedded."""
    reduced, row = found.distance, found.row
    exact = distance.from_reduced(reduced, n_columns)
    power = summed_power(distance)
    ordinary = reduced[:, 0].min(initial=1.0) >= SMALLEST and reduced[:, -1].max(initial=0) < np.inf
    if power is not None and not ordinary:
        small, large = reduced < SMALLEST, ~(reduced[:, -1] < np.inf)
        queries = _differing(rows, points, small, row)
        if not (queries.any() or large.any()):  # queries equal to rows are common
            require_finite(exact)
            return Nearest(exact, row)
        open_ = (small[:, -1] & queries) | large
        for query in np.flatnonzero(open_).tolist():
            far = _to_all(distance, power, rows, points[[query]])
            nearest = np.lexsort((np.arange(len(far)), far))[: row.shape[1]]
            exact[query], row[query] = far[nearest], nearest
        for query in np.flatnonzero(queries & ~open_).tolist():
            few = row[query, small[query]]
            far = _to_all(distance, power, rows[few], points[[query]])
            order = np.lexsort((few, far))
            exact[query, : len(few)], row[query, : len(few)] = far[order], few[order]
    require_finite(exact)
    return Nearest(exact, row)


def within_with_extremes(
    distance: Termwise,
    rows: Matrix,
    points: Matrix,
    n_columns: int,
    found: Within,
    radii: Array,
    reduced_radii: Array,
    by_distance: bool,
) -> Within:
    """The rows within the radii, from those by reduced distances."""
    exact = distance.from_reduced(found.distance, n_columns)
    query = np.repeat(np.arange(len(radii)), found.counts)
    if (power := summed_power(distance)) is not None:
        small, large = found.distance < SMALLEST, ~np.isfinite(found.distance)
        again = (reduced_radii < SMALLEST) & (radii > 0)
        again |= ~np.isfinite(reduced_radii) & np.isfinite(radii)
        again[query[large]] = True
        if small.any():
            again[query[small][_pairs_differ(rows, points, query[small], found.row[small])]] = True
        if again.any():
            return _spliced(
                distance, power, rows, points, found, exact, query, radii, again, by_distance
            )
    require_finite(exact[:, None], query)
    return Within(found.counts, found.row, exact)


def _spliced(
    distance: Termwise, power: float, rows: Matrix, points: Matrix, found: Within, exact: Array,
    query: Array, radii: Array, again: Array, by_distance: bool,
) -> Within:  # fmt: skip
    """The same with the rows of some queries measured again."""
    kept = ~again[query]
    parts: list[tuple[Array, Array, Array]] = [(query[kept], found.row[kept], exact[kept])]
    for number in np.flatnonzero(again).tolist():
        far = _to_all(distance, power, rows, points[[number]])
        near = np.flatnonzero(far <= radii[number])
        if by_distance:
            near = near[np.argsort(far[near], kind="stable")]
        parts.append((np.full(len(near), number), near, far[near]))
    query, row, exact = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(query, kind="stable")
    require_finite(exact[order, None], query[order])
    return Within(np.bincount(query, minlength=len(radii)), row[order], exact[order])


def _differing(rows: Matrix, points: Matrix, small: Array, row: Array) -> Array:
    """Queries with a row at reduced distance 0, or nearly so, that is not equal to them."""
    found = np.zeros(len(row), dtype=bool)
    query, place = small.nonzero()
    if query.size:
        found[query[_pairs_differ(rows, points, query, row[query, place])]] = True
    return found


def _pairs_differ(rows: Matrix, points: Matrix, query: Array, row: Array) -> Array:
    step, parts = max(1, ENTRIES_AT_ONCE // rows.shape[1]), []
    for start in range(0, len(query), step):
        some = slice(start, start + step)
        unequal: Any = rows[row[some]] != points[query[some]]
        parts.append(
            np.asarray(unequal.sum(axis=1)).ravel() > 0
            if is_sparse(rows) or is_sparse(points)
            else unequal.any(axis=1)
        )
    return np.concatenate(parts)


def _to_all(distance: Termwise, power: float, rows: Matrix, point: Matrix) -> Array:
    """The distances of one point to some rows."""
    at = _dense(point)
    step = max(1, ENTRIES_AT_ONCE // rows.shape[1])
    parts = [
        measured_again(_dense(rows[start : start + step]), at, power)
        for start in range(0, rows.shape[0], step)
    ]
    found = np.concatenate(parts)
    if isinstance(distance, SquaredEuclidean):
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(found * found)
    return found


def _dense(points: Matrix) -> Array:
    dense = points.toarray() if is_sparse(points) else points
    return np.asarray(dense, dtype=np.float64)
