"""Singular values of rows with more columns than rows, by the cheapest way that is accurate.

The eigenvalues of XXᵀ are the squares σ² of the singular values, with errors of about ε σ²_max. If
the columns have very different units, or the rows are nearly dependent, directions of X are lost in
these errors. Then the singular values are computed from X itself, at about ten times the cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array

SMALLEST_SHARE = 1e-10
"""Smallest σ² of a direction, as a share of the largest one, that XXᵀ is trusted for."""


@dataclass(frozen=True)
class WideRows:
    """X = U diag(σ) Vᵀ, without the directions at rounding level."""

    squares: Array
    """σ² > 0 in ascending order."""
    left: Array
    """U, with one column per direction."""
    right: Array
    """V, likewise."""

    @classmethod
    def of(cls, X: Array, gram: Array) -> WideRows:
        """Of the rows and their XXᵀ."""
        squares, left = np.linalg.eigh(gram)
        noise, largest = max(X.shape) * EPSILON, max(float(squares[-1]), 0.0)
        alive = squares > noise * largest
        if not alive.any():
            return cls(squares[:0], left[:, :0], X.T @ left[:, :0])
        share = float(squares[alive][0]) / largest
        # An eigenvector of a true zero has an error of up to ε/share towards the others.
        hidden = np.linalg.norm(X.T @ left[:, ~alive], axis=0).max(initial=0.0)
        if share >= SMALLEST_SHARE and hidden <= noise * np.sqrt(largest / share):
            squares, left = squares[alive], left[:, alive]
            return cls(squares, left, X.T @ (left / np.sqrt(squares)))
        left, sizes, right = np.linalg.svd(X, full_matrices=False)
        kept = np.flatnonzero(sizes > noise * sizes[0])[::-1]
        return cls(sizes[kept] ** 2, left[:, kept], right[kept].T)
