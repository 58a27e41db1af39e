"""Predictors f_θ: raw predictions from parameters, and gradients with respect to them.

A predictor is the function class of a risk. It does not depend on y, a loss or a penalty. Its type
shows what it provides; some methods of the risk need more than `Predictor`:

======================  =======================================================================
`Predictor`             ``raw(X, θ)``, ``pullback(X, slope, θ)`` and ``n_parameters``
`LinearInParameters`    also z = design(X)·θ: ``design`` and ``gram``, for Hessians
`Restrictable`          also ``restricted`` to some columns of X, for coordinate methods
`LinearPredictor`       z = Xβ + b, for the compiled passes and the dual forms
======================  =======================================================================

θ is flat. X is a block of rows: a NumPy array, a CSR array, or a device array. All sums are in
float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat import _native
from thetahat.data.arrays import namespace, sparse_pullback
from thetahat.foundation.products import product
from thetahat.foundation.threads import WORTH_SHARING, n_threads
from thetahat.foundation.types import Array, Matrix, SparseMatrix

SPAN = 2048
"""Rows whose products are added up by one thread."""


class Predictor(ABC):
    """Base class of predictors z = f_θ(x), row by row; concrete ones are frozen dataclasses."""

    n_outputs: int = 0
    """Columns of z; 0 when z is 1-D."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The size of θ."""

    @abstractmethod
    def raw(self, X: Array, theta: Array) -> Array:
        """z, shape (n,) or (n, k)."""

    @abstractmethod
    def pullback(self, X: Array, slope: Array, theta: Array) -> Array:
        """Σ_i ∂z_i/∂θ · slope_i at θ, flat as θ is; `slope` has the shape of z."""

    def raw_and_pullback(self, X: Array, theta: Array) -> tuple[Array, Callable[[Array], Array]]:
        """z, and the function slope ↦ Σ_i ∂z_i/∂θ · slope_i.

        A network overrides this to keep the activations of its layers for the backward pass.
        """
        return self.raw(X, theta), lambda slope: self.pullback(X, slope, theta)

    def zeros(self) -> Array:
        """θ = 0."""
        return np.zeros(self.n_parameters)

    def start(self) -> Array:
        """The starting point of solvers: θ = 0, unless the gradient vanishes there."""
        return self.zeros()

    def split(self, theta: Array) -> tuple[Array, Any]:
        """The penalised parameters, in their shape, and the free ones."""
        return theta, theta[:0]

    def pack(self, coef: Array, free: Array | float) -> Array:
        """θ from penalised and free parameters; `free` may be one number for all."""
        return coef.reshape(-1)

    @property
    def absorbs_shifts(self) -> bool:
        """Whether a fit to the rows x − centre is a fit to the rows x with another intercept."""
        return False


class LinearInParameters(Predictor):
    """z = design(X)·θ: ∂z/∂θ does not depend on θ, so the Hessian of the risk needs only ℓ″.

    With k outputs, θ is the matrix of (columns of the design) × k, flat row by row. A class must
    define `design` and `n_parameters`; it overrides the rest if it does not need the matrix.
    """

    @abstractmethod
    def design(self, X: Array) -> Array:
        """The dense matrix whose rows, times θ, are the raw predictions."""

    def raw(self, X: Array, theta: Array) -> Array:
        """z = design(X)·θ."""
        by_output = theta.reshape(-1, self.n_outputs) if self.n_outputs else theta
        return product(self.design(X), by_output)

    def pullback(self, X: Array, slope: Array, theta: Array | None = None) -> Array:
        """design(X)ᵀ·slope, for any θ."""
        return product(self.design(X).T, slope).reshape(-1)

    def gram(self, X: Array, weight: Array) -> Array:
        """Σ_i weight_i x̃_i x̃_iᵀ over the rows x̃ of the design."""
        rows = self.design(X)
        return product(rows.T, rows * weight[:, None])


class Restrictable(LinearInParameters):
    """A predictor that can be restricted to some columns of X.

    Entry (j, c) of θ multiplies column j in output c and has index j·k + c; entries from
    n_features·k on belong to no column.
    """

    n_features: int
    """The number of columns that `restricted` can select from."""

    @abstractmethod
    def restricted(self, X: Array, columns: Array) -> tuple[LinearInParameters, Array]:
        """The predictor of these columns only, and the part of X that it uses."""


