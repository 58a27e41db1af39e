"""The eigenvalues of XᵀX, also if the columns of X have very different units.

The errors of the usual methods are a share of the largest eigenvalue, in which columns of small
units are lost: with columns of size 1 and 10⁸, the eigenvalues are 1 and 10¹⁶, and the smaller one
has no correct digit. Such a matrix is D C D with the units D of the columns. Jacobi's method finds
each singular value of C^½ D to its own accuracy; it depends on the condition of C alone.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array

UNEVEN = 1e3
"""Ratio of the units of columns from which Jacobi's method is used."""


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
