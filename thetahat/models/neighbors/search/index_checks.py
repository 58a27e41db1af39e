"""Rules that an index of neighbours must satisfy, also when it comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.models.neighbors.search.graph import NeighborGraph


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
            and len(index.graph.links) == len(index.rows)
            and suits_graph(index.distance),
            "the graph must belong to the rows and the distance",
        )


def suits_graph(distance: Distance | None) -> bool:
    """Whether walks through a graph can use the distance: a sum of squares or absolute values."""
    return isinstance(distance, Termwise) and distance.order in (1, 2)


def _any_not_finite(values: Array) -> bool:
    # The sum is finite unless an entry is not, or the sum overflows; look closer only then.
    with np.errstate(over="ignore", invalid="ignore"):
        return not bool(np.isfinite(values.sum()) or np.isfinite(values).all())
