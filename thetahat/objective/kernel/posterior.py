"""Means and covariances of a Gaussian process given values at some rows: k(x, z) − k(x)ᵀK⁻¹k(z)."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import one_blas_thread, parallel_for, scipy_linalg
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.objective.kernel.expansion import ENTRIES


def moments_given(
    kernel: Kernel,
    centres: Matrix,
    coefficients: Array,
    L: Array,
    X: Matrix,
    scale: Array | None = None,
) -> tuple[Array, Array]:
    """k(x)ᵀc of every row, and k(x, x) − ‖L⁻¹k(x)‖², at least 0.

    LLᵀ is the covariance at the centres. The means are those of `KernelExpansion` with the
    coefficients c, bit by bit; one matrix of k(x) gives both. With `scale`, one number per centre,
    the entries of k(x) are multiplied by it in the variance. Computed in pieces that do not depend
    on the number of threads. Cost: O(n m²).
    """
    variances = np.array(kernel.diagonal(X), dtype=np.float64)
    n, m = X.shape[0], len(L)
    means = np.empty((n, *coefficients.shape[1:]))
    step = max(16, ENTRIES // max(1, m))
    solve = scipy_linalg().solve_triangular

    def fill(start: int) -> None:
        rows = slice(start, start + step)
        across = kernel.block(X if step >= n else X[rows], centres)
        means[rows] = np.dot(across, coefficients)
        if scale is not None:
            across = across * scale
        half = solve(L, across.T, lower=True, check_finite=False)
        variances[rows] -= (half * half).sum(axis=0)

    parallel_for(fill, range(0, n, step), products=float(n) * m * m)
    return means, np.maximum(variances, 0.0, out=variances)


def covariance_given(kernel: Kernel, centres: Matrix, L: Array, X: Matrix) -> Array:
    """k(x, z) − k(x)ᵀK⁻¹k(z) for all pairs of rows, exactly symmetric. Cost: O(n m² + n² m)."""
    joint = kernel.gram(X)
    with one_blas_thread():
        half = scipy_linalg().solve_triangular(
            L, kernel.gram(X, centres).T, lower=True, check_finite=False
        )
        explained = half.T @ half
    joint -= explained
    diagonal = np.einsum("ii->i", joint)
    np.maximum(diagonal, 0.0, out=diagonal)
    return (joint + joint.T) / 2
