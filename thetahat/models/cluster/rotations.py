"""Clusters from eigenvectors: the rotation of their columns that is nearest to a partition.

The eigenvectors of k separate groups span the same space as the k vectors that are constant on one
group and 0 elsewhere, so that a rotation R exists for which every row of ZR has one large entry.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array

MAX_ROUNDS = 30
"""Rounds after which labels that still change are taken as they are."""


def in_order_of_rows(labels: Array) -> Array:
    """The same clusters, numbered in the order of their first rows."""
    _, first, found = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[found]


def labels_by_pivots(Z: Array) -> Array:
    """The largest entry of the rotated rows; k rows far apart fix the rotation. Cost: O(n k²).

    A QR factor with pivots chooses the rows, and the polar factor of these is the rotation (Damle,
    Minden and Ying, 2019).
    """
    k = Z.shape[1]
    with one_blas_thread():
        pivots = scipy_linalg().qr(Z.T, mode="economic", pivoting=True)[2]
        U, _, V = scipy_linalg().svd(Z[pivots[:k]].T)
        labels: Array = np.abs(Z @ (U @ V)).argmax(axis=1)
    return labels


def labels_by_turns(Z: Array, random: np.random.Generator, n_init: int = 10) -> Array:
    """Labels and rotation in turns, each the best for the other. Cost: O(n k²) per round.

    Columns have the same length, and then rows have length 1, so that they lie on the sphere (Yu
    and Shi, 2003). The sum Σ_i (ZR)_{i, label_i} rises until the labels stay the same. Of several
    starts the one with the largest sum is kept.
    """
    spread = np.linalg.norm(Z, axis=0)
    Z = Z / np.where(spread > 0, spread, 1.0)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    Z = Z / np.where(length > 0, length, 1.0)
    best: tuple[float, Array] | None = None
    with one_blas_thread():
        for _ in range(n_init):
            found = _turns(Z, _start(Z, random))
            # Sums that differ by rounding are those of the same labels.
            if best is None or found[0] > best[0] + 1e-10 * len(Z):
                best = found
    assert best is not None
    return best[1]


def _turns(Z: Array, rotation: Array) -> tuple[float, Array]:
    """The sum that one start reaches, and its labels."""
    k = Z.shape[1]
    labels: Array = (Z @ rotation).argmax(axis=1)
    total = 0.0
    for _ in range(MAX_ROUNDS):
        sums = np.zeros((k, k))
        np.add.at(sums, labels, Z)
        U, sizes, V = scipy_linalg().svd(sums)
        total = float(sizes.sum())
        found = (Z @ (U @ V).T).argmax(axis=1)
        if np.array_equal(found, labels):
            break
        labels = found
    return total, labels


def _start(Z: Array, random: np.random.Generator) -> Array:
    """k rows that are as orthogonal as possible, the first at random, as columns."""
    rows = [Z[int(random.integers(len(Z)))]]
    overlap = np.zeros(len(Z))
    for _ in range(1, Z.shape[1]):
        overlap += np.abs(Z @ rows[-1])
        rows.append(Z[int(overlap.argmin())])
    return np.array(rows).T
