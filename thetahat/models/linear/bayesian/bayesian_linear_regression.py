"""Bayesian linear regression with a normal prior of the coefficients and normal noise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.summaries.moments import Moments, moments
from thetahat.data.views import reweighted
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, boolean, from_to, none
from thetahat.foundation.arguments import numbers
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.posterior import LinearPosterior, spread_of
from thetahat.mathematics.distributions.gaussian.prior import GaussianPrior
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.bayesian.conjugate_update import Conjugate
from thetahat.models.linear.bayesian.credible_intervals import Credible

LEAST_NOISE = (
    "the evidence is largest at σ → 0, or at a σ below rounding: noise_ is set to the smallest "
    "value that can be resolved, 1.5e-8 of the size of y. Give noise=σ if it is known."
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
    """The sums over the rows that determine the posterior; two sets of rows can be merged."""

    about: Moments
    """Moments, weighted by w/σᵢ² if noise was given for each row, otherwise by w."""
    n: float
    """Σ w."""
    log_noise: float
    """Σ w log σᵢ²; 0 if the noise is one number."""
    per_row: bool
    """Whether noise was given for each row."""

    def merge(self, other: SeenRows) -> SeenRows:
        """The sums over both sets of rows."""
        return SeenRows(
            self.about.merge(other.about),
            self.n + other.n,
            self.log_noise + other.log_noise,
            self.per_row,
        )


@with_parameters
class BayesianLinearRegression(Credible, OneTargetRegressor):
    """Linear regression with a normal prior on the coefficients, giving their full posterior.

    Formula: with β ~ N(μ₀, S₀) and yᵢ | xᵢ ~ N(xᵢᵀβ + b, σᵢ²), β | data ~ N(A⁻¹B, A⁻¹) where A = Σ
    xᵢxᵢᵀ/σᵢ² + S₀⁻¹ and B = Σ yᵢxᵢ/σᵢ² + S₀⁻¹μ₀. A new y at x is normal with mean xᵀA⁻¹B and
    variance σ² + xᵀA⁻¹x. A flat prior gives least squares; S₀ = I·σ²/α gives `Ridge`.

    Cost: one Gram matrix, O(n d²), in memory or block by block, and O(d³).

    Parameters
    ----------
    prior_mean : float or array of shape (d,), default=0.0
        Prior mean of the coefficients (μ₀): one number for all columns, or one per column.
    prior_covariance : float, array of shape (d,) or (d, d), or None, default=1.0
        Prior covariance of the coefficients (S₀): one variance for all columns, one variance per
        column, or a covariance matrix. Larger variances shrink the coefficients less towards the
        prior mean. An infinite variance, or None for all columns, is a flat prior.
    noise : float or None, default=None
        Standard deviation of the noise (σ). None estimates it by maximising the evidence. Must be
        between 1e-100 and 1e100, so that its square is a number.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred.
    intercept_prior : tuple of (mean, variance) or None, default=None
        Mean and variance of the normal prior of the intercept. None is a flat prior.

    Attributes
    ----------
    coef_ : array of shape (d,)
        Posterior mean of the coefficients.
    intercept_ : float
        Posterior mean of the intercept; 0 if ``fit_intercept=False``.
    mean_, covariance_ : array of shape (p,) and (p, p)
        Joint posterior mean and covariance of the coefficients and, last, the intercept.
    noise_ : float or None
        Standard deviation of the noise (σ), given or estimated; None if `fit` was given one per
        row. Estimates are at least 1.5e-8 of the size of y, so that the posterior stays proper for
        exact data. They have two correct digits at 5e-8 of the size of y and five at 5e-7. If the
        evidence is largest at σ → 0, which is common with no more rows than columns,
        ``solution_.message`` says so.
    log_evidence_ : float
        Log evidence, log p(y | X); a flat prior counts as density 1.
    solution_ : Solution
        Report of the solver, which is direct. ``solution_.message`` says whether the noise was set
        to its smallest value.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.1, 1.9]
    >>> model = th.BayesianLinearRegression(prior_covariance=100.0, noise=0.1).fit(X, y)
    >>> mean, std = model.predict([[3.0]], return_std=True)
    >>> round(float(mean[0]), 2), round(float(std[0]), 3)
    (2.9, 0.183)
    """

    prior_mean: Any = 0.0
    prior_covariance: Any = 1.0
    _: KW_ONLY
    noise: float | None = None
    fit_intercept: bool = True
    intercept_prior: tuple[float, float] | None = None

    _ranges = {  # noqa: RUF012
        "noise": from_to(1 / LARGEST_FACTOR, LARGEST_FACTOR) | none,
        "fit_intercept": boolean,
        "intercept_prior": level_prior | none,
    }

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, noise: Any = None
    ) -> BayesianLinearRegression:
        """Compute the posterior given these rows.

        Parameters
        ----------
        noise : array-like of shape (n,), optional
            Standard deviation of the noise of each row (σᵢ). None uses the `noise` of the
            constructor.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        return self._condition(source, self._seen(source, noise))

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, noise: Any = None
    ) -> BayesianLinearRegression:
        """Update the posterior with more rows.

        The result is the same as that of one `fit` to all rows seen so far, in any order and
        grouping. Cost: O(n d²) for the new rows, and O(d³).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,), optional
            Target values. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        noise : array-like of shape (n,), optional
            Standard deviation of the noise of each row (σᵢ). Give it in every call or in none.

        Returns
        -------
        self : object
            The fitted estimator.
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
                f"{type(self).__name__}: give noise with every batch or with none. In the batches "
                f"before, it was {'one per row' if self.noise_ is None else 'one number'}."
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
                f"{type(self).__name__}: noise has shape {sigma.shape}, but one standard deviation "
                f"per row is needed. Give an array of shape ({n},)."
            )
        sigma = np.broadcast_to(sigma, (n,))
        good = (sigma >= 1 / LARGEST_FACTOR) & (sigma <= LARGEST_FACTOR)
        if not good.all():
            row = int(np.argmin(good))
            raise DataError(
                f"{type(self).__name__}: noise[{row}] = {sigma[row]:g}; standard deviations must "
                f"be from {1 / LARGEST_FACTOR:g} to {LARGEST_FACTOR:g}. For an exact row, use a "
                "small value."
            )

        def precision(block: Block) -> Array:
            return sigma[block.start : block.start + block.n_rows] ** -2.0

        def counted(block: Block) -> _Counted:
            weight = block.row_weights
            part = sigma[block.start : block.start + block.n_rows]
            return _Counted(float(weight.sum()), float(weight @ np.log(part**2)))

        sums = source.reduce(counted)
        about = moments(reweighted(source, precision, lazy=True))
        return SeenRows(about, sums.n, sums.log_noise, True)

    def _condition(self, source: Source, seen: SeenRows) -> BayesianLinearRegression:
        who, about = type(self).__name__, seen.about
        prior = GaussianPrior.of(self.prior_mean, self.prior_covariance, source.n_features, who)
        flat_level = self.fit_intercept and self.intercept_prior is None
        if self.fit_intercept and self.intercept_prior is not None:
            prior = prior.with_level(*map(float, self.intercept_prior))
        if not about.weight > 0:
            raise DataError("All sample weights are zero. Give at least one row a positive weight.")
        problem = _conjugate(about, prior, seen.n, flat_level, self.fit_intercept)
        self.noise_, message = self._one_noise(problem, seen)
        variance = 1.0 if self.noise_ is None else self.noise_**2
        self._noise_freedom, self._noise_inflation = None, 1.0
        if self.noise is None and self.noise_ is not None:
            effective = problem.effective_coefficients(variance)
            self._count_noise(problem.n, effective, intercept=False, prior=0.0, unbiased=True)
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
            message=message or Outcome.EXACT.value,
        )
        return self

    def _one_noise(self, problem: Conjugate, seen: SeenRows) -> tuple[float | None, str]:
        """σ, and a message about it if there is one."""
        if seen.per_row:
            return None, ""
        if self.noise is not None:
            return float(self.noise), ""
        if seen.n <= 1.0:
            raise DataError(
                f"{type(self).__name__}: the noise cannot be estimated from one sample "
                "(n_samples = 1). Give noise=σ, or more rows."
            )
        variance, least = problem.best_noise()
        return float(np.sqrt(variance)), LEAST_NOISE if least else ""

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, noise: Any = None
    ) -> Any:
        """Predict the mean of y, and optionally its standard deviation or covariance.

        Cost: O(n d) for the mean, O(n d²) with the standard deviation.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard deviation of a new y as well, √(σ² + xᵀVx).
        return_cov : bool, default=False
            Whether to return the covariance matrix of the new y of all rows as well.
        noise : float or array-like of shape (n,), optional
            Standard deviation of the noise of the new y. None uses that of the fit. 0 gives the
            posterior of the mean only.

        Returns
        -------
        mean : array of shape (n,)
            Predicted mean of y.
        std : array of shape (n,)
            Standard deviation of a new y. Only returned if ``return_std=True``.
        cov : array of shape (n, n)
            Covariance matrix of the new y. Only returned if ``return_cov=True``.
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
                f"{type(self).__name__}: each row of the fit had its own noise, so the noise of a "
                'new y is not known. Give noise=σ, or kind="credible" (noise=0) for the mean only.'
            )
        given = self.noise_ if noise is None else noise
        sigma = numbers(given, "noise", type(self).__name__)
        if sigma.shape not in ((), (n_rows,)) or not (sigma >= 0).all():
            raise ParameterError(
                f"{type(self).__name__}: noise must be a number ≥ 0, or an array of {n_rows} "
                "numbers ≥ 0, one for each row."
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
    """The sums, centred for a flat intercept, otherwise with a column of ones or no intercept."""
    d, weight = about.n_features, about.weight
    if np.diagonal(about.scatter).min() < 0:
        warn(
            "BayesianLinearRegression: a sum of squares is negative, so that rows of small weight "
            "are lost in rounding errors. Use weights whose ratio is at most 1e15.",
            IllConditionedWarning,
        )
    centred = about if flat_level else about.about_zero()
    scatter = centred.in_data_units()
    spread = float(np.sqrt(max(0.0, about.scatter[d, d] / weight)) * about.unit[d])
    size = float(np.abs(about.y_mean[0])) + spread
    gram, product, total = scatter[:d, :d], scatter[:d, d], float(scatter[d, d])
    if intercept and not flat_level:
        sums = weight * about.mean
        gram = np.block([[gram, sums[:d, None]], [sums[None, :d], np.array([[weight]])]])
        product = np.append(product, sums[d])
    rows = about.n_rows - flat_level
    return Conjugate.of(prior, gram, product, total, n=n - flat_level, rows=rows, size=size)
