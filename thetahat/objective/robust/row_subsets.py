"""Small subsets of rows: random ones, all of them, and the planes through each.

The planes solve least squares for one subset each, of least norm where a subset does not determine
one: θ_s = argmin ‖A_s θ − y_s‖. They are computed for many subsets at once.
"""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np

from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array

ENTRIES = 1 << 18
"""Entries of the subsets that are gathered at once; fixed, so that threads do not matter."""
LARGEST = 1e10
"""Entries of a plane, relative to y, above which its subset may not determine it."""


def random_subsets(n: int, size: int, count: int, random: np.random.Generator) -> Array:
    """`count` random subsets of `size` of n rows, each without repetition: (count, size).

    Cost: O(count·size) for small subsets, O(count·n) for those of more than √n rows.
    """
    if size * size > n:
        step = max(1, ENTRIES // n)
        parts = [
            random.random((min(step, count - start), n)).argpartition(size - 1, axis=1)[:, :size]
            for start in range(0, count, step)
        ]
        return np.concatenate(parts)
    found = random.integers(n, size=(count, size))
    while True:
        ordered = np.sort(found, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not again.size:
            return found
        found[again] = random.integers(n, size=(again.size, size))


def all_subsets(n: int, size: int, count: int) -> Array:
    """All `count` subsets of `size` of n rows, in order. Cost: O(count·size)."""
    flat = (row for subset in combinations(range(n), size) for row in subset)
    return np.fromiter(islice(flat, count * size), dtype=np.intp).reshape(count, size)


def planes_through(A: Array, y: Array, subsets: Array) -> Array:
    """The plane through each subset of the rows: (count, p) or (count, p, k) for k targets.

    Cost: O(count·size·p²).
    """
    size, p = subsets.shape[1], A.shape[1]
    step = max(1, ENTRIES // (size * p))

    def solve(start: int) -> Array:
        rows = subsets[start : start + step]
        left, right = A[rows], y[rows]
        right = right if right.ndim == 3 else right[:, :, None]
        found = _determined(left, right) if size >= p else None
        if found is None:
            return np.linalg.pinv(left) @ right
        with np.errstate(over="ignore"):
            limit = LARGEST * np.abs(right).max(axis=(1, 2), initial=0.0)
        doubtful = ~(np.abs(found).max(axis=(1, 2), initial=0.0) <= limit)
        if doubtful.any():
            found[doubtful] = np.linalg.pinv(left[doubtful]) @ right[doubtful]
        return found

    found = np.concatenate(list(ordered_map(solve, range(0, len(subsets), step))))
    return found if y.ndim == 2 else found[:, :, 0]


def _determined(left: Array, right: Array) -> Array | None:
    """Solutions of square or tall systems; None if one of them is singular."""
    try:
        if left.shape[1] == left.shape[2]:
            return np.linalg.solve(left, right)
        orthogonal, triangular = np.linalg.qr(left)
        return np.linalg.solve(triangular, orthogonal.transpose(0, 2, 1) @ right)
    except np.linalg.LinAlgError:
        return None
