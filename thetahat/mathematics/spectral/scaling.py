"""Classical scaling: points whose distances are the given ones, from a double-centred matrix.

    K = (I − 11ᵀ/n) A (I − 11ᵀ/n),   A_ij = −d_ij²/2,   z_i = (√λ_1 v_1i, …, √λ_k v_ki)

K holds the scalar products of centred points if the distances are Euclidean; its eigenvectors are
then the principal components. Other dissimilarities have negative eigenvalues as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.mathematics.spectral.eigenvectors import largest_eigenvectors


@dataclass(frozen=True)
class Scaling:
    """The largest eigenvalues of the centred matrix, and what new points need."""

    values: Array
    """In descending order, (k,). Negative values have no direction in the embedding."""
    vectors: Array
    """Of length 1, as columns, (n, k)."""
    means: Array
    """Means of the rows of A, (n,)."""
    square: float
    """‖K‖², the sum of the squares of all eigenvalues."""

    @property
    def points(self) -> Array:
        """z, (n, k); zeros where an eigenvalue is not positive."""
        return self.vectors * np.sqrt(np.maximum(self.values, 0.0))

    def place(self, distances: Array) -> Array:
        """Points for new rows from their distances to the training rows, (m, n) → (m, k).

        z = Λ^{−1/2} Vᵀ(a − ā), where a = −d²/2 and ā are the means of A; V is orthogonal to 1.
        """
        found = distances * distances
        found *= -0.5
        found -= self.means
        roots = np.sqrt(np.maximum(self.values, 0.0))
        centred = self.vectors - self.vectors.mean(axis=0)
        return found @ (centred / np.where(roots > 0, roots, np.inf))


def classical_scaling(
    distances: Array,
    k: int,
    *,
    tol: float = 0.0,
    max_iter: int | None = None,
    whole: bool | None = None,
) -> Scaling:
    """The k largest eigenvalues of the centred matrix. Cost: O(n²) per iteration, or O(n³)."""
    K = np.array(distances, dtype=np.float64, order="C")
    K *= K
    K *= -0.5
    means = K.mean(axis=1)
    K -= means
    K -= means[:, None] - means.mean()
    values, vectors = largest_eigenvectors(K, k, tol=tol, max_iter=max_iter, whole=whole)
    rounding = 10 * len(K) * EPSILON * float(np.abs(K).max(initial=0.0))
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    return Scaling(values, vectors, means, float(np.vdot(K, K)))
