"""Least squares under a kernel in closed form: α̂ = (K + τI)⁻¹y, and its leave-one-out errors.

With row weights wᵢ and S = diag(√wᵢ), the minimum of Σ wᵢ(yᵢ − f(xᵢ) − b)² + τ·αᵀKα over
f(x) = Σ αᵢ k(x, xᵢ) is

    α = S·a,    (SKS + τI)a + b·√w = S·y,    √wᵀa = 0 with an intercept, b = 0 without;

the residuals are yᵢ − f(xᵢ) − b = τ·αᵢ/wᵢ. With G = (SKS + τI)⁻¹, the leverage of row i is
hᵢ = 1 − τGᵢᵢ (without an intercept). The fit without row i has the residual aᵢ/(√wᵢ·Gᵢᵢ) there, so
that nothing is fitted again. One eigendecomposition of SKS serves all τ.

For a very small τ and a singular K (a linear kernel, repeated rows), the part of y outside of the
range of K would have the coefficients y/τ. They cancel in every prediction, because Kv = 0 means
that the function Σ vᵢ k(·, xᵢ) is 0, but only up to rounding, which they magnify. There the
eigenvectors whose eigenvalues are at the level of rounding are left out, as for τ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import interruptible, one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.kernels.mercer import check_matrix
from thetahat.mathematics.linalg.tiled_cholesky import (
    cholesky_in_place,
    cholesky_solve,
    refined_solve,
)

NEARLY_SINGULAR = 1e-10
"""Reciprocal condition number of K + τI below which K's directions without variance are left out:
a Cholesky factor would keep fewer than about six digits of the predictions."""
SMALL_PIVOT = 1e-5
"""Share of the diagonal below which a pivot makes the condition number worth an estimate. The least
eigenvalue is rarely smaller than the least pivot by more than a factor of n."""

LEAST_PART = 1e-4
"""Share of a row in the directions without variance from which it is no rounding error."""
POWER_STEPS = 5
"""Products with A after which its norm is known to within a small factor."""


class RidgeSolution(NamedTuple):
    """α of shape (n, k) and b of shape (k,) for targets of shape (n, k)."""

    coefficients: Array
    intercept: Array
    solver: str

    @property
    def reason(self) -> str:
        """Why this solver was used."""
        if self.solver == "cholesky":
            return "squared loss with one penalty: one Cholesky factor of K + τI"
        if self.solver == "least_norm":
            return "K + τI is singular: the solution of least norm from eigenvalues"
        return "K + τI is nearly singular: directions in which K has no variance are left out"


def ridge_coefficients(
    K: Array, y: Array, tau: float, weight: Array | None = None, *, intercept: bool = False
) -> RidgeSolution | None:
    """The solution for targets of shape (n, k); None if K + τI is not positive definite.

    K is overwritten. All weights must be positive. Cost: O(n³/3) time. A matrix of many rows that
    is far from singular is factored in single precision. One that is close to singular is
    decomposed into eigenvectors, which takes two matrices more.
    """
    root = None if weight is None else np.sqrt(weight)
    if root is not None:
        K *= root
        K *= root[:, None]
        y = y * root[:, None]
    diagonal = np.einsum("ii->i", K)
    size = float(diagonal.max(initial=0.0))
    # The trace bounds the largest eigenvalue, so that ordinary penalties need no further test.
    is_small = tau <= NEARLY_SINGULAR * float(diagonal.sum())
    diagonal += tau
    ones = np.ones(len(y)) if root is None else root
    right = np.column_stack([y, ones]) if intercept else y
    solved = refined_solve(K, right, tau)
    if solved is None:
        if not cholesky_in_place(K):
            return None
        # Pivots at the level of rounding make the solution meaningless.
        pivot = float(diagonal.min()) ** 2
        if pivot <= 10 * len(K) * float(np.finfo(K.dtype).eps) * size:
            return None
        suspect = is_small and pivot < SMALL_PIVOT * size
        if suspect and _reciprocal_condition(K) < NEARLY_SINGULAR:
            require_kernel_matrix(len(K), len(K), K.dtype, copies=3)
            L = np.tril(K)
            np.dot(L, L.T, out=K)
            del L  # before eigenvectors take its memory
            diagonal -= tau
            solved, b = _by_eigenvectors(K, y, tau, ones if intercept else None)
            return RidgeSolution(solved if root is None else solved * root[:, None], b, "eigen")
        solved = cholesky_solve(K, right)
    b = np.zeros(y.shape[1])
    if intercept:
        per_unit, solved = solved[:, -1], solved[:, :-1]
        b = (ones[:, None] * solved).sum(axis=0) / (ones * per_unit).sum()
        solved = solved - per_unit[:, None] * b
    return RidgeSolution(solved if root is None else solved * root[:, None], b, "cholesky")


def least_norm_coefficients(
    K: Array, y: Array, tau: float, weight: Array | None = None, *, intercept: bool = False
) -> RidgeSolution | None:
    """The same where rounding errors make K + τI singular: directions at their level are left out.

    None if K has larger negative eigenvalues. K is overwritten. Cost: O(n³), for two matrices more.
    """
    require_kernel_matrix(len(K), len(K), K.dtype, copies=3)
    root = np.sqrt(row_weights(weight, len(y)))
    if not check_matrix(K).is_psd:
        return None
    K *= root
    K *= root[:, None]
    solved, b = _by_eigenvectors(K, y * root[:, None], tau, root if intercept else None)
    return RidgeSolution(solved * root[:, None], b, "least_norm")


def _reciprocal_condition(L: Array) -> float:
    """An estimate of 1/(‖A‖₂‖A⁻¹‖₁) for A = LLᵀ. Cost: O(n²).

    Only the lower triangle of L is read; its transpose has the memory order of LAPACK.
    """
    linalg, upper = scipy_linalg(), L.T
    with one_blas_thread():
        along, norm = np.ones(len(L)), 1.0
        for _ in range(POWER_STEPS):
            along = linalg.blas.dtrmv(upper, linalg.blas.dtrmv(upper, along / norm), trans=1)
            norm = float(np.linalg.norm(along))
        return float(linalg.lapack.dpocon(upper, norm, uplo="U")[0])


def _by_eigenvectors(K: Array, y: Array, tau: float, ones: Array | None) -> tuple[Array, Array]:
    """a and b, without the directions in which K has no variance; K is overwritten.

    The intercept's condition √wᵀa = 0 makes it a problem in the complement of u = √w/‖√w‖: with
    P = I − uuᵀ, (PKP + τI)a = Py and b = uᵀ(y − Ka)/‖√w‖. If PKPv = 0 there, then Kv = 0 as well,
    so that what is left out does not change predictions.
    """
    if ones is None:
        return _spectral_solution(*_spectrum(K), y, tau), np.zeros(y.shape[1])
    length = float(np.linalg.norm(ones))
    u = (ones / length)[:, None]
    with one_blas_thread():
        along = np.dot(K, u)
        K -= u * along.T
        K -= (along - u * np.dot(u.T, along)) * u.T  # now PKP
        level = float(np.dot(u.T, along)[0, 0])
        solved = _spectral_solution(*_spectrum(K), y - u * np.dot(u.T, y), tau, level)
        solved -= u * np.dot(u.T, solved)  # rounding errors of large rows leave a part of u
        b = (np.dot(u.T, y) - np.dot(along.T, solved))[0] / length
    return solved, b


def _spectrum(K: Array) -> tuple[Array, Array]:
    """Eigenvalues in rising order and eigenvectors of K, which is overwritten.

    The memory order of LAPACK is that of the transpose, which needs no copy: two matrices more are
    enough.
    """

    def decompose() -> tuple[Array, Array]:
        with one_blas_thread():
            values, vectors = scipy_linalg().eigh(
                K.T, overwrite_a=True, check_finite=False, driver="evd"
            )
        return values, vectors

    return interruptible(decompose, float(len(K)) ** 3)


def _spectral_solution(
    values: Array, vectors: Array, y: Array, tau: float, level: float = 0.0
) -> Array:
    """Σ v·(vᵀy)/(λ + τ) over the eigenvectors v with λ above rounding.

    `level` is the variance of a direction that was removed; rounding is relative to it as well.
    """
    seen = values > max(_rounding(values) + len(values) * EPSILON * level, 0.0)
    axes = vectors[:, seen]
    with one_blas_thread():
        return np.dot(axes, np.dot(axes.T, y) / (values[seen, None] + tau))


def _rounding(values: Array) -> float:
    """The level at which computed eigenvalues, in rising order, are rounding errors."""
    return len(values) * EPSILON * float(values[-1])


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
        values, vectors = _spectrum(K)
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
        """α = S(SKS + τI)⁻¹Sy, of shape (n, k).

        For a τ that is very small for K, directions without variance are left out.
        """
        shifted = self.values + tau
        if tau < NEARLY_SINGULAR * float(shifted[-1]):
            shifted = np.where(self.values > _rounding(self.values), shifted, np.inf)
        return self._by_weights(shifted)

    def left_out_residuals(self, tau: float) -> Array:
        """yᵢ − f₋ᵢ(xᵢ) of every row, of shape (n, k): the fit without the row predicts it.

        The row is left out with all its weight. τ must be positive. Where it is so small that the
        eigenvalues at the level of rounding compare with it, they count as 0: the residual is
        aᵢ/(√wᵢ·Gᵢᵢ) for τ → 0, a ratio of sums over the directions that K does not see. A row that
        has no part in them, up to rounding, is left out of the others.
        """
        values = np.where(self.values > _rounding(self.values), self.values, 0.0)
        found = self._ratio(values + tau)
        unseen = values == 0
        if tau < NEARLY_SINGULAR * float(self.values[-1]) and unseen.any():
            part = (self.vectors[:, unseen] ** 2).sum(axis=1)
            # Rounding errors mix directions the more, the less their eigenvalues differ.
            mixed = _rounding(self.values) / float(values[~unseen].min())
            fitted = part <= min(mixed * mixed, LEAST_PART)
            found[fitted] = self._ratio(np.where(unseen, np.inf, values + tau))[fitted]
        return found

    def _ratio(self, shifted: Array) -> Array:
        """aᵢ/(√wᵢ·Gᵢᵢ) of every row, with the eigenvalues λ + τ in units of the least."""
        shares = float(shifted.min()) / shifted
        with one_blas_thread():
            inverse = self.vectors**2 @ shares
            found = self.vectors @ (self._rotated * shares[:, None])
        scale = (self.root * inverse)[:, None]
        # A row that no other row says anything of is predicted as 0.
        return np.where(scale > 0, found / np.where(scale > 0, scale, 1.0), self.y)

    def _by_weights(self, shifted: Array) -> Array:
        with one_blas_thread():
            found = self.vectors @ (self._rotated / shifted[:, None])
        return found * self.root[:, None]
