"""Features of a kernel: with them, a kernel predictor is a linear predictor with a ridge penalty.

For centres z₁, …, z_m with the Gram matrix K = LLᵀ, let φ(x) = L⁻¹(k(z₁, x), …, k(z_m, x)). Then

    f(x) = Σⱼ αⱼ k(x, zⱼ) = βᵀφ(x),    β = Lᵀα,    αᵀKα = ‖β‖²,

so that every loss and every solver for linear predictors works under a kernel. If the centres are
all training rows, this is exact, by the representer theorem: the best function of the whole space
has this form. The features of the training rows are then the rows of L itself. If they are fewer,
φ(x)ᵀφ(z) is Nyström's approximation of k(x, z).

Rows that depend on others (equal rows, or more rows than the kernel has features) are left out of
the centres, which changes no function: Cholesky's method with pivoting finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, parallel_for, scipy_linalg
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.kernels.mercer import check_matrix
from thetahat.mathematics.linalg.tiled_cholesky import cholesky_in_place, pivoted_cholesky
from thetahat.objective.predictor import in_double

LARGEST_VALUE = 1e150
"""Sums of squares of larger values of a kernel overflow."""
ENTRIES = 1 << 19
"""Entries of the features that a thread computes at once: 4 MiB in float64."""
DIAGONAL = 128
"""Columns of L that are solved for at once."""


class FeatureCoefficients(Protocol):
    """Features whose linear functions are sums of kernel functions of centres."""

    @property
    def centres(self) -> Matrix:
        """The rows zⱼ, in float64; for a precomputed kernel the numbers of its columns."""

    @property
    def which(self) -> Array:
        """The numbers of these rows among the training rows."""

    def coefficients(self, beta: Array) -> Array:
        """α with Σⱼ αⱼ k(x, zⱼ) = βᵀφ(x)."""


@dataclass(frozen=True)
class KernelFeatures:
    """The map φ(x) = L⁻¹(k(z₁, x), …, k(z_m, x)) of independent centres zⱼ with K = LLᵀ.

    Cost: O(n m d + n m²) for n rows and m centres.
    """

    kernel: Kernel
    centres: Matrix
    """The rows zⱼ, in float64; for a precomputed kernel the numbers of its columns."""
    which: Array
    """The numbers of these rows among those that were given."""
    factor: Array
    """L, lower triangular."""

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix, which: Array | None = None) -> KernelFeatures:
        """The features with these rows of X as centres, or with all; dependent rows are left out.

        Cost: O(m³) time and at most three matrices of m × m entries at once.
        """
        X = in_double(X)
        which = np.arange(X.shape[0]) if which is None else np.asarray(which)
        require_kernel_matrix(len(which), len(which), np.float64, copies=3)
        K = gram_of(kernel, X, which)
        L = K.copy()
        size = float(np.einsum("ii->i", K).max(initial=0.0))
        tolerance = len(K) * EPSILON * size
        pivots = np.einsum("ii->i", L)
        if cholesky_in_place(L) and float(pivots.min()) ** 2 > 10 * tolerance:
            for row in range(len(L) - 1):  # in place, without another matrix
                L[row, row + 1 :] = 0.0
            return cls(kernel, kernel.rows(X, which), which, L)
        del L, pivots  # before another factor takes their memory
        L, rows, least = pivoted_cholesky(K, tolerance)
        if not size > 0:
            raise not_a_kernel(kernel, gram_of(kernel, X, which))
        if least < -10 * tolerance:
            K = gram_of(kernel, X, which)
            if not check_matrix(K).is_psd:
                raise not_a_kernel(kernel, K)
            # Entries of a narrow kernel have larger rounding errors than those of sums.
            L, rows, _ = pivoted_cholesky(gram_of(kernel, X, which), -10 * least)
        return cls(kernel, kernel.rows(X, which[rows]), which[rows], L)

    @property
    def n_features(self) -> int:
        """The number of centres, which is the number of features."""
        return len(self.factor)

    def __call__(self, X: Matrix) -> Array:
        """φ(x) of every row, of shape (n, m) in float64."""
        X = in_double(X)
        n, m = X.shape[0], self.n_features
        step = max(16, ENTRIES // m)
        found = np.empty((n, m))
        solve = scipy_linalg().solve_triangular

        def fill(start: int) -> None:
            rows = found[start : start + step]
            rows[:] = self.kernel.block(X[start : start + step], self.centres)
            # Forward substitution by columns of L: NumPy's products run on several threads at
            # once, while SciPy's solver, which does not, is left with the diagonal.
            for first in range(0, m, DIAGONAL):
                here = slice(first, first + DIAGONAL)
                if first:
                    rows[:, here] -= rows[:, :first] @ self.factor[here, :first].T
                pivot = self.factor[here, here]
                rows[:, here] = solve(pivot, rows[:, here].T, lower=True, check_finite=False).T

        parallel_for(fill, range(0, n, step), products=float(n) * m * m)
        return found

    def of_rows(self, X: Matrix) -> Array:
        """φ of the rows among which the centres are; if they are all centres, L itself."""
        all_in_order = np.array_equal(self.which, np.arange(X.shape[0]))
        return self.factor if all_in_order else self(X)

    def coefficients(self, beta: Array) -> Array:
        """α = L⁻ᵀβ, with which Σⱼ αⱼ k(x, zⱼ) = βᵀφ(x). Cost: O(m²) per output."""
        with one_blas_thread():
            solve = scipy_linalg().solve_triangular
            return solve(self.factor, beta, lower=True, trans="T", check_finite=False)


def gram_of(kernel: Kernel, X: Matrix, which: Array) -> Array:
    """The Gram matrix of some rows of X, which may be changed; it is checked to be finite."""
    if type(kernel).rows is not Kernel.rows:  # X is the matrix itself
        K = kernel.gram(X)[np.ix_(which, which)]
    else:
        K = kernel.gram(X[which] if len(which) < X.shape[0] else X)
    # Blocks of rows, so that no second matrix is needed.
    for start in range(0, len(K), 512):
        some = K[start : start + 512]
        if -LARGEST_VALUE <= some.min() and some.max() <= LARGEST_VALUE:
            continue
        row, column = np.argwhere(~(np.abs(some) <= LARGEST_VALUE))[0] + [start, 0]
        raise DataError(
            f"{kernel!r} is {K[row, column]:g} for rows {which[row]} and {which[column]}, but must "
            f"be finite and at most {LARGEST_VALUE:g}, as larger squares overflow. Scale the "
            "columns first, or use another kernel."
        )
    return K


def not_a_kernel(kernel: Kernel, K: Array) -> DataError:
    """The error for a matrix with negative eigenvalues, with the smallest of them."""
    found = check_matrix(K)
    if found.largest <= 0 and found.is_psd:
        return DataError(
            f"{kernel!r}: the kernel matrix is 0 for all pairs of rows, so that every function of "
            "it is constant. Use another kernel, or check the columns."
        )
    return DataError(f"{kernel!r}: {found.message}")
