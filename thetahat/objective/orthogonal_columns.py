"""An orthogonal basis in place of nearly collinear columns, for methods that form XᵀDX.

Products of columns with the condition κ have the condition κ², of which nothing is left in double
precision if κ > 1e8. With X = USVᵀ of columns of equal size, the columns U span the same functions:

    Xβ = Uγ,    γ = SVᵀβ,    β = VS⁻¹γ,

where directions of S near rounding are left out, so that β is the shortest of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

COLLINEAR = 1e-10
"""Eigenvalue of the correlations below which columns are replaced: κ > 1e5."""


@dataclass(frozen=True)
class OrthogonalColumns:
    """Rows in the basis, and the change of coefficients."""

    source: Source
    centre: Array
    forward: Array
    """γ = forward·β."""
    back: Array
    """β = back·γ."""


def orthogonal_columns(source: Source, *, centred: bool) -> OrthogonalColumns | None:
    """The basis, or None if the columns are not nearly collinear, sparse or not in memory.

    Cost: one Gram matrix, O(n d²), and a singular value decomposition if the columns are replaced.
    """
    if not isinstance(source, InMemory) or type(source.X) is not np.ndarray:
        return None
    n, d = source.X.shape
    if d < 2 or n <= d:
        return None
    X = source.X.astype(np.float64)
    weight = source.weight
    counted = np.ones(n, dtype=bool) if weight is None else np.asarray(weight) > 0
    centre = X[counted].mean(axis=0) if centred else np.zeros(d)
    X -= centre
    X[~counted] = 0.0  # which must not hide that the others are collinear
    size = np.abs(X).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    X /= size
    root = np.sqrt(np.mean(X**2, axis=0))
    root = np.where(root > 0, root, 1.0)
    X, size = X / root, size * root
    with one_blas_thread():
        if np.linalg.eigvalsh(X.T @ X / n)[0] > COLLINEAR:
            return None
        U, S, Vt = np.linalg.svd(X, full_matrices=False)
    kept = S > 10 * d * EPSILON * S[0]
    U, S, V = U[:, kept] * np.sqrt(n), S[kept] / np.sqrt(n), Vt[kept].T
    rows = replace(source, X=U, n_features=U.shape[1], dtype=np.dtype(np.float64))
    return OrthogonalColumns(
        rows, centre, (V * size[:, None]).T * S[:, None], V / S / size[:, None]
    )
