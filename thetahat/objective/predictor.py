"""f_θ(x) = xᵀβ + b: how raw predictions come from parameters, and gradients go back to them.

θ is flat: the (d, k) coefficients row by row, then the k intercepts; that is, the (d + 1, k) matrix
of an X with a last column of ones, which is never formed. X may be a NumPy array, a CSR array, or a
device array. All sums are in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat import _native
from thetahat.data.arrays import namespace
from thetahat.foundation.products import product
from thetahat.foundation.types import Array, Matrix


@dataclass(frozen=True)
class LinearPredictor:
    """z = Xβ + b, for one output (``n_outputs=0``: z is 1-D) or several columns of them.

    Cost: O(n d) to predict and to pull back (O(nnz) for sparse rows), O(n d²) for a Gram matrix.

    Parameters
    ----------
    n_features : int
        d, the columns of X.
    n_outputs : int
        k, the columns of z; 0 when z is 1-D.
    fit_intercept : bool
        Whether there is a b.

    Examples
    --------
    >>> import numpy as np
    >>> from thetahat.objective.predictor import LinearPredictor
    >>> predictor = LinearPredictor(n_features=2)
    >>> predictor.raw(np.array([[1.0, 2.0]]), np.array([10.0, 1.0, 0.5]))
    array([12.5])
    >>> predictor.split(np.array([10.0, 1.0, 0.5]))
    (array([10.,  1.]), np.float64(0.5))
    """

    n_features: int
    n_outputs: int = 0
    fit_intercept: bool = True

    @property
    def n_parameters(self) -> int:
        """The size of θ."""
        return (self.n_features + self.fit_intercept) * max(1, self.n_outputs)

    @property
    def constant(self) -> float:
        """The entry of the last column, which θ has one more for where there is one."""
        return 1.0

    def zeros(self) -> Array:
        """θ = 0."""
        return np.zeros(self.n_parameters)

    def split(self, theta: Array) -> tuple[Array, Any]:
        """β of shape (d,) or (d, k), and b: a number or (k,), 0 without an intercept."""
        size = self.n_features * max(1, self.n_outputs)
        coef = theta[:size]
        if self.n_outputs:
            coef = coef.reshape(self.n_features, self.n_outputs)
        if not self.fit_intercept:
            return coef, 0.0 * theta[: self.n_outputs] if self.n_outputs else 0.0
        return coef, theta[size:] if self.n_outputs else theta[size]

    def pack(self, coef: Array, intercept: Array | float) -> Array:
        """θ from β and b; b is left out without an intercept."""
        size = self.n_features * max(1, self.n_outputs)
        xp = namespace(coef)
        theta = xp.empty(self.n_parameters, dtype=coef.dtype)
        theta[:size] = coef.reshape(-1)
        if self.fit_intercept:
            theta[size:] = intercept
        return theta

    def from_origin(self, theta: Array, origin: Array) -> Array:
        """θ learned on the rows x − origin, as θ of the rows x themselves."""
        if not origin.any():
            return theta
        coef, level = self.split(theta)
        moved = (origin * coef.T).sum(axis=-1)
        return self.pack(coef, level - moved)

    def raw(self, X: Matrix, theta: Array) -> Array:
        """z = Xβ + b, shape (n,) or (n, k)."""
        coef, intercept = self.split(theta)
        z = product(in_double(X), coef)
        z += intercept
        return z

    def pullback(self, X: Matrix, slope: Array) -> Array:
        """Σ_i ∂z_i/∂θ · slope_i = (Xᵀs, Σs), flat as θ is."""
        X = in_double(X)
        # With few columns of slopes, BLAS is faster when X is the right factor.
        if slope.ndim == 2 and is_array_api_obj(X):
            pulled = product(slope.T, X).T
        else:
            pulled = product(X.T, slope)
        return self.pack(pulled, namespace(slope).sum(slope, axis=0))

    def design(self, X: Matrix) -> Array:
        """[X, 1] itself, dense: ∂z/∂θ for one output."""
        dense = in_double(X if is_array_api_obj(X) else X.toarray())
        if not self.fit_intercept:
            return dense
        xp = array_namespace(dense)
        return xp.concat([dense, xp.ones((dense.shape[0], 1), dtype=dense.dtype)], axis=1)

    def restricted(self, X: Matrix, columns: Array) -> tuple[LinearPredictor, Matrix]:
        """The predictor that has these columns only, and what it sees of X."""
        return replace(self, n_features=len(columns)), X[:, columns]

    def gram(self, X: Matrix, weight: Array) -> Array:
        """Σ_i weight_i x̃_i x̃_iᵀ with x̃ = (x, 1): (d, d), or one larger with an intercept."""
        d, width = self.n_features, self.n_features + self.fit_intercept
        if (rows := _root_weighted(X, weight, width)) is not None:
            # A product of one array with its own transpose is symmetric: BLAS does half the work.
            return product(rows.T, rows)
        xp = array_namespace(weight)
        whole = xp.empty((width, width), dtype=weight.dtype)
        whole[:d, :d] = _weighted_gram(xp, X, weight)
        if self.fit_intercept:
            whole[:d, d] = whole[d, :d] = in_double(X).T @ weight
            whole[d, d] = xp.sum(weight)
        return whole


def _root_weighted(X: Matrix, weight: Array, width: int) -> Array | None:
    """√wᵢ·(xᵢ, 1) for the rows that count, the 1 where there is room.

    None if some wᵢ < 0, or for rows that are sparse or on a device.
    """
    if type(X) is not np.ndarray or X.dtype.char not in "df":
        return None
    rows = np.empty((X.shape[0], width))
    count = _native.root_weighted(X, np.ascontiguousarray(weight, dtype=np.float64), rows)
    return None if count < 0 else rows[:count]


def _weighted_gram(xp: Any, X: Matrix, weight: Array) -> Array:
    if not is_array_api_obj(X):
        gram = np.zeros((X.shape[1],) * 2)
        _native.sparse_gram(X.data, X.indices, X.indptr, weight, gram)
        return gram
    used = weight != 0
    if 8 * int(xp.sum(used)) < 7 * weight.shape[0]:  # worth leaving out: rows that do not count
        X, weight = X[used], weight[used]
    X = in_double(X)
    if xp.all(weight >= 0):
        # A product of one array with its own transpose is symmetric: BLAS does half the work.
        scaled = X * xp.sqrt(weight)[:, None]
        return scaled.T @ scaled
    return X.T @ (X * weight[:, None])


def in_double(X: Matrix) -> Matrix:
    """X in float64, itself where it already is."""
    if type(X) is np.ndarray:  # nearly always, and in every step of every solver
        return X.astype(np.float64, copy=False)
    if is_array_api_obj(X):
        xp = array_namespace(X)
        return xp.astype(X, xp.float64, copy=False)
    return X if X.dtype == np.float64 else X.astype(np.float64)
