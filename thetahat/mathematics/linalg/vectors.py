"""Products and norms of vectors and matrices.

    ⟨v, w⟩ = Σ vⱼwⱼ      v ⊗ w = vwᵀ      ‖v‖_p = (Σ |vⱼ|^p)^{1/p}      ‖A‖_F = √(Σ A_jk²)

Vectors are the last axis, so that all rows of a matrix are treated at once. Entries are divided by
the largest one before they are squared, so that norms neither overflow nor vanish.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_square


def inner_product(v: Any, w: Any) -> Array:
    """The inner product of two vectors, or of the rows of two matrices.

    Formula: ⟨v, w⟩ = vᵀw = Σ_j v_j w_j; v and w are orthogonal if it is 0.

    Cost: O(n d) time.

    Parameters
    ----------
    v, w : array-like of shape (d,) or (n, d)
        Two vectors, or matrices with one vector per row; one vector goes with every row.

    Returns
    -------
    float or array of shape (n,)

    Examples
    --------
    >>> import thetahat as th
    >>> float(th.linalg.inner_product([1, 3, 2], [4, -4, 4]))
    0.0
    """
    v, w = (_vectors(each, name, "inner_product") for each, name in ((v, "v"), (w, "w")))
    if v.shape[-1] != w.shape[-1] or (v.ndim == w.ndim == 2 and len(v) != len(w)):
        raise DataError(
            f"inner_product: v has shape {v.shape}, but w has shape {w.shape}. Both need the same "
            "number of entries, and the same number of rows if both are matrices."
        )
    return (v * w).sum(axis=-1)


def outer_product(v: Any, w: Any) -> Array:
    """The outer product of two vectors: a matrix of rank 1.

    Formula: (vwᵀ)_jk = v_j w_k; its trace is vᵀw if both have the same length.

    Cost: O(c d) time and memory.

    Parameters
    ----------
    v : array-like of shape (c,)
        The vector whose entries multiply the rows of the result.
    w : array-like of shape (d,)
        The vector whose entries multiply the columns of the result.

    Returns
    -------
    array of shape (c, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.outer_product([1, 2], [3, 4]).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    v, w = (_vectors(each, name, "outer_product") for each, name in ((v, "v"), (w, "w")))
    if v.ndim != 1 or w.ndim != 1:
        raise DataError(
            f"outer_product: v and w must be vectors, but have the shapes {v.shape} and {w.shape}."
        )
    return v[:, None] * w


def norm(v: Any, p: float = 2) -> Array:
    """The Lp norm of one vector, or of each row of a matrix.

    Formula: ‖v‖_p = (Σ_j |v_j|^p)^{1/p}. p = 2 is the length, p = 1 the sum of the sizes, p = ∞ the
    largest size, and p = 0 the number of entries that are not 0. For p < 1 it is not a norm,
    because the triangle inequality does not hold.

    Cost: O(n d) time.

    Parameters
    ----------
    v : array-like of shape (d,) or (n, d)
        One vector, or a matrix with one vector per row.
    p : float, default=2
        The order of the norm. Larger values give more weight to large entries. Must be at least 0;
        ``np.inf`` gives the largest entry.

    Returns
    -------
    float or array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> [float(th.linalg.norm([3, 0, -4], p)) for p in (0, 1, 2, np.inf)]
    [2.0, 7.0, 5.0, 4.0]
    """
    size = np.abs(_vectors(v, "v", "norm"))
    if not (isinstance(p, Real) and p >= 0):
        raise ParameterError(f"norm: p={p!r} must be a number ≥ 0.")
    if p == 0:
        return np.count_nonzero(size, axis=-1) * 1.0
    if p == 1:
        return size.sum(axis=-1)
    largest = size.max(axis=-1, initial=0.0)
    if p == np.inf:
        return largest
    scale = np.where(largest > 0, largest, 1.0)
    return scale * ((size / scale[..., None]) ** p).sum(axis=-1) ** (1 / p)


def unit_vector(v: Any, p: float = 2) -> Array:
    """The vector of norm 1 in the same direction, or one for each row of a matrix.

    Formula: v/‖v‖_p.

    Cost: O(n d) time.

    Parameters
    ----------
    v : array-like of shape (d,) or (n, d)
        One vector, or a matrix with one vector per row. No vector may be 0.
    p : float, default=2
        The order of the norm, see `norm`. Must be positive.

    Returns
    -------
    array of the shape of v

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.unit_vector([3.0, 0.0, -4.0]).tolist()
    [0.6, 0.0, -0.8]
    """
    v = _vectors(v, "v", "unit_vector")
    if not (isinstance(p, Real) and p > 0):
        raise ParameterError(f"unit_vector: p={p!r} must be a number > 0.")
    largest = np.abs(v).max(axis=-1, initial=0.0)
    if not np.all(largest > 0):
        row = int(np.argmin(np.atleast_1d(largest > 0)))
        where = "v" if v.ndim == 1 else f"row {row} of v"
        raise DataError(f"unit_vector: {where} is 0 and has no direction. Leave it out.")
    scaled = v / largest[..., None]
    return scaled / norm(scaled, p)[..., None]


def frobenius_norm(A: Any) -> float:
    """The length of a matrix as a vector of its entries.

    Formula: ‖A‖_F = √(Σ_jk A_jk²) = √tr(AᵀA) = √(Σ_i sᵢ²), with sᵢ the singular values.

    Cost: O(n d) time.

    Parameters
    ----------
    A : array-like of shape (n, d)
        The matrix, of any shape.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.frobenius_norm([[1.0, 2.0], [2.0, 4.0]])
    5.0
    """
    matrix = np.asarray(A, dtype=np.float64)
    if matrix.ndim != 2:
        raise DataError(f"frobenius_norm: A has shape {matrix.shape}; it must be a matrix.")
    return float(norm(matrix.ravel()))


def trace(A: Any) -> float:
    """The sum of the diagonal of a square matrix.

    Formula: tr A = Σ_j A_jj, which is the sum of the eigenvalues; tr(AB) = tr(BA).

    Cost: O(d) time.

    Parameters
    ----------
    A : array-like of shape (d, d)
        A square matrix; only its diagonal matters.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.trace([[1.0, 7.0], [5.0, 2.0]])
    3.0
    """
    return float(np.trace(as_square(A, who="trace")))


def _vectors(values: Any, name: str, who: str) -> Array:
    vectors = np.asarray(values, dtype=np.float64)
    if vectors.ndim not in (1, 2):
        raise DataError(
            f"{who}: {name} has shape {vectors.shape}; it must be a vector, or a matrix with one "
            "vector per row."
        )
    if not np.isfinite(vectors).all():
        place = np.argwhere(~np.isfinite(vectors))[0].tolist()
        raise DataError(
            f"{who}: {name}{place} is {vectors[tuple(place)]}; all entries must be finite."
        )
    return vectors
