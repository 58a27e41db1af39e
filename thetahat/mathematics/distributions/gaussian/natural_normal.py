"""The multivariate normal distribution in its natural (information) parameters.

p(x) = exp(−½ xᵀQx + bᵀx) / C,    Q = Σ⁻¹,    b = Σ⁻¹μ,    log C = ½ bᵀQ⁻¹b + ½ log det(2πQ⁻¹)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.validation import as_source
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError
from thetahat.foundation.products import product
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import (
    LOG_TWO_PI,
    CovarianceRoot,
    root_of,
)
from thetahat.mathematics.distributions.gaussian.index_sets import (
    columns_of,
    names_of_columns,
    require_proper,
    require_some,
    require_values,
    rest_of,
)
from thetahat.mathematics.linalg.square import as_symmetric


@dataclass(frozen=True, eq=False)
class NaturalNormal:
    """Multivariate normal distribution, given by its precision matrix and its shift.

    Formula: p(x) = exp(−½ xᵀQx + bᵀx) / C with the precision Q = Σ⁻¹, the shift b = Σ⁻¹μ and
    C = √det(2πQ⁻¹) · exp(+½ bᵀQ⁻¹b). Products of densities add Q and b, and conditioning selects a
    block of Q: x₁ | x₂ has the precision Q₁₁ and the shift b₁ − Q₁₂x₂.

    Cost: O(d³) for the first result that needs the factor of Q, O(d²) memory.

    Parameters
    ----------
    precision : array-like of shape (d, d)
        The precision matrix (Q), the inverse of the covariance. Must be symmetric and positive
        definite.
    shift : array-like of shape (d,)
        The precision times the mean (b).
    names : sequence of str or None, default=None
        Names of the columns, which can then be used to choose columns.

    See Also
    --------
    MultivariateNormal : The same distribution by mean and covariance.

    Examples
    --------
    >>> import thetahat as th
    >>> chain = th.distributions.NaturalNormal([[2, -1, 0], [-1, 2, -1], [0, -1, 1]], [0, 0, 0])
    >>> chain.covariance.round(12).tolist()
    [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]]
    >>> chain.conditional(1, 3.0).precision.tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """

    precision: Array
    shift: Array
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        Q = as_symmetric(self.precision, who="NaturalNormal")
        b = require_values(self.shift, len(Q), "NaturalNormal: the shift")
        for array in (Q, b):
            array.setflags(write=False)
        object.__setattr__(self, "precision", Q)
        object.__setattr__(self, "shift", b)
        object.__setattr__(self, "names", names_of_columns(self.names, len(Q), "NaturalNormal"))
        if self._root.is_singular:
            raise DataError(
                f"NaturalNormal: the precision has rank {self._root.rank}, but {len(Q)} is needed: "
                "the integral of exp(−½ xᵀQx + bᵀx) is infinite. Add a prior precision."
            )

    @cached_property
    def _root(self) -> CovarianceRoot:
        return root_of(self.precision, "NaturalNormal", "precision")

    @property
    def mean(self) -> Array:
        """The mean μ = Q⁻¹b."""
        return self._mean.copy()

    @cached_property
    def _mean(self) -> Array:
        mean = product(self.covariance, self.shift)
        # One step of refinement: a large mean is accurate against the width of the density too.
        return mean + product(self.covariance, self.shift - product(self.precision, mean))

    @property
    def covariance(self) -> Array:
        """The covariance Σ = Q⁻¹."""
        return self._root.precision

    @property
    def log_constant(self) -> float:
        """The logarithm of C = ∫ exp(−½ xᵀQx + bᵀx) dx."""
        half = self._root.solve(self.shift[:, None])[:, 0]
        d = len(self.shift)
        return 0.5 * float(half @ half + d * LOG_TWO_PI - self._root.log_determinant)

    def log_density(self, X: Any) -> Array:
        """Compute log p(x) = −½ (x − μ)ᵀQ(x − μ) − ½ log det(2πQ⁻¹) for every row.

        This equals −½ xᵀQx + bᵀx − log C, without differences of large numbers if the mean is
        large. Cost: O(d²) per row.

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            The rows at which the density is evaluated.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x) for every row.
        """
        source = as_source(X, who="NaturalNormal.log_density", accept_sparse=False)
        require_width(source.n_features, len(self.shift), "NaturalNormal.log_density")
        mean, root = self._mean, self._root
        log_volume = 0.5 * (len(mean) * LOG_TWO_PI - root.log_determinant)

        def of_block(block: Any) -> Array:
            away = np.asarray(block.X, dtype=np.float64) - mean
            return -0.5 * np.einsum("ij,ij->i", away, product(away, self.precision)) - log_volume

        return source.map_rows(of_block)

    def marginal(self, columns: Any) -> NaturalNormal:
        """Compute the distribution of some columns. Cost: O(d³).

        Formula: Q₁₁ − Q₁₂Q₂₂⁻¹Q₂₁ and b₁ − Q₁₂Q₂₂⁻¹b₂, where 2 are the other columns.

        Parameters
        ----------
        columns : int, str or sequence of them
            Numbers or names of the columns to keep, in the order of the result.

        Returns
        -------
        marginal : NaturalNormal
            The distribution of these columns.
        """
        kept = columns_of(columns, len(self.shift), self.names, "NaturalNormal.marginal")
        require_some(kept, "NaturalNormal.marginal")
        Q, b, gone = self.precision, self.shift, rest_of(kept, len(self.shift))
        if gone.size == 0:
            return NaturalNormal(Q[np.ix_(kept, kept)], b[kept], self._names_of(kept))
        root = root_of(Q[np.ix_(gone, gone)], "NaturalNormal.marginal")
        across = root.solve(Q[np.ix_(gone, kept)])
        return NaturalNormal(
            Q[np.ix_(kept, kept)] - product(across.T, across),
            b[kept] - product(across.T, root.solve(b[gone][:, None])[:, 0]),
            self._names_of(kept),
        )

    def conditional(self, given: Any, values: Any = None) -> NaturalNormal:
        """Compute the distribution of the other columns, given values of some. Cost: O(d²).

        Formula: precision Q₁₁ and shift b₁ − Q₁₂x₂, so that the covariance is Q₁₁⁻¹, which is not
        the marginal covariance Σ₁₁.

        Parameters
        ----------
        given : int, str, sequence of them, or mapping
            Numbers or names of the columns whose values are known. A mapping has the values too:
            ``{"age": 40.0}``.
        values : float or array-like, optional
            The values of these columns. Omitted only if `given` is a mapping.

        Returns
        -------
        conditional : NaturalNormal
            The distribution of the other columns, in their order.
        """
        who = "NaturalNormal.conditional"
        known, x = given_values(given, values, len(self.shift), self.names, who)
        left = rest_of(known, len(self.shift))
        Q, b = self.precision, self.shift
        shift = b[left] - product(Q[np.ix_(left, known)], x)
        return NaturalNormal(Q[np.ix_(left, left)], shift, self._names_of(left))

    def product(self, other: NaturalNormal) -> tuple[NaturalNormal, float]:
        """Multiply two densities: p(x)·q(x) = e^s·r(x) with a normal density r. Cost: O(d³).

        Formula: the precisions and the shifts are added; s = log C_r − log C_p − log C_q =
        ½(log det Q_p + log det Q_q − log det Q_r − d·log 2π − aᵀQ_pQ_r⁻¹Q_qa) with the distance
        a = μ_p − μ_q of the means, which loses no digits if the means are large.

        Parameters
        ----------
        other : NaturalNormal
            The second factor (q), of the same dimension.

        Returns
        -------
        density : NaturalNormal
            The normalised product r.
        log_scale : float
            The logarithm of ∫ p(x) q(x) dx (s).
        """
        require_width(len(other.shift), len(self.shift), "NaturalNormal.product")
        joint = NaturalNormal(
            self.precision + other.precision, self.shift + other.shift, self.names
        )
        away = (self._mean - other._mean)[:, None]
        one, two = (
            joint._root.solve(product(each.precision, away))[:, 0] for each in (self, other)
        )
        logs = self._root.log_determinant + other._root.log_determinant
        logs -= joint._root.log_determinant + len(self.shift) * LOG_TWO_PI
        return joint, 0.5 * float(logs - one @ two)

    def _names_of(self, columns: Array) -> tuple[str, ...] | None:
        return None if self.names is None else tuple(self.names[i] for i in columns)


def given_values(
    given: Any, values: Any, d: int, names: tuple[str, ...] | None, who: str
) -> tuple[Array, Array]:
    """The columns to condition on, and their values."""
    if isinstance(given, dict):
        if values is not None:
            raise DataError(f"{who}: values are given twice. Omit `values` with a mapping.")
        given, values = list(given), list(given.values())
    known = columns_of(given, d, names, who)
    require_proper(known, d, who)
    if values is None:
        raise DataError(f"{who}: no values are given. Pass one value per column.")
    return known, require_values(values, known.size, who)


def require_width(found: int, d: int, who: str) -> None:
    """Require as many columns as the distribution has."""
    if found != d:
        raise DataError(
            f"{who}: {found} column{'s' if found != 1 else ''} found, but the distribution has "
            f"{d}. They must agree."
        )
