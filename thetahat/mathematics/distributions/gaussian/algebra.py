"""What can be derived from a mean and a covariance: marginals, conditionals, maps, independence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from thetahat.foundation.arguments import as_float
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.products import product
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import (
    RANK_TOLERANCE,
    CovarianceRoot,
    root_of,
)
from thetahat.mathematics.distributions.gaussian.index_sets import (
    as_numbers,
    columns_of,
    require_some,
    rest_of,
)
from thetahat.mathematics.distributions.gaussian.natural_normal import (
    NaturalNormal,
    given_values,
    require_width,
)


class GaussianAlgebra(ABC):
    """Operations on a Gaussian with ``mean``, ``covariance`` and optional column ``names``."""

    mean: Array
    covariance: Array
    names: tuple[str, ...] | None

    @property
    @abstractmethod
    def _root(self) -> CovarianceRoot:
        """A root of the covariance."""

    @abstractmethod
    def _with(self, mean: Array, covariance: Array, names: Any) -> Self:
        """Another distribution of the same class."""

    @abstractmethod
    def log_density(self, X: Any) -> Any:
        """Compute log p(x) for every row."""

    def marginal(self, columns: Any) -> Self:
        """Compute the distribution of some columns: x₁ ~ N(μ₁, Σ₁₁). Cost: O(d²).

        Parameters
        ----------
        columns : int, str or sequence of them
            Numbers or names of the columns to keep, in the order of the result.

        Returns
        -------
        marginal : MultivariateNormal
            The distribution of these columns.
        """
        who = f"{type(self).__name__}.marginal"
        kept = columns_of(columns, len(self.mean), self.names, who)
        require_some(kept, who)
        block = self.covariance[np.ix_(kept, kept)]
        return self._with(self.mean[kept], block, self._names_of(kept))

    def conditional(self, given: Any, values: Any = None) -> Self:
        """Compute the distribution of the other columns, given values of some. Cost: O(d³).

        Formula: x₁ | x₂ = a ~ N(μ₁ + Σ₁₂Σ₂₂⁻¹(a − μ₂), Σ₁₁ − Σ₁₂Σ₂₂⁻¹Σ₂₁). The covariance is the
        Schur complement of Σ₂₂; it does not depend on a. If Σ₂₂ is singular, its pseudo-inverse is
        used, and a must lie on the support of x₂.

        Parameters
        ----------
        given : int, str, sequence of them, or mapping
            Numbers or names of the columns whose values are known. A mapping has the values too:
            ``{"age": 40.0}``.
        values : float or array-like, optional
            The values of these columns (a). Omitted only if `given` is a mapping.

        Returns
        -------
        conditional : MultivariateNormal
            The distribution of the other columns, in their order.
        """
        who = f"{type(self).__name__}.conditional"
        known, a = given_values(given, values, len(self.mean), self.names, who)
        left = rest_of(known, len(self.mean))
        root = root_of(self.covariance[np.ix_(known, known)], who)
        away = a - self.mean[known]
        if not root.contains(away, self.mean[known]):
            raise DataError(
                f"{who}: the given values have density 0: the {known.size} columns have a singular "
                f"covariance of rank {root.rank}, and the values are outside of its support. "
                "Condition on fewer columns, or use values that satisfy the linear relation."
            )
        across = root.solve(self.covariance[np.ix_(known, left)])
        mean = self.mean[left] + product(across.T, root.solve(away[:, None])[:, 0])
        return self._with(mean, self._given(left, known), self._names_of(left))

    def affine(self, A: Any, b: Any = 0.0) -> Self:
        """Compute the distribution of Ax + b ~ N(Aμ + b, AΣAᵀ). Cost: O(k d² + k² d).

        Parameters
        ----------
        A : array-like of shape (k, d) or (d,)
            The matrix of the map, which need not be square. A vector is one row (k = 1). If k is
            larger than the rank of Σ, the result is singular.
        b : float or array-like of shape (k,), default=0.0
            The constant that is added after the product.

        Returns
        -------
        image : MultivariateNormal
            The distribution of Ax + b; its columns have no names.
        """
        who = f"{type(self).__name__}.affine"
        matrix = np.atleast_2d(as_numbers(A, f"{who}: A"))
        if matrix.ndim != 2 or not np.isfinite(matrix).all() or matrix.size == 0:
            raise DataError(f"{who}: A must be a matrix of finite numbers with at least 1 row.")
        require_width(matrix.shape[1], len(self.mean), f"{who}: A")
        offset = as_numbers(b, f"{who}: b")
        if offset.shape not in ((), (matrix.shape[0],)) or not np.isfinite(offset).all():
            raise DataError(
                f"{who}: b has shape {offset.shape}, but A has {matrix.shape[0]} rows. Pass one "
                "finite number per row of A."
            )
        with one_blas_thread():
            half = product(matrix, self._root.colour)
            mean = product(matrix, self.mean) + offset
            return self._with(mean, product(half, half.T), None)

    def natural(self) -> NaturalNormal:
        """Return the same distribution by precision and shift: Q = Σ⁻¹, b = Σ⁻¹μ. Cost: O(d³).

        Returns
        -------
        natural : NaturalNormal
            The distribution in its natural parameters. A singular Σ has none.
        """
        self._require_full_rank("natural")
        Q = self._root.precision
        return NaturalNormal(Q, product(Q, self.mean), self.names)

    def product(self, other: Self) -> tuple[Self, float]:
        """Multiply two densities: p(x)·q(x) = e^s·r(x) with a normal density r. Cost: O(d³).

        Formula: N(x|a, A)·N(x|b, B) = N(a|b, A + B)·N(x|c, C) with C = A − A(A + B)⁻¹A and
        c = a + A(A + B)⁻¹(b − a).

        Parameters
        ----------
        other : MultivariateNormal
            The second factor (q), of the same dimension. One of the two factors may be singular.

        Returns
        -------
        density : MultivariateNormal
            The normalised product r.
        log_scale : float
            The logarithm of ∫ p(x) q(x) dx (s).
        """
        who = f"{type(self).__name__}.product"
        self._require_same_kind(other, "product")
        if self._root.is_singular and other._root.is_singular:
            raise DataError(
                f"{who}: both covariances are singular (ranks {self._root.rank} and "
                f"{other._root.rank} of {len(self.mean)}), so that the product is not a density. "
                "At least one must have full rank."
            )
        sum_of_both = self._with(other.mean, self.covariance + other.covariance, None)
        across = sum_of_both._root.solve(self.covariance)
        toward = sum_of_both._root.solve((other.mean - self.mean)[:, None])[:, 0]
        mean = self.mean + product(across.T, toward)
        # C is the covariance of x ~ N(a, A) given x + e with noise e ~ N(0, B).
        own, noise = self._root.colour, other._root.colour
        covariance = _covariance_given(
            np.hstack([own, np.zeros_like(noise)]), np.hstack([own, noise])
        )
        log_scale = float(sum_of_both.log_density(self.mean[None, :])[0])
        return self._with(mean, covariance, self.names), log_scale

    def partial_correlations(self) -> Array:
        """Compute the correlation of each pair of columns, given all other columns.

        Formula: −q_ij / √(q_ii q_jj) with Q = Σ⁻¹; 1 on the diagonal. Cost: O(d³), with a singular
        Σ O(d⁵).

        Returns
        -------
        correlations : array of shape (d, d)
            Partial correlations; 0 where a column is determined by the other columns.
        """
        if not self._root.is_singular:
            Q = self._root.precision
            size = np.sqrt(np.diagonal(Q))
            found = np.clip(-Q / size / size[:, None], -1.0, 1.0)
            np.fill_diagonal(found, 1.0)
            return found
        return self._by_pairs(correlations=True)

    def conditional_covariances(self) -> Array:
        """Compute the covariance of each pair of columns, given all other columns.

        Formula: −q_ij / (q_ii q_jj − q_ij²) with Q = Σ⁻¹; on the diagonal var(x_i | rest) = 1/q_ii.
        It has the sign of −q_ij and is 0 where q_ij is 0. Cost: O(d³), with a singular Σ O(d⁵).

        Returns
        -------
        covariances : array of shape (d, d)
            Conditional covariances of all pairs.
        """
        if not self._root.is_singular:
            Q = self._root.precision
            diagonal = np.diagonal(Q)
            below = np.outer(diagonal, diagonal) - Q**2
            np.fill_diagonal(below, 1.0)
            found = -Q / below
            np.fill_diagonal(found, 1.0 / diagonal)
            return found
        return self._by_pairs(correlations=False)

    def is_independent(self, a: Any, b: Any, given: Any = (), tolerance: float = 1e-8) -> bool:
        """Say whether two sets of columns are independent, given a third: x_a ⟂ x_b | x_given.

        Formula: the covariance of x_a and x_b given x_given is 0. Without `given` this is Σ_ab = 0;
        given all other columns it is Q_ab = 0. Cost: O(d³).

        Parameters
        ----------
        a, b : int, str or sequence of them
            Numbers or names of the columns of the two sets, which must not overlap.
        given : int, str or sequence of them, default=()
            Columns to condition on. By default none: marginal independence.
        tolerance : float, default=1e-8
            Largest absolute (partial) correlation that counts as 0. Use a larger value for a fitted
            covariance, in which no correlation is exactly 0.

        Returns
        -------
        independent : bool
            Whether all (partial) correlations between the sets are at most the tolerance.
        """
        who = f"{type(self).__name__}.is_independent"
        d = len(self.mean)
        sets = [columns_of(each, d, self.names, who) for each in (a, b, given)]
        for each in sets[:2]:
            require_some(each, who)
        columns_of(np.concatenate(sets), d, self.names, f"{who}: the sets must not overlap")
        if not as_float(tolerance) >= 0:
            raise DataError(f"{who}: tolerance={tolerance!r} must be a number ≥ 0.")
        first, second, known = sets
        both = np.concatenate([first, second])
        found = _correlations(self._given(both, known), np.diagonal(self.covariance)[both])
        between = found[: first.size, first.size :]
        return bool(np.abs(between).max() <= tolerance)

    def _given(self, left: Array, known: Array) -> Array:
        """The covariance of the columns `left`, given the columns `known`."""
        if known.size == 0:
            return self.covariance[np.ix_(left, left)]
        return _covariance_given(self._root.colour[left], self._root.colour[known])

    def _by_pairs(self, *, correlations: bool) -> Array:
        d = len(self.mean)
        found = np.eye(d)
        for i in range(d):
            if not correlations:
                alone = np.asarray([i])
                found[i, i] = self._given(alone, rest_of(alone, d))[0, 0]
            for j in range(i):
                pair = np.asarray([i, j])
                joint = self._given(pair, rest_of(pair, d))
                if correlations:
                    joint = _correlations(joint, np.diagonal(self.covariance)[pair])
                found[i, j] = found[j, i] = joint[0, 1]
        return found

    def _names_of(self, columns: Array) -> tuple[str, ...] | None:
        return None if self.names is None else tuple(self.names[i] for i in columns)

    def _require_same_kind(self, other: Any, method: str) -> None:
        who = f"{type(self).__name__}.{method}"
        if not isinstance(other, type(self)):
            raise DataError(f"{who}: {other!r:.60} must be a {type(self).__name__}.")
        require_width(len(other.mean), len(self.mean), who)

    def _require_full_rank(self, method: str) -> None:
        if self._root.is_singular:
            raise DataError(
                f"{type(self).__name__}.{method}: the covariance is singular (rank "
                f"{self._root.rank} of {len(self.mean)}), so that it has no inverse. Use marginal "
                "or conditional to remove dependent columns, or shrink the covariance."
            )


def _covariance_given(left: Array, known: Array) -> Array:
    """The covariance of ``left @ z`` given ``known @ z``, for z ~ N(0, I).

    Formula: LNNᵀLᵀ with an orthonormal basis N of the null space of ``known``. This is the Schur
    complement, without the cancellation that could make it indefinite.
    """
    size = np.linalg.norm(known, axis=1)
    unit = known / np.where(size > 0, size, 1.0)[:, None]
    with one_blas_thread():
        _, values, directions = np.linalg.svd(unit, full_matrices=True)
        rank = int((values**2 > len(left) * RANK_TOLERANCE).sum())
        half = product(left, directions[rank:].T)
        # Columns that are determined by the given ones have no variance; what is left is rounding.
        before = np.einsum("ij,ij->i", left, left)
        after = np.einsum("ij,ij->i", half, half)
        half[after <= 100 * left.shape[1] * EPSILON**2 * before] = 0.0
        return product(half, half.T)


def _correlations(covariance: Array, variances: Array) -> Array:
    """Correlations; 0 for columns whose variance is 0 up to rounding of the `variances`."""
    own = np.diagonal(covariance)
    constant = own <= 100 * EPSILON * variances
    size = np.sqrt(np.where(constant, 1.0, own))
    found = np.clip(covariance / size / size[:, None], -1.0, 1.0)
    found[constant, :] = 0.0
    found[:, constant] = 0.0
    return found
