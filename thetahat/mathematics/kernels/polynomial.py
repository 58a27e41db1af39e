"""Kernels of inner products: linear, polynomial, sigmoid and cosine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel, Pullback
from thetahat.mathematics.kernels.hyperparameters import Hyperparameter
from thetahat.mathematics.kernels.pairs import dense, inner_products, squared_norms
from thetahat.mathematics.parts import number, whole


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel k(x, z) = xᵀz, whose features are the columns themselves.

    A kernel model with it is a linear model; its Gram matrix is XXᵀ. Cost: O(n m d).

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Linear()([[1.0, 2.0], [0.0, 1.0]]).tolist()
    [[5.0, 2.0], [2.0, 1.0]]
    """

    name = "linear"

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """xᵀz."""
        return inner_products(X, Z)

    def diagonal(self, X: Matrix) -> Array:
        """‖x‖²."""
        return squared_norms(X)


@dataclass(frozen=True)
class LinearAround(Kernel):
    """The linear kernel of rows minus a point: k(x, z) = (x − m)ᵀ(z − m).

    Its functions with an intercept are those of `Linear`. Their rounding errors are smaller if the
    rows are near the point, but far from 0. Cost: O(n m d).
    """

    origin: tuple[float, ...]

    name = "linear_around"

    def _moved(self, X: Matrix) -> Array:
        if len(self.origin) != X.shape[1]:
            raise DataError(
                f"{self!r:.80}: origin has {len(self.origin)} entries, but X has {X.shape[1]} "
                "columns. Give one number for each column."
            )
        rows = dense(X)
        return rows - array_namespace(rows).asarray(
            list(self.origin), dtype=rows.dtype, device=device(rows)
        )

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """(x − m)ᵀ(z − m)."""
        return inner_products(self._moved(X), self._moved(Z))

    def diagonal(self, X: Matrix) -> Array:
        """‖x − m‖²."""
        return squared_norms(self._moved(X))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel k(x, z) = (γ·xᵀz + c)^q.

    Its features are all products of at most q columns (with c = 0: of exactly q), each with the
    weight that the binomial formula gives it; `MonomialExpansion` writes them out. Cost: O(n m d).

    Parameters
    ----------
    degree : int, default=2
        The degree of the polynomials (q). Larger values give more flexible functions. Must be at
        least 1.
    coef0 : float, default=1.0
        The constant that is added to the inner product (c). Larger values give lower powers more
        weight; 0 leaves only products of exactly q columns. Must be non-negative, because the
        matrix is not positive semi-definite otherwise.
    gamma : float, default=1.0
        Multiplies the inner product (γ). Larger values give higher powers more weight. Must be
        positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Polynomial(degree=2)([[1.0, 1.0]], [[2.0, 0.0]]).tolist()
    [[9.0]]
    """

    degree: int = whole(2, at_least=1)
    coef0: float = number(1.0, at_least=0)
    gamma: float = number(1.0, above=0)

    name = "polynomial"
    aliases = ("poly",)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """(γ·xᵀz + c)^q."""
        return self._power(inner_products(X, Z))

    def diagonal(self, X: Matrix) -> Array:
        """(γ·‖x‖² + c)^q."""
        return self._power(squared_norms(X))

    def _power(self, products: Array) -> Array:
        return (self.gamma * products + self.coef0) ** self.degree

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The constant, unless it is 0, and the factor."""
        names = ("coef0", "gamma") if self.coef0 > 0 else ("gamma",)
        return tuple(Hyperparameter(name, getattr(self, name)) for name in names)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivatives q(γ·xᵀz + c)^{q−1} times c and γ·xᵀz."""
        scaled = self.gamma * inner_products(X, Z)
        slope = self.degree * (scaled + self.coef0) ** (self.degree - 1)

        def pullback(W: Array) -> Array:
            by_gamma = (W * slope * scaled).sum()
            if not self.coef0 > 0:
                return np.array([by_gamma])
            return np.array([self.coef0 * (W * slope).sum(), by_gamma])

        return (scaled + self.coef0) ** self.degree, pullback


@dataclass(frozen=True)
class DotProduct(Kernel):
    """The dot-product kernel k(x, z) = σ₀² + xᵀz, the covariance of random linear functions.

    It is the linear kernel plus a constant: the prior of an intercept with variance σ₀² and of
    coefficients with variance 1. Cost: O(n m d).

    Parameters
    ----------
    sigma_0 : float, default=1.0
        The standard deviation of the intercept (σ₀). Larger values allow functions further from the
        origin. Must be positive; use `Linear` for functions without an intercept.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.DotProduct(2.0)([[1.0]], [[3.0]]).tolist()
    [[7.0]]
    """

    sigma_0: float = number(1.0, above=0)

    name = "dot_product"
    tunable = ("sigma_0",)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """σ₀² + xᵀz."""
        return inner_products(X, Z) + self.sigma_0 * self.sigma_0

    def diagonal(self, X: Matrix) -> Array:
        """σ₀² + ‖x‖²."""
        return squared_norms(X) + self.sigma_0 * self.sigma_0

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log σ₀ is 2σ₀²."""
        return self.block(X, Z), lambda W: np.array([2 * self.sigma_0**2 * W.sum()])


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """The sigmoid kernel k(x, z) = tanh(γ·xᵀz + c).

    It is not positive semi-definite in general, so that methods which need a kernel matrix with
    non-negative eigenvalues may refuse it; ``th.kernels.mercer_check`` looks. Cost: O(n m d).

    Parameters
    ----------
    gamma : float, default=1.0
        Multiplies the inner product (γ). Larger values give steeper functions. Must be positive.
    coef0 : float, default=1.0
        The constant that is added to the inner product (c). May have any sign.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Sigmoid(coef0=0.0)([[1.0]], [[1.0]]).round(4).tolist()
    [[0.7616]]
    """

    gamma: float = number(1.0, above=0)
    coef0: float = number(1.0)

    name = "sigmoid"

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """tanh(γ·xᵀz + c)."""
        return self._tanh(inner_products(X, Z))

    def diagonal(self, X: Matrix) -> Array:
        """tanh(γ·‖x‖² + c)."""
        return self._tanh(squared_norms(X))

    def _tanh(self, products: Array) -> Array:
        return array_namespace(products).tanh(self.gamma * products + self.coef0)


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine kernel k(x, z) = xᵀz/(‖x‖·‖z‖): the linear kernel of rows of length 1.

    A row of zeros has the value 0 with every row. Cost: O(n m d).

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Cosine()([[3.0, 4.0]], [[1.0, 0.0]]).tolist()
    [[0.6]]
    """

    name = "cosine"

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """xᵀz/(‖x‖·‖z‖)."""
        is_same = X is Z
        X, of_rows = _with_lengths(X)
        Z, of_columns = (X, of_rows) if is_same else _with_lengths(Z)
        return inner_products(X, Z) / of_rows[:, None] / of_columns[None, :]

    def diagonal(self, X: Matrix) -> Array:
        """1, or 0 for a row of zeros."""
        X, lengths = _with_lengths(X)
        squares = squared_norms(X)
        xp = array_namespace(squares)
        return xp.where(squares > 0, xp.ones_like(lengths), xp.zeros_like(lengths))


def _with_lengths(X: Matrix) -> tuple[Matrix, Array]:
    """The rows and ‖x‖ of each, or 1 if it is 0; rows whose squares have no digits are scaled."""
    with np.errstate(over="ignore"):
        squares = squared_norms(X)
    xp = array_namespace(squares)
    if type(squares) is np.ndarray:
        limits = np.finfo(squares.dtype)
        lost = ~((squares > limits.tiny / limits.eps) & (squares < limits.max / 8))
        if lost.any():
            X = _scaled_rows(X, lost)
            squares = squared_norms(X)
    return X, xp.where(squares > 0, xp.sqrt(squares), xp.ones_like(squares))


def _scaled_rows(X: Matrix, which: Array) -> Matrix:
    """These rows divided by their largest entries, the others as they are."""
    sizes = abs(X).max(axis=1)
    largest = sizes if isinstance(sizes, np.ndarray) else sizes.toarray().ravel()
    unit = np.where(which & (largest > 0), largest, 1.0).astype(X.dtype)
    if isinstance(X, np.ndarray):
        return X / unit[:, None]
    rows = X.tocsr().copy()
    rows.data /= np.repeat(unit, np.diff(rows.indptr))
    return rows
