"""Kernels that the user gives: by features, by a function of two sets of rows, or as a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat.data.arrays import read_only
from thetahat.foundation.arguments import real_numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_symmetric
from thetahat.mathematics.kernels.pairs import dense


@dataclass(frozen=True)
class FeatureMap(Kernel):
    """The kernel of given features, k(x, z) = Σ λ_l φ_l(x) φ_l(z).

    Such a sum with λ_l ≥ 0 is always a kernel, and every kernel is one, possibly with infinitely
    many terms. Cost: that of the features, and O(n m D) for D of them.

    Parameters
    ----------
    function : callable
        Function φ(X) that returns an array of shape (n, D) for X of shape (n, d), in which row i
        depends on row i only. A fitted transformer gives one: ``expansion.transform``.
    weights : tuple of float or None, default=None
        The weights of the features (λ), which must be non-negative. None gives every feature the
        weight 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> powers = th.kernels.FeatureMap(lambda X: np.hstack([X, X**2]), weights=(1.0, 0.5))
    >>> powers([[1.0]], [[2.0]]).tolist()
    [[4.0]]
    """

    function: Callable[[Any], Any]
    weights: tuple[float, ...] | None = None

    name = "feature_map"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(
                f"FeatureMap(function={self.function!r}): function must be a function of the rows "
                "that returns an array of shape (n, D)."
            )
        if self.weights is None:
            return
        weights = tuple(float(weight) for weight in self.weights)
        if not all(0 <= weight < float("inf") for weight in weights):
            raise ParameterError(
                f"FeatureMap(weights={self.weights!r}): all weights must be finite and ≥ 0; "
                "otherwise the matrix is not positive semi-definite."
            )
        object.__setattr__(self, "weights", weights)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """Σ λ_l φ_l(x) φ_l(z)."""
        return self._weighted(self._features(X)) @ self._features(Z).T

    def diagonal(self, X: Matrix) -> Array:
        """Σ λ_l φ_l(x)²."""
        features = self._features(X)
        return array_namespace(features).sum(self._weighted(features) * features, axis=1)

    def _features(self, X: Matrix) -> Array:
        X = dense(X)
        found = self.function(read_only(X))
        found = np.asarray(found, dtype=X.dtype) if type(X) is np.ndarray else found
        if found.ndim != 2 or found.shape[0] != X.shape[0]:
            raise DataError(
                f"FeatureMap: the function returned shape {tuple(found.shape)} for "
                f"{X.shape[0]} rows, but must return ({X.shape[0]}, D)."
            )
        return found

    def _weighted(self, features: Array) -> Array:
        if self.weights is None:
            return features
        if len(self.weights) != features.shape[1]:
            raise DataError(
                f"FeatureMap: there are {len(self.weights)} weights for {features.shape[1]} "
                "features. Give one weight for each feature."
            )
        xp = array_namespace(features)
        return features * xp.asarray(self.weights, dtype=features.dtype)


@dataclass(frozen=True)
class FromFunction(Kernel):
    """A kernel of your own, given by a function of two sets of rows.

    The function must be positive semi-definite: ``th.kernels.mercer_check`` looks at the smallest
    eigenvalue of its Gram matrix, and fits report negative ones. Cost: that of the function.

    Parameters
    ----------
    function : callable
        Function K(X, Z) that returns an array of shape (n, m) for X of shape (n, d) and Z of shape
        (m, d), such as the functions in ``sklearn.metrics.pairwise``.
    of_pairs : bool, default=False
        Whether the function takes two single rows of shape (d,) and returns a number. It is then
        called for every pair of rows, which is slow.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> shared = th.kernels.FromFunction(lambda X, Z: np.minimum(X, Z.T))
    >>> shared([[1.0], [3.0]]).tolist()
    [[1.0, 1.0], [1.0, 3.0]]
    """

    function: Callable[[Any, Any], Any]
    of_pairs: bool = False

    name = "function"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(
                f"FromFunction(function={self.function!r}): function must be a function K(X, Z) "
                "that returns an array of shape (n, m)."
            )

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """The values of the function."""
        if self.of_pairs:
            X, Z = read_only(dense(X)), read_only(dense(Z))
            found = np.empty((X.shape[0], Z.shape[0]), dtype=X.dtype)
            for i, x in enumerate(X):
                found[i] = [self._number(x, z) for z in Z]
            return found
        found = self.function(read_only(X), read_only(Z))
        if hasattr(found, "toarray"):  # the product of sparse rows
            found = found.toarray()
        if type(X) is np.ndarray or not is_array_api_obj(found):
            found = _numbers(found, X.dtype)
        shape = (X.shape[0], Z.shape[0])
        if tuple(found.shape) != shape:
            raise DataError(
                f"FromFunction: the kernel returned shape {tuple(found.shape)} for {shape[0]} and "
                f"{shape[1]} rows, but must return {shape}."
            )
        return found

    def diagonal(self, X: Matrix) -> Array:
        """k(x, x), from small blocks."""
        if self.of_pairs:
            return np.array([self._number(x, x) for x in read_only(dense(X))], dtype=X.dtype)
        parts = [
            np.einsum("ii->i", self.block(X[start : start + 64], X[start : start + 64]))
            for start in range(0, X.shape[0], 64)
        ]
        return np.concatenate(parts)

    def _number(self, x: Array, z: Array) -> float:
        """The value for two single rows."""
        found = self.function(x, z)
        if isinstance(found, float):
            return found
        found = _numbers(found, np.float64)
        if found.size != 1:
            raise DataError(
                f"FromFunction: the kernel returned shape {found.shape} for two single rows, but "
                "must return a number. Wrap a function of two matrices of rows in "
                "th.kernels.FromFunction."
            )
        return float(found.reshape(()))


def _numbers(found: Any, dtype: Any) -> Array:
    """The values of a kernel as real numbers of this type."""
    try:
        if not np.iscomplexobj(found):
            return real_numbers(found, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"FromFunction: the kernel returned {_short(found)}, but must return numbers."
        ) from error
    raise DataError(
        "FromFunction: the kernel returned complex numbers, but must return real ones. Return "
        "their real part if the imaginary part is 0."
    )


def _short(found: Any) -> str:
    text = repr(found)
    return text if len(text) <= 40 else f"{text[:40]}… ({type(found).__name__})"


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel given by its matrix: in `fit`, X is the Gram matrix of the training rows.

    In `predict`, X has one row per new row and one column per training row, with entries
    k(x, xⱼ). Both may be sparse; `KernelRidge` then solves a sparse system if few entries are not
    0, and other methods make a dense matrix. Formula: K(X) = X. Cost: O(n m).

    Examples
    --------
    >>> import thetahat as th
    >>> rows, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    >>> K = th.kernels.Polynomial(degree=2)(rows)
    >>> model = th.KernelRidge(alpha=1e-9, kernel="precomputed").fit(K, y)
    >>> abs(model.predict(K).round(3)).tolist()
    [0.0, 1.0, 4.0]
    """

    name = "precomputed"

    def gram(self, X: Matrix, Z: Matrix | None = None) -> Array:
        """The matrix itself, checked to be square and symmetric, or the columns that Z numbers."""
        if Z is not None:
            return self.block(X, Z)
        X = dense(X)
        require_symmetric(X, "Precomputed")
        return X

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """The columns of X that Z numbers, dense."""
        return dense(X[:, Z])

    def diagonal(self, X: Matrix) -> Array:
        """The diagonal of the Gram matrix."""
        return np.einsum("ii->i", X) if isinstance(X, np.ndarray) else X.diagonal()

    def rows(self, X: Matrix, which: Array) -> Matrix:
        """The numbers of the rows, which select columns later."""
        return np.asarray(which)
