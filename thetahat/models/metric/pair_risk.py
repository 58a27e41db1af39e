"""The convex objective of a metric from pairs of rows, over positive semidefinite matrices.

    F(M, b) = Σ_p w_p ℓ(y_p, b − δ_pᵀMδ_p)/Σ_p w_p + α·tr M,   M ⪰ 0,

with δ_p the difference of the rows of pair p, y_p = +1 if they are similar and −1 if not, and the
logistic loss. The raw prediction is linear in (M, b). The trace and the constraint together have a
proximal step in closed form: eigenvalues are lowered by α·t and cut off at 0, which makes M low in
rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.threads import one_blas_thread, ordered_map
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.margin import SignLogistic

BLOCK_ENTRIES = 1 << 17
ZERO = 1e-12
"""Eigenvalues below this share of the largest one count as 0."""


@dataclass(frozen=True)
class PairRisk:
    """F at θ = (entries of M, b)."""

    differences: Array
    """(m, d)."""
    signs: Array
    weights: Array
    """Positive, with sum 1."""
    alpha: float

    description = "the logistic loss of pairs under a metric"

    def start(self) -> Array:
        return np.zeros(self.differences.shape[1] ** 2 + 1)

    def matrix(self, theta: Array) -> Array:
        d = self.differences.shape[1]
        M = theta[:-1].reshape(d, d)
        return (M + M.T) / 2

    def value(self, theta: Array) -> float:
        return self.smooth_value_and_gradient(theta)[0] + self.nonsmooth_value(theta)

    def smooth_value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        M, b, loss = self.matrix(theta), theta[-1], SignLogistic()
        step = max(64, BLOCK_ENTRIES // self.differences.shape[1])

        def of(begin: int) -> tuple[float, Array, float]:
            some = slice(begin, begin + step)
            delta, y, w = self.differences[some], self.signs[some], self.weights[some]
            z = b - np.einsum("ij,ij->i", delta @ M, delta)
            slope = w * loss.gradient(y, z)
            return float(w @ loss.value(y, z)), delta.T @ (delta * slope[:, None]), slope.sum()

        value, gradient = 0.0, np.zeros_like(theta)
        for part, by_matrix, by_threshold in ordered_map(of, range(0, len(self.signs), step)):
            value += part
            gradient[:-1] -= by_matrix.ravel()
            gradient[-1] += by_threshold
        return value, gradient

    def nonsmooth_value(self, theta: Array) -> float:
        return self.alpha * float(np.trace(self.matrix(theta)))

    def prox(self, theta: Array, step: float) -> Array:
        with one_blas_thread():
            values, vectors = np.linalg.eigh(self.matrix(theta))
            values = np.maximum(values - step * self.alpha, 0.0)
            M = (vectors * values) @ vectors.T
        return np.append(M.ravel(), theta[-1])

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Distance from −∇S to ∂R: G = ∇S + αI must be 0 on the range of M, and ⪰ 0 elsewhere."""
        with one_blas_thread():
            values, vectors = np.linalg.eigh(self.matrix(theta))
            G = self.matrix(gradient) + self.alpha * np.eye(len(values))
            G = vectors.T @ G @ vectors
            null = values <= ZERO * max(float(values[-1]), 1e-300)
            inside = np.minimum(np.linalg.eigvalsh(G[np.ix_(null, null)]), 0.0)
            G[np.ix_(null, null)] = 0.0
        return float(np.sqrt((G**2).sum() + (inside**2).sum() + gradient[-1] ** 2))
