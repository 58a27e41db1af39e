"""The objective of neighbourhood components analysis, in blocks of rows.

    F(A) = −1/n Σ_i p_i,   p_i = Σ_{j: y_j = y_i} p_ij,   p_ij ∝ exp(−‖Ax_i − Ax_j‖²), p_ii = 0.

With z = Ax and W_ij = p_ij·(1[y_j = y_i] − p_i), whose rows sum to 0, the gradient is

    ∂F/∂Z = −2/n (WZ + WᵀZ − diag(Wᵀ1) Z),   ∂F/∂A = (∂F/∂Z)ᵀ X.

Rows are sorted by class, so that the others of a class are a range of columns and all sums are
matrix products with the block E_ij ∝ p_ij, which stays in the cache. Blocks have a fixed size and
are added in a fixed order: the bits do not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array

BLOCK_ENTRIES = 1 << 18
"""Pairs of one block: two megabytes, which stay in the cache."""


@dataclass(frozen=True)
class NeighborChoice:
    """F(A) for rows X that are sorted by class; `counts` are the sizes of the classes."""

    X: Array
    counts: Array

    convex = False
    description = "the objective of neighbourhood components analysis"

    def value_and_gradient(self, A: Array) -> tuple[float, Array]:
        Z = self.X @ A.T
        n, k = Z.shape
        squares = np.einsum("ij,ij->i", Z, Z)
        right = np.hstack([Z, squares[:, None]])
        with_ones = np.hstack([Z, np.ones((n, 1))])
        toward, chosen = np.zeros((n, k)), 0.0
        back = np.zeros((n, k + 1))

        def of(block: tuple[int, int, int, int]) -> tuple[tuple[int, int], float, Array, Array]:
            return block[:2], *_block(with_ones, right, *block)

        for (begin, end), p, pulled, pushed in ordered_map(of, self._blocks):
            chosen += p
            toward[begin:end] = pulled
            back += pushed
        slope = toward + back[:, :k] - back[:, k:] * Z
        return -chosen / n, (-2.0 / n) * (slope.T @ self.X)

    @cached_property
    def _blocks(self) -> list[tuple[int, int, int, int]]:
        """Ranges of rows within one class, each with the range of the class."""
        step = max(16, BLOCK_ENTRIES // len(self.X))
        ends = np.cumsum(self.counts).tolist()
        return [
            (begin, min(begin + step, high), low, high)
            for low, high in zip([0, *ends[:-1]], ends, strict=True)
            for begin in range(low, high, step)
        ]


def _block(
    with_ones: Array, right: Array, begin: int, end: int, low: int, high: int
) -> tuple[float, Array, Array]:
    """Σ p_i, WZ and Wᵀ[Z, 1] of the rows of a block."""
    own = with_ones[begin:end]
    left = 2.0 * own
    left[:, -1] = -1.0
    E = left @ right.T  # ‖z_i‖² − ‖z_i − z_j‖²
    rows = np.arange(end - begin)
    E[rows, begin + rows] = -np.inf
    E -= E.max(axis=1, keepdims=True)
    np.exp(E, out=E)
    of_class = E[:, low:high]
    everything, inside = E @ with_ones, of_class @ with_ones[low:high]
    total = everything[:, -1:]
    p = inside[:, -1:] / total
    toward = (inside - p * everything)[:, :-1] / total
    share = own / total
    back = E.T @ (-p * share)
    back[low:high] += of_class.T @ share
    return float(p.sum()), toward, back
