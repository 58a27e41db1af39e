"""Least squares under a kernel in closed form: α̂ = (K + τI)⁻¹y, and its leave-one-out errors.

With row weights wᵢ and S = diag(√wᵢ), the minimum of Σ wᵢ(yᵢ − f(xᵢ) − b)² + τ·αᵀKα over
f(x) = Σ αᵢ k(x, xᵢ) is

    α = S·a,    (SKS + τI)a + b·√w = S·y,    √wᵀa = 0 with an intercept, b = 0 without;

the residuals are yᵢ − f(xᵢ) − b = τ·αᵢ/wᵢ. With G = (SKS + τI)⁻¹, the leverage of row i is
hᵢ = 1 − τGᵢᵢ (without an intercept). The fit without row i has the residual aᵢ/(√wᵢ·Gᵢᵢ) there, so
that nothing is fitted again. One eigendecomposition of SKS serves all τ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.tiled_cholesky import (
    cholesky_in_place,
    cholesky_solve,
    refined_solve,
)


def ridge_coefficients(
    K: Array, y: Array, tau: float, weight: Array | None = None, *, intercept: bool = False
) -> tuple[Array, Array] | None:
    """α of shape (n, k) and b of shape (k,) for targets of shape (n, k); None if K + τI is not PD.

    K is overwritten. All weights must be positive. Cost: O(n³/3) time. A matrix of many rows that
    is far from singular is factored in single precision, which takes memory for half a matrix more.
    """
    root = None if weight is None else np.sqrt(weight)
    if root is not None:
        K *= root
        K *= root[:, None]
        y = y * root[:, None]
    diagonal = np.einsum("ii->i", K)
    size = float(diagonal.max(initial=0.0))
    diagonal += tau
    ones = np.ones(len(y)) if root is None else root
    right = np.column_stack([y, ones]) if intercept else y
    solved = refined_solve(K, right, tau)
    if solved is None:
        if not cholesky_in_place(K):
            return None
        # Pivots at the level of rounding make the solution meaningless.
        if float(diagonal.min()) ** 2 <= 10 * len(K) * float(np.finfo(K.dtype).eps) * size:
            return None
        solved = cholesky_solve(K, right)
    b = np.zeros(y.shape[1])
    if intercept:
        per_unit, solved = solved[:, -1], solved[:, :-1]
        b = (ones[:, None] * solved).sum(axis=0) / (ones * per_unit).sum()
        solved = solved - per_unit[:, None] * b
    return (solved if root is None else solved * root[:, None]), b


@dataclass(frozen=True)
class KernelRidgePath:
    """The fits for all penalties τ, from the eigenvalues and eigenvectors of SKS.

    Cost: one eigendecomposition, O(n³), then O(n² k) for each τ and k targets.
    """

    values: Array
    vectors: Array
    y: Array
    """The targets, of shape (n, k)."""
    root: Array
    """√wᵢ of every row."""

    @classmethod
    def of(cls, K: Array, y: Array, weight: Array | None) -> KernelRidgePath:
        """The path for a Gram matrix, which is overwritten."""
        root = np.sqrt(row_weights(weight, len(y)))
        K *= root
        K *= root[:, None]
        with one_blas_thread():
            values, vectors = scipy_linalg().eigh(
                K, overwrite_a=True, check_finite=False, driver="evd"
            )
        rounding = 10 * len(values) * EPSILON * float(values[-1])
        if values[0] < -max(rounding, 0.0):
            raise DataError(
                "the kernel matrix is not positive semi-definite: its smallest eigenvalue is "
                f"{values[0]:.3g}. Use a sum or product of kernels, or another kernel."
            )
        return cls(np.maximum(values, 0.0), vectors, y, root)

    @cached_property
    def _rotated(self) -> Array:
        with one_blas_thread():
            return self.vectors.T @ (self.y * self.root[:, None])

    def coefficients(self, tau: float) -> Array:
        """α = S(SKS + τI)⁻¹Sy, of shape (n, k)."""
        with one_blas_thread():
            found = self.vectors @ (self._rotated / self._shifted(tau)[:, None])
        return found * self.root[:, None]

    def left_out_residuals(self, tau: float) -> Array:
        """yᵢ − f₋ᵢ(xᵢ) of every row, of shape (n, k): the fit without the row predicts it.

        The row is left out with all its weight. τ must be positive.
        """
        with one_blas_thread():
            inverse = self.vectors**2 @ (1.0 / self._shifted(tau))
        return self.coefficients(tau) / (self.root**2 * inverse)[:, None]

    def _shifted(self, tau: float) -> Array:
        """Λ + τ; without a penalty, directions without variance are left out."""
        shifted = self.values + tau
        rounding = len(shifted) * EPSILON * float(shifted[-1])
        return np.where(shifted > rounding, shifted, np.inf)
