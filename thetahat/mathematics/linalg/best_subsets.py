"""The best subset of each size: min ‖y − X_A β_A‖² over all A of m columns, for every m.

The search is exact. It visits a tree of deletions and skips branches that cannot improve the best
sets found so far (see ``native/sparse/best_subsets.cpp``): the residual sum of squares of a set is
a lower bound for those of its subsets. It works on the triangular factor of the Gram matrix.
Columns are scaled to unit length and ordered by decreasing importance, so that large branches are
skipped early.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array

NODES_AT_ONCE = 200_000
"""Number of nodes between two checks of the elapsed time: well under a second."""
RIDGE = 1e-12
"""Added to the unit diagonal, so that a factor exists for linearly dependent columns too."""


@dataclass(frozen=True)
class BestSubsets:
    """The best set of each size 0, 1, …, and the progress of the search."""

    rss: Array
    """Residual sum of squares of the best set of each size."""
    members: tuple[Array, ...]
    """The sorted column numbers of the best set of each size."""
    nodes: int
    complete: bool


def n_subsets(d: int, largest: int) -> int:
    """The number of sets of at most `largest` of d columns."""
    return sum(comb(d, m) for m in range(largest + 1))


def best_subsets(gram: Array, c: Array, square: float, largest: int) -> Iterator[BestSubsets]:
    """Yield the result after each piece of the search; the last one is complete.

    `gram` is XᵀX, `c` is Xᵀy and `square` is ‖y‖². Columns of zeros are never chosen, so there may
    be fewer sizes than requested.
    """
    length = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    alive = np.flatnonzero(length > 0)
    unit = float(np.sqrt(square)) if square > 0 else 1.0
    largest = min(largest, alive.size)
    if not largest:
        yield BestSubsets(np.array([square]), (np.zeros(0, dtype=np.int64),), 0, True)
        return
    scale = length[alive]
    A = gram[np.ix_(alive, alive)] / scale / scale[:, None]
    np.fill_diagonal(A, 1.0 + RIDGE * alive.size)
    b = c[alive] / scale / unit
    order = _strongest_first(A, b)
    with one_blas_thread():
        lower = np.linalg.cholesky(A[np.ix_(order, order)])
        z = np.ascontiguousarray(scipy_linalg().solve_triangular(lower, b[order], lower=True))
    d = alive.size
    cursor = np.zeros(d + 1, dtype=np.int64)
    rss = np.full(largest + 1, np.inf)
    rss[0] = 1.0 if square > 0 else 0.0
    members = np.zeros((largest + 1, largest), dtype=np.int64)
    factor, left, nodes = np.ascontiguousarray(lower.T), max(0.0, rss[0] - float(z @ z)), 0
    while cursor[0] >= 0:
        nodes += _native.best_subsets(factor, z, left, largest, cursor, rss, members, NODES_AT_ONCE)
        yield BestSubsets(
            rss * unit**2,
            tuple(np.sort(alive[order[members[m, :m]]]) for m in range(largest + 1)),
            nodes,
            bool(cursor[0] < 0),
        )


def _strongest_first(A: Array, b: Array) -> Array:
    """Columns ordered by the increase βⱼ²/(A⁻¹)ⱼⱼ of the error when dropped, largest first."""
    with one_blas_thread():
        inverse = np.linalg.inv(A)
        cost = (inverse @ b) ** 2 / np.diagonal(inverse)
    return np.argsort(-cost, kind="stable")
