"""The best subset of each size: min ‖y − X_A β_A‖² over all A of m columns, for every m.

The search is exact. It walks a tree of deletions and leaves out whatever cannot improve on what it
has (see ``native/best_subsets.cpp``): the sum of squares of a set bounds those of its subsets from
below. It works on the triangular factor of the Gram matrix, columns scaled to unit length and the
strongest first, so that the largest branches are cut early.
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
"""Nodes between two looks at the clock: well under a second."""
RIDGE = 1e-12
"""Added to the unit diagonal, so that dependent columns have a factor too."""


@dataclass(frozen=True)
class BestSubsets:
    """The best set of each size 0, 1, …, and how much of the search was done."""

    rss: Array
    """Residual sum of squares of each size."""
    members: tuple[Array, ...]
    """The columns of each, sorted."""
    nodes: int
    complete: bool


def n_subsets(d: int, largest: int) -> int:
    """How many sets of at most `largest` of d columns there are."""
    return sum(comb(d, m) for m in range(largest + 1))


def best_subsets(gram: Array, c: Array, square: float, largest: int) -> Iterator[BestSubsets]:
    """Yield what is known after each piece of the search; the last is complete.

    `gram` is XᵀX, `c` is Xᵀy and `square` is ‖y‖². Columns of zeros are never chosen, so there may
    be fewer sizes than asked for.
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
        z = _forward(lower, b[order])
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
    """Columns by how much dropping each alone from all would cost: βⱼ²/(A⁻¹)ⱼⱼ, largest first."""
    with one_blas_thread():
        inverse = np.linalg.inv(A)
        cost = (inverse @ b) ** 2 / np.diagonal(inverse)
    return np.argsort(-cost, kind="stable")


def _forward(lower: Array, b: Array) -> Array:
    solve_triangular = scipy_linalg().solve_triangular

    return np.ascontiguousarray(solve_triangular(lower, b, lower=True))
