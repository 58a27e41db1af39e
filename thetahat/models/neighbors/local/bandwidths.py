"""Bandwidths from the data: rules of thumb, and the smallest leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, isfinite, log, sqrt
from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance
from thetahat.mathematics.distances.minkowski import Minkowski, RootOfSquares
from thetahat.mathematics.smoothing import Gaussian
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.neighbors.search.index import NeighborIndex

MOST_PREDICTED = 2000
"""Rows whose leave-one-out errors are averaged."""
MOST_MEASURED = 300
"""Rows whose distances give the range of the search."""
GRID, STEPS = 20, 7
BEST, FINER = 3, 10
"""The best places of the grid, between whose neighbours so many more places are tried."""
SMALLEST, LARGEST = 1e-150, 1e150
"""Bandwidths whose squares are numbers."""


def rule_of_thumb(
    rule: str, index: NeighborIndex, weight: Array, total: float, kernel: SmoothingKernel, who: str
) -> float:
    """Scott's or Silverman's bandwidth, for the kernel. Cost: O(n d)."""
    distance = index.distance
    if not _is_euclidean(distance):
        raise ParameterError(
            f"{who}: bandwidth={rule!r} is a rule for Euclidean distances, but the distance is "
            f"{distance!r}. Give a number, or bandwidth='leave_one_out'."
        )
    if not isfinite(kernel.canonical_bandwidth()):
        raise ParameterError(
            f"{who}: bandwidth={rule!r} is a rule for kernels with a positive second moment, but "
            f"that of {kernel!r} is 0. Give a number, or bandwidth='leave_one_out'."
        )
    spread = _deviation(index, weight)
    if spread == 0:  # all rows are equal, and every bandwidth gives the same average
        return 1.0
    d = index.rows.shape[1]
    factor = 1.0 if rule == "scott" else (4 / (d + 2)) ** (1 / (d + 4))
    ratio = kernel.canonical_bandwidth(d) / Gaussian().canonical_bandwidth(d)
    return checked(factor * ratio * spread * total ** (-1 / (d + 4)), who)


def checked(bandwidth: float, who: str) -> float:
    """The bandwidth, if sums of squares of rows on its scale are numbers."""
    if not SMALLEST <= bandwidth <= LARGEST:
        raise DataError(
            f"{who}: the columns give a bandwidth of {bandwidth:g}, whose square is not a floating-"
            "point number. Scale the columns first, for example with th.Standardizer."
        )
    return float(bandwidth)


def smallest_error(error: Callable[[float], float], index: NeighborIndex, who: str) -> float:
    """The bandwidth with the smallest leave-one-out error: a grid, then golden sections."""
    low, high = _range(index)
    if not high > 0:
        return 1.0
    checked(low, who), checked(high, who)
    grid = np.linspace(log(low), log(high), GRID)
    errors = [error(exp(place)) for place in grid.tolist()]
    tried = dict(zip(grid.tolist(), errors, strict=True))
    # Kernels with an edge have a rough curve, so that finer grids come before golden sections.
    for best in np.argsort(errors, kind="stable")[:BEST].tolist():
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)])
        for place in np.linspace(low, high, FINER + 2)[1:-1].tolist():
            if place not in tried:
                tried[place] = error(exp(place))
    places = sorted(tried)
    best = min(range(len(places)), key=lambda i: (tried[places[i]], -places[i]))
    left, right = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    golden = (sqrt(5) - 1) / 2
    for _ in range(STEPS):
        lower, upper = right - golden * (right - left), left + golden * (right - left)
        for place in (lower, upper):
            if place not in tried:
                tried[place] = error(exp(place))
        left, right = (left, upper) if tried[lower] <= tried[upper] else (lower, right)
    return exp(min(tried, key=lambda place: (tried[place], -place)))


def spaced(n: int, most: int) -> Array:
    """At most so many row numbers, at equal distances."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def _is_euclidean(distance: Distance | None) -> bool:
    return isinstance(distance, RootOfSquares) or distance == Minkowski(2)


def _deviation(index: NeighborIndex, weight: Array) -> float:
    """√(Σ_j Var(φ_j)/d) of the rows between which distances are Euclidean."""
    points: Any = index.distance.embedded(index.rows)  # type: ignore[union-attr]
    share = weight / weight.sum()
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if is_sparse(points):
            mean = points.T @ share
            squares = float(share @ points.power(2).sum(axis=1)) - float(mean @ mean)
            return sqrt(max(squares, 0.0) / points.shape[1])
        points = np.asarray(points, dtype=np.float64)
        points = points - points[0]
        centred = points - share @ points
        return float(np.sqrt((share @ centred**2).sum() / points.shape[1]))


def _range(index: NeighborIndex) -> tuple[float, float]:
    """Half the smallest and twice the largest distance of two different rows, among some."""
    rows: Matrix = index.rows[spaced(index.n_rows, MOST_MEASURED)]
    rows = np.asarray(rows.toarray() if is_sparse(rows) else rows)
    assert index.distance is not None
    with np.errstate(over="ignore"):
        pairs = index.distance._between_all(rows, rows)
    pairs = pairs[np.isfinite(pairs) & (pairs > 0)]
    if not pairs.size:
        return 0.0, 0.0
    nearest = float(pairs.min()) * (rows.shape[0] / index.n_rows)
    return 0.5 * nearest, 2 * float(pairs.max())