@dataclass(frozen=True)
class LinearPredictor(Restrictable):
    """z = Xβ + b, for one output (``n_outputs=0``: z is 1-D) or k columns of them.

    θ is the (d, k) coefficients row by row, then the k intercepts; that is, the (d + 1, k) matrix
    of an X with a last column of ones, which is never formed. The intercepts are not penalised.

    Cost: O(n d) to predict and to pull back (O(nnz) for sparse rows), O(n d²) for a Gram matrix.

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
        """The value of the additional last column of X, for which θ has one more entry."""
        return 1.0

    def split(self, theta: Array) -> tuple[Array, Any]:
        """β of shape (d,) or (d, k), and b: a number or (k,), 0 without an intercept."""
        size = self.n_features * max(1, self.n_outputs)
        coef = theta[:size]
        if self.n_outputs:
            coef = coef.reshape(self.n_features, self.n_outputs)
        if not self.fit_intercept:
            return coef, 0.0 * theta[: self.n_outputs] if self.n_outputs else 0.0
        return coef, theta[size:] if self.n_outputs else theta[size]

    def pack(self, coef: Array, free: Array | float) -> Array:
        """θ from β and b; without an intercept b is ignored."""
        size = self.n_features * max(1, self.n_outputs)
        xp = namespace(coef)
        theta = xp.empty(self.n_parameters, dtype=coef.dtype)
        theta[:size] = coef.reshape(-1)
        if self.fit_intercept:
            theta[size:] = free
        return theta

    @property
    def absorbs_shifts(self) -> bool:
        """Whether there is an intercept, which absorbs shifts of the columns."""
        return self.fit_intercept

    def raw(self, X: Matrix, theta: Array) -> Array:
        """z = Xβ + b, shape (n,) or (n, k)."""
        coef, intercept = self.split(theta)
        z = product(in_double(X), coef)
        z += intercept
        return z

    def pullback(self, X: Array, slope: Array, theta: Array | None = None) -> Array:
        """Σ_i ∂z_i/∂θ · slope_i = (Xᵀs, Σs), flat as θ is; the same at every θ."""
        if (pulled := sparse_pullback(X, slope)) is not None:
            return self.pack(pulled, slope.sum())
        X = in_double(X)
        # With few columns of slopes, BLAS is faster when X is the right factor.
        if slope.ndim == 2 and is_array_api_obj(X):
            pulled = product(slope.T, X).T
        else:
            pulled = product(X.T, slope)
        return self.pack(pulled, namespace(slope).sum(slope, axis=0))

    def design(self, X: Matrix) -> Array:
        """[X, 1] itself, dense: ∂z/∂θ for one output."""
        rows: Any = X
        dense = in_double(rows if is_array_api_obj(X) else rows.toarray())
        if not self.fit_intercept:
            return dense
        xp = array_namespace(dense)
        return xp.concat([dense, xp.ones((dense.shape[0], 1), dtype=dense.dtype)], axis=1)

    def restricted(self, X: Matrix, columns: Array) -> tuple[LinearPredictor, Matrix]:
        """The predictor of these columns only, and the part of X that it uses."""
        return replace(self, n_features=len(columns)), X[:, columns]

    def gram(self, X: Matrix, weight: Array) -> Array:
        """Σ_i weight_i x̃_i x̃_iᵀ with x̃ = (x, 1): (d, d), or one larger with an intercept."""
        d, width = self.n_features, self.n_features + self.fit_intercept
        if (whole := _dense_gram(X, weight, width)) is not None:
            return whole
        xp = array_namespace(weight)
        whole = xp.empty((width, width), dtype=weight.dtype)
        whole[:d, :d] = _weighted_gram(xp, X, weight)
        if self.fit_intercept:
            whole[:d, d] = whole[d, :d] = in_double(X).T @ weight
            whole[d, d] = xp.sum(weight)
        return whole


def _dense_gram(X: Matrix, weight: Array, width: int) -> Array | None:
    """The same in one compiled pass over dense rows on the host whose weights have one sign.

    None for other rows and weights. Threads share spans of rows, which are added in order.
    """
    if type(X) is not np.ndarray or X.dtype.char not in "df":
        return None
    weight = np.asarray(weight, dtype=np.float64)
    used = weight != 0.0
    if 8 * np.count_nonzero(used) < 7 * weight.size:  # enough rows of weight 0 to skip them
        kept = np.flatnonzero(used)
        X, weight = X.take(kept, axis=0), weight[kept]
    negative = bool(weight.min(initial=0.0) < 0.0)
    if negative and weight.max() > 0.0:
        return None
    weight = -weight if negative else weight
    n, d = X.shape
    threads = n_threads() if n * width * width >= WORTH_SHARING else 1
    square, sums = np.empty((d, d)), np.empty(d)
    _native.block_products(
        X, np.empty((n, 0)), np.zeros(d), np.ones(d), np.sqrt(weight), square, sums, SPAN, threads
    )
    whole = square
    if width > d:
        whole = np.empty((width, width))
        whole[:d, :d], whole[:d, d], whole[d, :d], whole[d, d] = square, sums, sums, weight.sum()
    return -whole if negative else whole


def _weighted_gram(xp: Any, X: SparseMatrix, weight: Array) -> Array:
    if not is_array_api_obj(X):
        gram = np.zeros((X.shape[1],) * 2)
        _native.sparse_gram(X.data, X.indices, X.indptr, weight, gram)
        return gram
    used = weight != 0
    if 8 * int(xp.sum(used)) < 7 * weight.shape[0]:  # enough rows of weight 0 to skip them
        X, weight = X[used], weight[used]
    X = in_double(X)
    if xp.all(weight >= 0):
        # A product of one array with its own transpose is symmetric: BLAS does half the work.
        scaled = X * xp.sqrt(weight)[:, None]
        return scaled.T @ scaled
    return X.T @ (X * weight[:, None])


def in_double(X: Matrix) -> Matrix:
    """X in float64, without a copy if it already is."""
    if type(X) is np.ndarray:  # the usual case, in every step of every solver
        return X.astype(np.float64, copy=False)
    if is_array_api_obj(X):
        xp = array_namespace(X)
        return xp.astype(X, xp.float64, copy=False)
    return X if X.dtype == np.float64 else X.astype(np.float64)
