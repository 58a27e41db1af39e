"""Bayesian linear regression: a normal prior of the coefficients, normal noise of known size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import Moments, dense_rows, moments
from thetahat.data.views.reweighted import Reweighted
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import Range, boolean, more_than, none
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.bayesian.conjugate_update import Conjugate
from thetahat.models.linear.bayesian.credible_intervals import Credible
from thetahat.models.linear.bayesian.gaussian_prior import GaussianPrior
from thetahat.models.linear.bayesian.posterior import LinearPosterior, spread_of

LEAST_NOISE = (
    "the evidence is largest at σ → 0, or at a σ that rounding hides: noise_ is the least that is "
    "told from none, 1.5e-8 of the size of y. Give noise=σ if it is known."
)

level_prior = Range(
    lambda value: (
        isinstance(value, tuple | list)
        and len(value) == 2
        and bool(np.isfinite(value).all())
        and value[1] > 0
    ),
    "a pair (mean, variance) with variance > 0",
)


@dataclass(frozen=True)
class SeenRows:
    """All that the posterior remembers of its rows; two sets of them merge."""

    about: Moments
    """Weighted by w/σᵢ² where noise was given row by row, else by w."""
    n: float
    """Σ w."""
    log_noise: float
    """Σ w log σᵢ², 0 where the noise is one number."""
    per_row: bool
    """Whether noise was given row by row."""

    def merge(self, other: SeenRows) -> SeenRows:
        """Both sets of rows."""
        return SeenRows(
            self.about.merge(other.about),
            self.n + other.n,
            self.log_noise + other.log_noise,
            self.per_row,
        )


class BayesianLinearRegression(Credible, LinearRegressor):
    """Linear regression with a normal prior: the whole posterior, not one answer.

    Formula: with β ~ N(μ₀, S₀) and yᵢ | xᵢ ~ N(xᵢᵀβ + b, σᵢ²), β | data ~ N(A⁻¹B, A⁻¹) where
    A = Σ xᵢxᵢᵀ/σᵢ² + S₀⁻¹ and B = Σ yᵢxᵢ/σᵢ² + S₀⁻¹μ₀. A new y at x is normal with mean xᵀA⁻¹B
    and variance σ² + xᵀA⁻¹x. A flat prior gives least squares; S₀ = I·σ²/α gives `Ridge`.

    Cost: one Gram matrix, O(n d²), in memory or out of core, and O(d³).

    Parameters
    ----------
    prior_mean : float or array of shape (d,), default=0.0
        μ₀.
    prior_covariance : float, array of shape (d,) or (d, d), or None, default=1.0
        S₀: a variance for all, one each (∞ is flat), or the matrix; None: flat.
    noise : float or None, default=None
        σ, the standard deviation of the noise; None: the σ that maximises the evidence.
    fit_intercept : bool, default=True
        Whether there is a b.
    intercept_prior : (mean, variance) or None
        Normal prior of b; None: flat.

    Attributes
    ----------
    coef_, intercept_ : array, float
        Posterior means.
    mean_, covariance_ : array of shape (p,) and (p, p)
        The joint posterior of the coefficients and, last, the intercept.
    noise_ : float or None
        σ: given or estimated; None where `fit` was given one per row. It is never estimated below
        1.5e-8 of the size of y, so that exact data keep a proper posterior, and keeps two digits
        at 5e-8 of it, five at 5e-7: it comes from moments. Where the evidence is largest at σ → 0,
        ``solution_.message`` says so; with no more rows than columns that is common, as the prior
        alone then tells noise from signal.
    log_evidence_ : float
        log p(y | X); the density of a flat prior counts as 1.
    solution_ : Solution
        Solved directly; its message tells whether the noise is at its least.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.1, 1.9]
    >>> model = th.BayesianLinearRegression(prior_covariance=100.0, noise=0.1).fit(X, y)
    >>> mean, std = model.predict([[3.0]], return_std=True)
    >>> round(float(mean[0]), 2), round(float(std[0]), 3)
    (2.9, 0.183)
    """

    _ranges = {  # noqa: RUF012
        "noise": more_than(0) | none,
        "fit_intercept": boolean,
        "intercept_prior": level_prior | none,
    }
    _multi_output = False

    def __init__(
        self,
        prior_mean: Any = 0.0,
        prior_covariance: Any = 1.0,
        *,
        noise: float | None = None,
        fit_intercept: bool = True,
        intercept_prior: tuple[float, float] | None = None,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.noise = noise
        self.fit_intercept = fit_intercept
        self.intercept_prior = intercept_prior

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, noise: Any = None
    ) -> BayesianLinearRegression:
        """The posterior given these rows alone.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Targets; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.
        noise : array of shape (n,), optional
            Standard deviation σᵢ of each row's noise; by default the `noise` of the constructor.

        Returns
        -------
        self
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        return self._condition(source, self._seen(source, noise))

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, noise: Any = None
    ) -> BayesianLinearRegression:
        """The posterior so far is the prior of these rows; parameters as in `fit`.

        The result is that of one `fit` to all rows seen, in any order and grouping.
        """
        before = getattr(self, "_rows", None)
        if before is None:
            return self.fit(X, y, sample_weight, noise=noise)
        source = clone(self)._open(X, y, sample_weight, check_finite=False)
        if isinstance(X, Source):
            self._require_same_columns(X)
        else:
            validate_data(self, X, skip_check_array=True, reset=False)
        if (self.noise_ is None) != (noise is not None):
            raise ParameterError(
                f"{type(self).__name__}: give noise= with every batch, or with none: before, it "
                f"was {'one per row' if self.noise_ is None else 'one number'}."
            )
        return self._condition(source, before.merge(self._seen(source, noise)))

    def _seen(self, source: Source, noise: Any) -> SeenRows:
        if noise is None:
            about = moments(source)
            return SeenRows(about, about.weight, 0.0, False)
        sigma = numbers(noise, "noise", type(self).__name__, finite=False)
        n = source.n_rows
        if sigma.shape not in ((), (n,)):
            raise DataError(
                f"{type(self).__name__}: noise has shape {sigma.shape}; give {n} standard "
                "deviations, one for each row."
            )
        sigma = np.broadcast_to(sigma, (n,))
        good = np.isfinite(sigma) & (sigma > 0)
        if not good.all():
            row = int(np.argmin(good))
            raise DataError(
                f"{type(self).__name__}: noise[{row}] = {sigma[row]:g}; standard deviations must "
                "be finite and > 0. A row that is exact can be given a very small one."
            )

        def precision(block: Block) -> Array:
            return sigma[block.start : block.start + block.n_rows] ** -2.0

        def counted(block: Block) -> _Counted:
            weight = np.ones(block.n_rows) if block.weight is None else block.weight
            part = sigma[block.start : block.start + block.n_rows]
            return _Counted(float(weight.sum()), float(weight @ np.log(part**2)))

        sums = source.reduce(counted)
        about = moments(Reweighted.of(source, precision))
        return SeenRows(about, sums.n, sums.log_noise, True)

    def _condition(self, source: Source, seen: SeenRows) -> BayesianLinearRegression:
        who, about = type(self).__name__, seen.about
        prior = GaussianPrior.of(self.prior_mean, self.prior_covariance, source.n_features, who)
        flat_level = self.fit_intercept and self.intercept_prior is None
        if self.fit_intercept and self.intercept_prior is not None:
            prior = prior.with_level(*map(float, self.intercept_prior))
        if not about.weight > 0:
            raise DataError("All sample weights are zero, so no row counts. Give one weight > 0.")
        problem = _conjugate(about, prior, seen.n, flat_level, self.fit_intercept)
        self.noise_, said = self._one_noise(problem, seen)
        variance = 1.0 if self.noise_ is None else self.noise_**2
        mean, covariance, log_evidence = problem.posterior(variance)
        log_evidence -= 0.5 * (seen.n * np.log(2 * np.pi * variance) + seen.log_noise)
        d = source.n_features
        if flat_level:
            log_evidence += 0.5 * np.log(2 * np.pi * variance / about.weight)
            mean = np.append(mean, about.y_mean[0])
            wider = np.zeros((d + 1, d + 1))
            wider[:d, :d], wider[d, d] = covariance, variance / about.weight
            covariance = wider
        centre = about.x_mean if flat_level else np.zeros(d)
        self._posterior = LinearPosterior(mean, covariance, centre, self.fit_intercept)
        self._rows, self.log_evidence_ = seen, float(log_evidence)
        self.mean_, self.covariance_ = self._posterior.in_units()
        stacked = self.mean_ if self.fit_intercept else np.append(self.mean_, 0.0)
        self._keep(stacked[:, None], source)
        self.solution_ = Solution(
            theta=stacked,
            outcome=Outcome.EXACT,
            solver="conjugate",
            reason="normal prior and normal noise: the posterior is normal, in closed form",
            value=-self.log_evidence_,
            message=said or Outcome.EXACT.value,
        )
        return self

    def _one_noise(self, problem: Conjugate, seen: SeenRows) -> tuple[float | None, str]:
        """σ, and what there is to say of it."""
        if seen.per_row:
            return None, ""
        if self.noise is not None:
            return float(self.noise), ""
        if seen.n <= 1.0:
            raise DataError(
                f"{type(self).__name__}: one sample (n_samples = 1) tells nothing of the noise. "
                "Give noise=σ, or more rows."
            )
        variance, least = problem.best_noise()
        return float(np.sqrt(variance)), LEAST_NOISE if least else ""

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, noise: Any = None
    ) -> Any:
        """The mean of y at new rows, and how far y may lie from it. Cost: O(n d²) with the latter.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.
        return_std : bool, default=False
            Also return the standard deviation of a new y: √(σ² + xᵀVx).
        return_cov : bool, default=False
            Also return the covariance of the new y at all rows, (n, n).
        noise : float or array of shape (n,), optional
            σ of the new y; by default that of the fit. 0 leaves the posterior of the mean alone.

        Returns
        -------
        array of shape (n,), and what was asked for after it
        """
        mean = self._raw(X)
        if not (return_std or return_cov):
            return mean
        rows, variance = self._open_again(X), self._noise_variance(len(mean), noise)
        found = [mean]
        if return_std:
            found.append(np.sqrt(spread_of(self._posterior, rows) + variance))
        if return_cov:
            whole = np.concatenate([dense_rows(block) for block in rows.blocks()])
            joint = self._posterior.joint(whole)
            found.append(joint + np.diag(np.broadcast_to(variance, (len(whole),))))
        return tuple(found)

    @property
    def _has_one_noise(self) -> bool:
        return self.noise_ is not None

    def _noise_variance(self, n_rows: int, noise: Any) -> Any:
        if noise is None and self.noise_ is None:
            raise ParameterError(
                f"{type(self).__name__}: each row of the fit had its own noise, so that of a new y "
                'is not known. Give noise=σ, or kind="credible" (noise=0) for the mean alone.'
            )
        given = self.noise_ if noise is None else noise
        sigma = numbers(given, "noise", type(self).__name__)
        if sigma.shape not in ((), (n_rows,)) or not (sigma >= 0).all():
            raise ParameterError(
                f"{type(self).__name__}: noise must be a number ≥ 0, or {n_rows} of them, one for "
                "each row."
            )
        return sigma**2


@dataclass(frozen=True)
class _Counted:
    n: float
    log_noise: float

    def merge(self, other: _Counted) -> _Counted:
        return _Counted(self.n + other.n, self.log_noise + other.log_noise)


def _conjugate(
    about: Moments, prior: GaussianPrior, n: float, flat_level: bool, intercept: bool
) -> Conjugate:
    """The sums about the mean (a flat intercept), or about zero with a column of ones or none."""
    d, weight = about.n_features, about.weight
    centred = about if flat_level else about.about_zero()
    scatter = centred.in_data_units()
    spread = float(np.sqrt(about.scatter[d, d] / weight) * about.unit[d])
    size = float(np.abs(about.y_mean[0])) + spread
    gram, product, total = scatter[:d, :d], scatter[:d, d], float(scatter[d, d])
    if intercept and not flat_level:
        sums = weight * about.mean
        gram = np.block([[gram, sums[:d, None]], [sums[None, :d], np.array([[weight]])]])
        product = np.append(product, sums[d])
    rows = about.n_rows - flat_level
    return Conjugate.of(prior, gram, product, total, n=n - flat_level, rows=rows, size=size)
