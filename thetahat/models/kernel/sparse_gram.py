"""Sparse Gram matrices of kernels that are 0 beyond a distance, by the search for neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import row_weights
from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.minkowski import Euclidean
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import rows_as_matrix
from thetahat.models.neighbors.search.index import NeighborIndex, suits_tree

SAMPLE = 64
"""Rows whose neighbours are counted to estimate how many entries are not 0."""
SPARSE_SHARE = 0.1
"""Share of entries that are not 0 up to which a sparse matrix is faster than a dense one."""
BYTES = 40
"""Bytes of an entry while the matrix is made: its value, distance, and numbers of two rows."""
PAIRS_AT_ONCE = 1 << 16
MOST_STEPS = 2000
TOLERANCE = 1e-12


def sparse_gram(kernel: Kernel, X: Any, Z: Any = None) -> Any:
    """Compute the matrix of a kernel that is 0 beyond a distance, as a sparse array.

    Formula: Kᵢⱼ = k(xᵢ, zⱼ), stored for the pairs with ‖xᵢ − zⱼ‖ ≤ R only, where R is the ``reach``
    of the kernel. The pairs are found by a kd-tree if there are few columns. Cost: O(p d) for p
    such pairs and O(n log n) for the search, instead of O(n²d). The memory of the pairs is checked
    first.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a finite ``reach``: ``th.kernels.Wendland``, or its product with others.
    X : array-like of shape (n, d)
        The rows of the matrix.
    Z : array-like of shape (m, d), optional
        The rows that its columns belong to. None means X.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(1000.0)[:, None]
    >>> K = th.sparse_gram(th.kernels.Wendland(2.5), X)
    >>> K.nnz, bool(np.isclose(K[3, 5], th.kernels.Wendland(2.5)([[3.0]], [[5.0]])[0, 0]))
    (4994, True)
    """
    if not isinstance(kernel, Kernel) or not kernel.reach < np.inf:
        raise ParameterError(
            f"sparse_gram: {kernel!r} is not 0 beyond any distance, so that its matrix is dense. "
            "Multiply it with th.kernels.Wendland(radius), or call the kernel itself."
        )
    rows = _dense(rows_as_matrix(X, "sparse_gram: X"))
    if Z is None:
        return gram_within_reach(kernel, rows)
    others = _dense(rows_as_matrix(Z, "sparse_gram: Z"))
    if others.shape[1] != rows.shape[1]:
        raise DataError(
            f"sparse_gram: X has {rows.shape[1]} columns and Z has {others.shape[1]}. Both must "
            "have the same columns."
        )
    return gram_within_reach(kernel, rows, others)


def _dense(X: Matrix) -> Array:
    found: Array = X.toarray() if is_sparse(X) else X
    return found


def expected_share(kernel: Kernel, X: Array) -> float:
    """The share of entries of the Gram matrix that are not 0, from the neighbours of some rows."""
    chosen = np.unique(np.linspace(0, len(X) - 1, SAMPLE).astype(np.intp))
    counts = _index(X).within(X[chosen], kernel.reach, False).counts
    return float(counts.mean()) / len(X)


def gram_within_reach(kernel: Kernel, X: Array, Z: Array | None = None) -> Any:
    """The sparse matrix of k(xᵢ, zⱼ), or the Gram matrix of X, in float64."""
    import scipy.sparse

    index = _index(X if Z is None else Z)
    n, m = len(X), index.n_rows
    chosen = np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.intp))
    expected = index.within(X[chosen], kernel.reach, False).counts.mean() * n
    require_memory(
        int(BYTES * expected),
        f"A sparse kernel matrix of {n} × {m} rows with about {int(expected)} entries",
        "Use a smaller radius, or fewer rows.",
    )
    found = index.within(None if Z is None else X, kernel.reach, False)
    row = np.repeat(np.arange(n), found.counts)
    others = X if Z is None else Z
    values = np.empty(len(row))
    for start in range(0, len(row), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        values[some] = kernel.paired(X[row[some]], others[found.row[some]])
    if Z is None:
        values[row == found.row] = kernel.diagonal(X)
    return scipy.sparse.csr_array((values, found.row, found.offsets), shape=(n, m))


def _index(X: Array) -> NeighborIndex:
    tree = suits_tree(len(X), X.shape[1])
    return NeighborIndex(X, Euclidean(), "kd_tree" if tree else "brute", 30)


def sparse_ridge_coefficients(
    K: Any, y: Array, tau: float, weight: Array | None = None
) -> Array | None:
    """α = S(SKS + τI)⁻¹Sy of shape (n, k), with S = diag(√w), by conjugate gradients.

    None if they do not converge, as for a tiny τ. Cost: O(nnz) per iteration, about √(λ/τ) of them.
    """
    import scipy.sparse
    import scipy.sparse.linalg

    root = np.sqrt(row_weights(weight, len(y)))
    scale = scipy.sparse.diags_array(root)
    system = (scale @ K @ scale + tau * scipy.sparse.eye_array(len(y))).tocsr()
    columns = []
    with one_blas_thread():
        for target in (y * root[:, None]).T:
            found, info = scipy.sparse.linalg.cg(
                system, target, rtol=TOLERANCE, atol=0.0, maxiter=MOST_STEPS
            )
            if info:
                return None
            columns.append(found * root)
    return np.stack(columns, axis=1)
