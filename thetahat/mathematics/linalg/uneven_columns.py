"""Singular values and eigenvalues, also if the columns of X have very different units.

The errors of the usual methods are a share of the largest value, in which columns of small units
are lost: with columns of size 1 and 10⁸, the eigenvalues of XᵀX are 1 and 10¹⁶, and the smaller one
has no correct digit.

`gram_spectrum` has XᵀX alone, which is D C D with the units D of the columns. Jacobi's method finds
each singular value of C^½ D to its own accuracy, which depends on the condition of C alone.

`WideRows` has X itself, with more columns than rows. The eigenvalues of XXᵀ are the squares of the
singular values. If directions are lost in their errors, the singular values are computed from X, at
about ten times the cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array

UNEVEN = 1e3
"""Ratio of the units of columns from which Jacobi's method is used."""
SMALLEST_SHARE = 1e-10
"""Smallest σ² of a direction, as a share of the largest one, that XXᵀ is trusted for."""


def gram_spectrum(
    gram: Array, product: Array, rounding: float = EPSILON
) -> tuple[Array, Array, Array]:
    """Eigenvalues of XᵀX in ascending order, its eigenvectors V, and VᵀXᵀy for the product Xᵀy.

    Eigenvalues at rounding level, d times `rounding`, are 0, and so is VᵀXᵀy there. Cost: O(d³).
    """
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    # Powers of two, so that scaling has no rounding error.
    unit = np.where(size > 0, np.exp2(np.round(np.log2(np.where(size > 0, size, 1.0)))), 1.0)
    filled = unit[size > 0]
    if filled.size and filled.max() > UNEVEN * filled.min():
        return _by_jacobi(gram / unit / unit[:, None], product / unit[:, None], unit, rounding)
    values, vectors = np.linalg.eigh(gram)
    alive = values > len(values) * rounding * max(float(values.max(initial=0.0)), 0.0)
    projected = vectors.T @ product
    return np.where(alive, values, 0.0), vectors, np.where(alive[:, None], projected, 0.0)


def triangle_spectrum(Rx: Array, Ry: Array) -> tuple[Array, Array, Array]:
    """The same from the factors X = Q·Rx and Qᵀy = Ry of the rows, with errors of κε, not κ²ε."""
    left, sizes, right = np.linalg.svd(Rx)
    sizes = np.where(sizes > len(sizes) * EPSILON * sizes[0], sizes, 0.0)
    projected = sizes[:, None] * (left.T @ Ry)
    return sizes[::-1] ** 2, right[::-1].T, projected[::-1]


def _by_jacobi(
    scaled: Array, product: Array, unit: Array, rounding: float
) -> tuple[Array, Array, Array]:
    """The same for D C D, from C and D⁻¹Xᵀy."""
    values, axes = np.linalg.eigh(scaled)
    kept = values > len(values) * rounding * values[-1]
    roots = np.where(kept, np.sqrt(np.maximum(values, 0.0)), 0.0)
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=kept)
    sizes, left, right, work, _, failed = scipy_linalg().lapack.dgejsv(
        roots[:, None] * axes.T * unit, joba=0, jobu=0, jobv=0
    )
    if failed:
        raise np.linalg.LinAlgError(f"LAPACK's gejsv failed with info = {failed}")
    sizes, left, right = (sizes * (work[0] / work[1]))[::-1], left[:, ::-1], right[:, ::-1]
    sizes = np.where(np.arange(len(sizes)) < len(sizes) - kept.sum(), 0.0, sizes)
    return sizes**2, right, sizes[:, None] * (left.T @ (inverse[:, None] * (axes.T @ product)))


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
