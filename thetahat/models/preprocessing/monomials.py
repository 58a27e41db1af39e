"""Monomials of the features: polynomials in x become linear functions of φ(x).

The monomials of degree k whose first variable is x_j are x_j times those of degree k − 1 in x_j,
x_{j+1}, …, which are stored next to each other. So one product per variable and degree computes all
of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from itertools import combinations_with_replacement, groupby, product
from math import comb, factorial, prod
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import boolean, check_ranges, one_of, whole
from thetahat.foundation.checked_value import check_arrays, check_columns, check_rule
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class MonomialExpansion(RowwiseTransformer):
    """Polynomial features: all monomials of the columns up to a degree.

    A linear model on φ(x) is a polynomial in x.

    Formula: φ(x) = (1, x₁, …, x_d, x₁², x₁x₂, …), C(d + p, p) features for degree p; for one
    column, 1, x, x², …, x^p.

    Cost: O(1) per entry of the result. Its memory is estimated before it is allocated.

    Parameters
    ----------
    degree : int, default=2
        Maximum degree of the monomials (p). The number of features grows like d^p. Must be at least
        1.
    form : {"distinct", "kernel", "ordered"}, default="distinct"
        Which monomials are computed. "distinct": each monomial once. "kernel": each monomial times
        the square root of its multinomial coefficient, so that φ(x)ᵀφ(z) = (xᵀz + 1)^p. "ordered":
        all d^p products x_{i₁}⋯x_{i_p} of degree exactly p, in every order, so that φ(x)ᵀφ(z) =
        (xᵀz)^p.
    include_bias : bool, default=True
        If True, include the constant 1. Set it to False before a model that fits an intercept. It
        has no effect with ``form="ordered"``.

    Attributes
    ----------
    n_output_features_ : int
        Number of monomials, that is, of output columns.

    Examples
    --------
    >>> import thetahat as th
    >>> expansion = th.MonomialExpansion(degree=2).fit([[2.0, 3.0]])
    >>> expansion.transform([[2.0, 3.0]]).tolist()
    [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    >>> expansion.get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    degree: int = 2
    _: KW_ONLY
    form: str = "distinct"
    include_bias: bool = True

    _ranges = {  # noqa: RUF012
        "degree": whole(1),
        "form": one_of("distinct", "kernel", "ordered"),
        "include_bias": boolean,
    }
    _too_large = (
        "Reduce the degree, transform fewer rows at a time, or use a polynomial kernel, which does "
        "not compute the monomials."
    )

    _tried_when_loaded = False  # a large degree takes much memory

    def _check_loaded(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        check_ranges(self)
        check_columns(self)
        n = vars(self).get("n_output_features_")
        rule = "n_output_features_ must be the number of monomials"
        check_rule(self, isinstance(n, int) and self._has_monomials(n), rule)
        if self.form == "kernel":
            check_arrays(self, {"_factors": (np.float64, (n,))})

    def _has_monomials(self, count: int) -> bool:
        """Whether the number of monomials is `count`, in at most log₂(count) steps."""
        d, degree = self.n_features_in_, self.degree
        if self.form == "ordered":
            return d == count == 1 or (degree < count.bit_length() and d**degree == count)
        found, k = 1, 0
        while found <= count + 1 and k < min(d, degree):
            k += 1
            found = found * (max(d, degree) + k) // k
        return found - (not self.include_bias) == count

    def fit(self, X: Any, y: Any = None) -> MonomialExpansion:
        """Count the monomials; nothing is estimated from the values. Cost: a check of X."""
        d = self._open(X, supervised=False).n_features
        self.n_output_features_ = (
            d**self.degree
            if self.form == "ordered"
            else comb(d + self.degree, self.degree) - (not self.include_bias)
        )
        require_memory(
            8 * self.n_output_features_,
            f"MonomialExpansion: one row of {self.n_output_features_} monomials",
            self._too_large,
        )
        if self.form == "kernel":
            self._factors = np.sqrt([_multinomial(m, self.degree) for m in self._monomials()])
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`. Cost: O(n_features_out).

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X. None uses the names seen in `fit`, or x0, x1, ….

        Returns
        -------
        array of str
            Names such as "1", "x0", "x0^2" and "x0 x1"; "ordered" also has "x0 x0" and "x1 x0".
        """
        names = super().get_feature_names_out(input_features)
        if self.form == "ordered":
            sequences = product(names, repeat=self.degree)
            return np.asarray([" ".join(sequence) for sequence in sequences], dtype=object)
        return np.asarray([_spelled(m, names) for m in self._monomials()], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_

    def _monomials(self) -> Iterator[tuple[int, ...]]:
        """The distinct monomials in order, each as its variables in ascending order."""
        for k in range(not self.include_bias, self.degree + 1):
            yield from combinations_with_replacement(range(self.n_features_in_), k)

    def _transform_block(self, block: Block) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.form == "ordered":
                features = _ordered(block.X, self.degree)
            else:
                features = _distinct(block.X, self.degree, self.include_bias)
                if self.form == "kernel":
                    features *= self._factors.astype(features.dtype)
            overflown = not np.isfinite(features.sum(dtype=np.float64))
        if overflown:
            self._require_finite_monomials(features, block)
        return features

    def _require_finite_monomials(self, features: Array, block: Block) -> None:
        bad = np.argwhere(~np.isfinite(features))
        if not bad.size:
            return
        row, column = bad[0]
        largest = int(np.argmax(np.abs(block.X[row])))
        raise DataError(
            f"MonomialExpansion: {self.get_feature_names_out()[column]!r} overflows "
            f"{features.dtype} at row {block.start + row}, where column {self._label(largest)} "
            f"is {block.X[row, largest]:g}. Scale the columns first, for example with "
            "th.Standardizer, or reduce the degree."
        )


def _distinct(X: Array, degree: int, include_bias: bool) -> Array:
    n, d = X.shape
    features = np.empty((n, comb(d + degree, degree)), dtype=X.dtype)
    features[:, 0] = 1.0
    starts, end = [0] * d, 1  # first monomial in x_j, x_{j+1}, ... of the previous degree
    for _ in range(degree):
        next_starts, place = [], end
        for j in range(d):
            next_starts.append(place)
            previous = features[:, starts[j] : end]
            place += previous.shape[1]
            np.multiply(previous, X[:, j : j + 1], out=features[:, next_starts[j] : place])
        starts, end = next_starts, place
    return features if include_bias else features[:, 1:]


def _ordered(X: Array, degree: int) -> Array:
    features = X
    for _ in range(degree - 1):
        features = (features[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    return features


def _multinomial(monomial: tuple[int, ...], degree: int) -> int:
    """Multinomial coefficient of a monomial in (x₁z₁ + … + x_dz_d + 1)^degree."""
    powers = [len(list(same)) for _, same in groupby(monomial)]
    return factorial(degree) // (
        prod(factorial(power) for power in powers) * factorial(degree - len(monomial))
    )


def _spelled(monomial: tuple[int, ...], names: Array) -> str:
    powers = [(names[j], len(list(same))) for j, same in groupby(monomial)]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers) or "1"
