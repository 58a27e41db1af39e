"""The multivariate normal distribution N(μ, Σ): density, samples, fits, and its algebra.

p(x) = (2π)^{−d/2} det(Σ)^{−1/2} exp(−½ (x − μ)ᵀΣ⁻¹(x − μ))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.validation import as_source
from thetahat.foundation.cached import cached_property
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.fitting.result import MapFit
from thetahat.mathematics.distributions.gaussian.algebra import GaussianAlgebra
from thetahat.mathematics.distributions.gaussian.covariance_root import (
    LOG_TWO_PI,
    CovarianceRoot,
    root_of,
)
from thetahat.mathematics.distributions.gaussian.index_sets import as_numbers, names_of_columns
from thetahat.mathematics.distributions.gaussian.natural_normal import NaturalNormal, require_width
from thetahat.mathematics.distributions.gaussian.normal_fit import (
    NormalFit,
    NormalInverseWishart,
    estimates,
)
from thetahat.mathematics.linalg.square import as_symmetric


@dataclass(frozen=True, eq=False, repr=False)
class MultivariateNormal(GaussianAlgebra):
    """Multivariate normal (Gaussian) distribution with a mean vector and a covariance matrix.

    Formula: p(x) = (2π)^{−d/2} det(Σ)^{−1/2} exp(−½ (x − μ)ᵀΣ⁻¹(x − μ)).

    A singular covariance of rank r < d is allowed. The distribution then lies on the plane
    μ + range(Σ), its support, and p is the density on this plane: d is replaced by r, det by the
    product of the positive eigenvalues (pseudo-determinant), and Σ⁻¹ by the pseudo-inverse. Outside
    of the support the density is 0.

    Cost: O(d³) for the factor of Σ, computed once; O(d²) per row; O(d²) memory.

    Parameters
    ----------
    mean : array-like of shape (d,)
        The mean of every column (μ).
    covariance : array-like of shape (d, d)
        The covariance matrix (Σ). Must be symmetric and positive semidefinite.
    names : sequence of str or None, default=None
        Names of the columns, which can then be used to choose columns. `fit` takes them from a
        table.

    Examples
    --------
    >>> import thetahat as th
    >>> normal = th.distributions.MultivariateNormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> round(normal.density([0.0, 0.0]), 6)
    0.183776
    >>> normal.conditional(1, 2.0)
    MultivariateNormal(mean=[1.0], covariance=[[0.75]])
    >>> normal.affine([[1.0, 1.0]], 5.0)
    MultivariateNormal(mean=[5.0], covariance=[[3.0]])
    """

    mean: Array
    covariance: Array
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        who = type(self).__name__
        covariance = as_symmetric(self.covariance, who=who)
        mean = as_numbers(self.mean, f"{who}: the mean")
        if mean.shape != (len(covariance),) or not np.isfinite(mean).all():
            raise DataError(
                f"{who}: the mean must be a vector of finite numbers with one entry per row of the "
                f"covariance ({len(covariance)}), but it has shape {mean.shape}"
                + ("." if np.isfinite(mean).all() else " and an entry that is not finite.")
            )
        names = names_of_columns(self.names, len(mean), who)
        for array in (mean, covariance):
            array.setflags(write=False)
        fields = {"mean": mean, "covariance": covariance, "names": names}
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        _ = self._root  # refuses a covariance that is not positive semidefinite

    @cached_property
    def _root(self) -> CovarianceRoot:
        return root_of(self.covariance, type(self).__name__)

    def _with(self, mean: Array, covariance: Array, names: Any) -> MultivariateNormal:
        return MultivariateNormal(mean, covariance, names)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MultivariateNormal)
            and np.array_equal(self.mean, other.mean)
            and np.array_equal(self.covariance, other.covariance)
            and self.names == other.names
        )

    def __hash__(self) -> int:
        return hash((self.mean.tobytes(), self.covariance.tobytes(), self.names))

    def __repr__(self) -> str:
        if len(self.mean) > 6:
            return f"MultivariateNormal(dimension={len(self.mean)}, rank={self.rank})"
        named = "" if self.names is None else f", names={list(self.names)}"
        mean = [float(f"{value:.6g}") for value in self.mean]
        covariance = [[float(f"{value:.6g}") for value in row] for row in self.covariance]
        return f"MultivariateNormal(mean={mean}, covariance={covariance}{named})"

    @classmethod
    def from_natural(cls, precision: Any, shift: Any = None) -> MultivariateNormal:
        """Create the distribution with natural parameters: Σ = Q⁻¹, μ = Q⁻¹b. Cost: O(d³).

        Parameters
        ----------
        precision : array-like of shape (d, d) or NaturalNormal
            The precision matrix (Q), symmetric and positive definite; or both parameters at once.
        shift : array-like of shape (d,), optional
            The precision times the mean (b). Omitted only with a `NaturalNormal`.

        Returns
        -------
        normal : MultivariateNormal
            The same distribution by mean and covariance.
        """
        if not isinstance(precision, NaturalNormal):
            if shift is None:
                raise DataError("MultivariateNormal.from_natural: pass the shift b beside Q.")
            precision = NaturalNormal(precision, shift)
        return cls(precision.mean, precision.covariance, precision.names)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> NormalFit:
        """Fit by maximum likelihood: μ̂ = x̄ and Σ̂ = (1/n) Σ (x − μ̂)(x − μ̂)ᵀ.

        Cost: O(n d²) time in one pass over the rows, O(d²) memory; rows may be read block by block.

        Parameters
        ----------
        X : array-like, table, sparse matrix or Source of shape (n, d)
            The rows. The column names of a table are kept.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        fit : NormalFit
            The fitted ``distribution`` with standard errors and intervals. A warning is given if
            Σ̂ is singular.
        """
        mean, covariance, names, n = estimates(X, sample_weight, "MultivariateNormal.fit")
        fitted = cls(mean, covariance, names)
        if fitted.is_singular:
            warn(
                f"MultivariateNormal.fit: the covariance of {n:g} row{'s' if n != 1 else ''} is "
                f"singular: its rank is {fitted.rank}, with {len(mean)} columns. The density lies "
                "on the plane that contains the rows and is 0 elsewhere. Drop constant and "
                "linearly dependent columns, use more rows, or shrink the covariance with "
                "th.LedoitWolf.",
                IllConditionedWarning,
            )
        # At the estimates, the mean squared distance of the rows is the rank.
        return NormalFit(fitted, -n * fitted.entropy, n)

    @classmethod
    def map_fit(cls, X: Any, prior: NormalInverseWishart, sample_weight: Any = None) -> MapFit:
        """Fit the most probable parameters under a normal-inverse-Wishart prior.

        Formula: the mode of the posterior, μ̂ = (κμ₀ + n x̄)/(κ + n) and
        Σ̂ = (Ψ + S + κn/(κ + n)·(x̄ − μ₀)(x̄ − μ₀)ᵀ) / (ν + n + d + 2) with the scatter S.

        Cost: O(n d²) time in one pass over the rows, O(d²) memory; rows may be read block by block.

        Parameters
        ----------
        X : array-like, table, sparse matrix or Source of shape (n, d)
            The rows that were observed.
        prior : NormalInverseWishart
            The prior of mean and covariance.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        fit : object with ``distribution`` and ``posterior``
            The distribution with the most probable parameters, and the posterior of the parameters.
        """
        if not isinstance(prior, NormalInverseWishart):
            raise ParameterError(
                f"MultivariateNormal.map_fit: prior={prior!r:.80} must be a "
                "th.distributions.NormalInverseWishart(mean, scatter)."
            )
        posterior = prior.update(X, sample_weight)
        return MapFit(cls(posterior.mean, posterior.most_probable_covariance), posterior)

    @property
    def dimension(self) -> int:
        """Number of columns (d)."""
        return len(self.mean)

    @property
    def rank(self) -> int:
        """Rank of the covariance; the dimension of the support."""
        return self._root.rank

    @property
    def is_singular(self) -> bool:
        """Whether the rank is smaller than the number of columns."""
        return self._root.is_singular

    @property
    def precision(self) -> Array:
        """The inverse of the covariance, Q = Σ⁻¹. A singular Σ has none."""
        self._require_full_rank("precision")
        return self._root.precision

    @property
    def correlation(self) -> Array:
        """The correlation matrix σ_ij / √(σ_ii σ_jj); constant columns have correlation 0."""
        size = np.sqrt(np.diagonal(self.covariance))
        size = np.where(size > 0, size, 1.0)
        found = np.clip(self.covariance / size / size[:, None], -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found

    def log_density(self, X: Any) -> Any:
        """Compute the natural logarithm of the density. Cost: O(d²) per row, in blocks.

        Parameters
        ----------
        X : array-like or Source of shape (n, d), or one point of shape (d,)
            The points at which the density is evaluated.

        Returns
        -------
        log_density : array of shape (n,), or float for one point
            log p(x); −inf outside the support of a singular distribution.
        """
        who = "MultivariateNormal.log_density"
        single = isinstance(X, list | tuple | np.ndarray) and np.ndim(X) == 1
        source = as_source(np.asarray(X)[None, :] if single else X, who=who)
        require_width(source.n_features, len(self.mean), who)
        logs = self._root.log_densities(source, self.mean)
        return float(logs[0]) if single else logs

    def density(self, X: Any) -> Any:
        """Compute the density. Cost: O(d²) per row, in blocks.

        Parameters
        ----------
        X : array-like or Source of shape (n, d), or one point of shape (d,)
            The points at which the density is evaluated.

        Returns
        -------
        density : array of shape (n,), or float for one point
            p(x); 0 outside the support of a singular distribution.
        """
        logs = self.log_density(X)
        with np.errstate(over="ignore", under="ignore"):
            return float(np.exp(logs)) if isinstance(logs, float) else np.exp(logs)

    def cdf(self, X: Any) -> Any:
        """Compute the probability P(x₁ ≤ X₁, ..., x_d ≤ X_d), by SciPy's numerical integration.

        Cost: grows quickly with d; the absolute error is about 1e-5 for d > 2.

        Parameters
        ----------
        X : array-like of shape (n, d), or one point of shape (d,)
            Upper limits of the columns, infinity included.

        Returns
        -------
        probability : array of shape (n,), or float for one point
            The probability of every orthant; the same on every call.
        """
        from scipy.stats import multivariate_normal

        limits = np.atleast_2d(as_numbers(X, "MultivariateNormal.cdf: the limits"))
        require_width(limits.shape[1], len(self.mean), "MultivariateNormal.cdf")
        if np.isnan(limits).any():
            raise DataError("MultivariateNormal.cdf: a limit is NaN. Pass numbers or infinity.")
        varies = np.diagonal(self.covariance) > 0
        # The other columns are certain. SciPy divides their distances, which may be 0, by 0.
        certain = (limits[:, ~varies] >= self.mean[~varies]).all(axis=1)
        found = np.asarray(certain, dtype=np.float64)
        if varies.any():
            mean, covariance = self.mean[varies], self.covariance[np.ix_(varies, varies)]
            # SciPy takes its seed here, so that the integration does not depend on earlier calls.
            frozen = multivariate_normal(mean, covariance, allow_singular=True, seed=0)
            with np.errstate(invalid="ignore"):  # SciPy subtracts the means from infinite limits
                found *= [float(frozen.cdf(row)) for row in limits[:, varies]]
        return float(found[0]) if np.ndim(X) == 1 else found

    def sample(self, n: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows μ + Bz with Σ = BBᵀ and z ~ N(0, I). Cost: O(d²) per row.

        Parameters
        ----------
        n : int, default=1
            Number of rows to draw. Must not be negative.
        random_state : int, Generator or None, default=None
            Seed for drawing the rows. Pass an int for the same rows on every call.

        Returns
        -------
        rows : array of shape (n, d)
            The drawn rows.
        """
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise ParameterError(f"MultivariateNormal.sample: n={n!r} must be a whole number ≥ 0.")
        return self._root.sample(int(n), self.mean, generator(random_state))

    @property
    def entropy(self) -> float:
        """Differential entropy −E log p(x) = ½ log det(2πeΣ), in nats; on the support of Σ."""
        return 0.5 * (self.rank * (1.0 + LOG_TWO_PI) + self._root.log_determinant)

    def kl(self, other: MultivariateNormal) -> float:
        """Compute the Kullback-Leibler divergence KL(self ‖ other), in nats. Cost: O(d³).

        Formula: ½ (tr(Σ₁⁻¹Σ₀) + (μ₁ − μ₀)ᵀΣ₁⁻¹(μ₁ − μ₀) − d + log det Σ₁ − log det Σ₀).

        Parameters
        ----------
        other : MultivariateNormal
            The distribution to compare with (index 1), of the same dimension.

        Returns
        -------
        divergence : float
            At least 0, and 0 only for equal distributions; +inf if the supports differ.
        """
        self._require_same_kind(other, "kl")
        here, there = self._root, other._root
        away = self.mean - other.mean
        if here.rank != there.rank or not all(
            there.contains(each, other.mean) for each in (away, *here.colour.T)
        ):
            return float("inf")
        spread = there.solve(here.colour)
        shift = there.solve(away[:, None])
        square = float(np.vdot(spread, spread)) + float(np.vdot(shift, shift))
        logs = there.log_determinant - here.log_determinant
        return max(0.0, 0.5 * (square - self.rank + logs))

    _divergence = kl
