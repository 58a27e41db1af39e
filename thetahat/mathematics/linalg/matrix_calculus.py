"""Quadratic forms and the matrix derivatives used in estimation.

    ∂(xᵀAx)/∂x = (A + Aᵀ)x      ∂(xᵀAx)/∂A = xxᵀ      ∂(log |det K|)/∂K = K⁻ᵀ

The first two give the maximum-likelihood mean of a normal distribution, the last two its
covariance: n K⁻ᵀ = Σ xᵢxᵢᵀ at the best precision matrix K.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_square


def quadratic_form(A: Any, x: Any) -> Array:
    """The quadratic form of one vector, or of each row of a matrix.

    Formula: xᵀAx = Σ_jk A_jk x_j x_k.

    Cost: O(n d²) time, O(n d) memory.

    Parameters
    ----------
    A : array-like of shape (d, d)
        A square matrix; it need not be symmetric.
    x : array-like of shape (d,) or (n, d)
        One vector, or a matrix with one vector per row.

    Returns
    -------
    float or array of shape (n,)

    Examples
    --------
    >>> import thetahat as th
    >>> float(th.linalg.quadratic_form([[2.0, 1.0], [1.0, 2.0]], [1.0, 1.0]))
    6.0
    """
    matrix, vectors = _agreeing(A, x, "quadratic_form")
    return ((vectors @ matrix) * vectors).sum(axis=-1)


def quadratic_form_gradient(A: Any, x: Any, *, wrt: str = "x") -> Array:
    """The gradient of the quadratic form xᵀAx.

    Formula: (A + Aᵀ)x with respect to x, xxᵀ with respect to A.

    Cost: O(n d²) time.

    Parameters
    ----------
    A : array-like of shape (d, d)
        A square matrix; it need not be symmetric.
    x : array-like of shape (d,) or (n, d)
        One vector, or a matrix with one vector per row.
    wrt : {"x", "A"}, default="x"
        The argument with respect to which the form is differentiated.

    Returns
    -------
    array of the shape of x, or of shape (d, d) or (n, d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.quadratic_form_gradient([[2.0, 1.0], [0.0, 2.0]], [1.0, 1.0]).tolist()
    [5.0, 5.0]
    """
    matrix, vectors = _agreeing(A, x, "quadratic_form_gradient")
    if wrt not in ("x", "A"):
        raise ParameterError(f"quadratic_form_gradient: wrt={wrt!r} must be one of 'x', 'A'.")
    if wrt == "x":
        return vectors @ (matrix + matrix.T)
    return vectors[..., :, None] * vectors[..., None, :]


def log_determinant_gradient(K: Any) -> Array:
    """The gradient of the logarithm of the absolute determinant.

    Formula: ∂(log |det K|)/∂K = K⁻ᵀ. The value is ``np.linalg.slogdet(K).logabsdet``.

    Cost: O(d³) time, O(d²) memory.

    Parameters
    ----------
    K : array-like of shape (d, d)
        A square matrix that must be invertible.

    Returns
    -------
    array of shape (d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.log_determinant_gradient([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    matrix = as_square(K, who="log_determinant_gradient")
    s = np.linalg.svd(matrix, compute_uv=False)
    if not s[-1] > len(s) * EPSILON * s[0]:
        raise DataError(
            "log_determinant_gradient: the matrix is singular (its singular values range from "
            f"{s[0]:g} to {s[-1]:g}), so log |det K| has no gradient. Add a small number to its "
            "diagonal."
        )
    return np.linalg.inv(matrix).T


def _agreeing(A: Any, x: Any, who: str) -> tuple[Array, Array]:
    matrix = as_square(A, who=who)
    vectors = np.asarray(x, dtype=np.float64)
    if vectors.ndim not in (1, 2) or vectors.shape[-1] != len(matrix):
        raise DataError(
            f"{who}: A is {len(matrix)} × {len(matrix)} and x has shape {vectors.shape}; x must "
            f"be a vector of length {len(matrix)}, or a matrix with one such vector per row."
        )
    return matrix, vectors
