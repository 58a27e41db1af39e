"""Mercer's condition: a function of two rows is a kernel if all its Gram matrices are PSD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import (
    require_kernel_matrix,
    require_symmetric,
    rows_as_matrix,
)
from thetahat.mathematics.kernels.names import is_scikit_learns, suited


@dataclass(frozen=True)
class MercerCheck:
    """The result of ``th.kernels.mercer_check``.

    Formula: a function k is a kernel if cᵀKc ≥ 0 for all c and all rows, that is, if the smallest
    eigenvalue of every Gram matrix K is at least 0. Then K + τI is invertible for all τ > 0. One
    matrix can disprove this, and never prove it for other rows. Cost: O(1).

    Attributes
    ----------
    is_psd : bool
        Whether the matrix is positive semi-definite up to rounding.
    smallest, largest : float
        The smallest and the largest eigenvalue of the matrix.
    tolerance : float
        Negative eigenvalues down to minus this number count as errors of rounding.
    rank : int
        Number of eigenvalues that exceed the tolerance.
    message : str
        The result in a sentence, with a remedy if the matrix is not positive semi-definite.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.mercer_check([[1.0, 2.0], [2.0, 1.0]]).smallest
    -1.0
    """

    is_psd: bool
    smallest: float
    largest: float
    tolerance: float
    rank: int
    message: str


def mercer_check(kernel: Any, X: Any = None) -> MercerCheck:
    """Check whether a Gram matrix is positive semi-definite (Mercer's condition).

    Formula: the smallest eigenvalue of K is at least −n·ε·(largest eigenvalue), the size of
    rounding errors. Cost: O(n³) time and O(n²) memory.

    Parameters
    ----------
    kernel : str, Kernel, callable or array of shape (n, n)
        The kernel, its name, a function K(X, Z) of your own, or a Gram matrix. As in kernel models,
        the bandwidth of a kernel given by name is the standard deviation of the rows of X.
    X : array-like of shape (n, d), optional
        The rows whose Gram matrix is checked. Leave it out if `kernel` is a matrix.

    Returns
    -------
    MercerCheck
        The eigenvalues, the verdict and a message.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.mercer_check(th.kernels.RBF(), [[0.0], [1.0], [1.0]]).rank
    2
    >>> th.kernels.mercer_check(lambda X, Z: -X @ Z.T, [[0.0], [2.0]]).is_psd
    False
    """
    own = callable(kernel) and not isinstance(kernel, Kernel) and not is_scikit_learns(kernel)
    if X is None:
        if own or isinstance(kernel, (str, Kernel)) or is_scikit_learns(kernel):
            raise ParameterError(
                f"mercer_check: the Gram matrix of kernel={kernel!r} needs rows, but X is None. "
                "Pass the rows as X, or a Gram matrix as kernel."
            )
        K = np.asarray(kernel, dtype=np.float64)
        require_symmetric(K, "mercer_check")
        return check_matrix(K)
    rows = rows_as_matrix(X, "mercer_check")
    require_kernel_matrix(rows.shape[0], rows.shape[0], np.float64, copies=2)
    K = np.asarray(kernel(rows, rows)) if own else suited(kernel, rows)(rows)
    require_symmetric(K, "mercer_check")
    return check_matrix(K)


def check_matrix(K: Array) -> MercerCheck:
    """The verdict on a symmetric matrix."""
    with one_blas_thread():
        values = np.linalg.eigvalsh(K.astype(np.float64, copy=False))
    smallest, largest = float(values[0]), float(values[-1])
    size = max(abs(smallest), abs(largest))
    tolerance = 10 * len(K) * float(np.finfo(K.dtype).eps) * size
    is_psd = smallest >= -tolerance
    message = (
        f"The Gram matrix of {len(K)} rows is positive semi-definite: its smallest eigenvalue is "
        f"{smallest:.3g}."
        if is_psd
        else f"The Gram matrix of {len(K)} rows is not positive semi-definite: its smallest "
        f"eigenvalue is {smallest:.3g}, and its largest {largest:.3g}. The function is not a "
        "kernel: use a sum or product of kernels, or the features of th.SimilarityFeatures, which "
        "need no kernel."
    )
    rank = int((values > tolerance).sum())
    return MercerCheck(is_psd, smallest, largest, tolerance, rank, message)
