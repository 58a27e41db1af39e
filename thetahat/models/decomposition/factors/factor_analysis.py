"""Factor analysis: x = μ + Aᵀz + ε with z ~ N(0, I) and noise of its own variance per column."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.summaries.means import count_used_rows, means
from thetahat.data.summaries.moments import moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import Likelihood, Novelty, require_sample_count
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.decomposition.factors.noise_profile import (
    LEAST_NOISE,
    SMALL,
    FewRows,
    Matrix,
    NoiseProfile,
    NoiseSteps,
    Spread,
)
from thetahat.models.decomposition.factors.rotation import rotated
from thetahat.models.decomposition.principal.projection import Projection

CONSTANT = 1e-12
"""The noise variance of a constant column."""
CLEAR = 1e3
"""Largest ratio of a variance to its noise for which the inverse of the covariance is exact to 12
digits as a difference."""
_array_like = Range(lambda value: not isinstance(value, str) and np.ndim(value) == 1, "an array")


@with_parameters
class FactorAnalysis(Watched, Likelihood, Novelty, Projection):
    """Factor analysis: few common factors, and independent noise of each column.

    Each row is a combination of k factors plus noise, whose variance differs between columns.
    Unlike principal components, a noisy column has little influence on the factors, and the result
    does not depend on the units of the columns.

    Formula: x = μ + Aᵀz + ε with z ~ N(0, I) and ε ~ N(0, Ψ), Ψ diagonal, so that the rows are
    N(μ, AᵀA + Ψ). The likelihood is maximised over A and Ψ. For a given Ψ the best A follows from
    eigenvalues; Ψ is found by Newton steps, and by EM steps where these do not increase the
    likelihood. The components of a row are its expected factors, z = (I + AΨ⁻¹Aᵀ)⁻¹AΨ⁻¹(x − μ). The
    likelihood can have several local maxima.

    Cost: O(n d²) time for one pass over the rows, in memory or on disk, and O(d³) per iteration,
    whatever the number of rows. With more than 100 columns and fewer than half as many rows, it is
    O(n d k) per iteration. Memory O(d²), or O(n d).

    Parameters
    ----------
    n_components : int or None, default=None
        Number of factors (k). More factors fit the training rows better. None uses the number of
        columns. Must be at least 0.
    tol : float, default=1e-2
        Iterations stop when the log-likelihood of all rows increases by less than this tolerance,
        with row weights scaled to a mean of 1. Smaller values give more accurate results and need
        more iterations. Must be at least 0.
    copy : bool, default=True
        Has no effect, because rows are never overwritten. Accepted for compatibility with
        scikit-learn.
    max_iter : int, default=1000
        Maximum number of iterations. Must be at least 1.
    noise_variance_init : array-like of shape (d,), optional
        Noise variances to start from. They must be positive. None starts from half the variance of
        each column.
    svd_method : {"lapack", "randomized"}, default="randomized"
        How the leading eigenvalues are computed. "lapack" is accurate to rounding. "randomized"
        improves the vectors of the last iteration by `iterated_power` products, which is faster
        for more than 100 columns; for fewer columns both are the same.
    iterated_power : int, default=3
        Number of power iterations of "randomized" per step. A larger number is more accurate and
        takes longer.
    rotation : {"varimax", "quartimax"} or None, default=None
        How the factors are turned, which changes neither the covariance nor the likelihood.
        "varimax" gives each factor few large loadings, "quartimax" each column. None keeps the
        factors in order of decreasing variance relative to the noise.
    random_state : int, Generator or None, default=0
        Seed of the random vectors of "randomized".

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The loadings of the factors (A). The column that is most correlated with a factor has a
        positive loading. Factors that the likelihood does not need are 0.
    noise_variance_ : array of shape (d,)
        The variance of the noise of each column (Ψ). It is at least 1e-8 of the variance of the
        column. Columns at this bound are explained by the factors completely.
    mean_ : array of shape (d,)
        The mean of each column (μ).
    loglike_ : list of float
        The log-likelihood of the training rows at the start and after each iteration. It never
        decreases.
    n_iter_ : int
        The number of iterations.
    solution_ : Solution
        How the fit ended: outcome, iterations and gap.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> factor = rng.normal(size=(500, 1))
    >>> X = factor @ [[1.0, 1.0, 1.0]] + rng.normal(size=(500, 3)) * [0.5, 1.0, 2.0]
    >>> model = th.FactorAnalysis(n_components=1).fit(X)
    >>> np.sqrt(model.noise_variance_).round(1).tolist()
    [0.6, 0.9, 1.9]
    """

    n_components: int | None = None
    _: KW_ONLY
    tol: float = 1e-2
    copy: bool = True
    max_iter: int = 1000
    noise_variance_init: Any = None
    svd_method: str = "randomized"
    iterated_power: int = 3
    rotation: str | None = None
    random_state: Any = 0

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(0) | none,
        "tol": at_least(0),
        "copy": boolean,
        "max_iter": whole(1),
        "noise_variance_init": _array_like | none,
        "svd_method": one_of("lapack", "randomized"),
        "iterated_power": whole(0),
        "rotation": one_of("varimax", "quartimax") | none,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FactorAnalysis:
        """Maximise the likelihood. Cost: see `FactorAnalysis`."""
        source = self._open(X, None, sample_weight, supervised=False)
        d = source.n_features
        k = d if self.n_components is None else int(self.n_components)
        self._require(source, k)
        mean, variances, weight, n_rows, spread = _read(source)
        varies = variances > 0
        start = self._start(variances)[varies]
        problem = NoiseProfile(
            spread,
            min(k, int(varies.sum())),
            self.svd_method == "lapack",
            self.iterated_power,
            generator(self.random_state),
        )

        def attributes(logs: Array) -> dict[str, Array]:
            deviation = np.sqrt(variances[varies])
            with one_blas_thread():
                found = problem.again(logs).loadings(np.exp(0.5 * logs)) * deviation
            loadings, noise = np.zeros((k, d)), np.full(d, CONSTANT)
            if self.rotation is not None:
                found = rotated(found, self.rotation)
            # Signs by the correlations with the columns, which do not depend on their units.
            loadings[: len(found), varies] = with_fixed_signs(found / deviation) * deviation
            noise[varies] = np.exp(logs) * variances[varies]
            return {"components_": loadings, "noise_variance_": noise, "mean_": mean}

        with self._watching(self.max_iter, attributes, X, y) as watch:
            self.solution_ = minimise(
                problem,
                NoiseSteps(n_rows),
                start,
                tolerance=self.tol,
                max_steps=self.max_iter,
                watch=watch,
                reason="maximises the likelihood over the noise variances alone",
                keep_trace=True,
            )
        self.__dict__.update(attributes(self.solution_.theta))
        logs = np.log(np.where(varies, variances, CONSTANT)).sum() + d * np.log(2 * np.pi)
        self.loglike_ = [-0.5 * weight * float(logs + each) for each in self.solution_.trace]
        self.n_iter_ = self.solution_.steps
        self._warn_unless_converged()
        return self

    def _require(self, source: Source, k: int) -> None:
        n, d = source.n_rows, source.n_features
        if n < 2:
            raise DataError(
                f"FactorAnalysis: n_samples = {n}, but a variance needs at least 2 rows. Add rows."
            )
        if k > d:
            raise ParameterError(
                f"FactorAnalysis: n_components={k} must be at most the number of columns, {d}. "
                "Use a smaller number."
            )
        if self.noise_variance_init is not None:
            given = np.asarray(self.noise_variance_init)
            if given.shape != (d,):
                raise ParameterError(
                    f"FactorAnalysis: noise_variance_init has the shape {given.shape}, but X has "
                    f"{d} columns. Pass one positive number per column."
                )
            if given.dtype.kind not in "fiu" or not (np.isfinite(given) & (given > 0)).all():
                raise ParameterError(
                    "FactorAnalysis: noise_variance_init must hold positive finite numbers. "
                    "Use None to start from half the variance of each column."
                )
        if not _by_rows(source):
            require_memory(
                8 * 6 * d * d,
                f"FactorAnalysis: the covariance of {d} columns",
                "Use fewer columns.",
            )

    def _start(self, variances: Array) -> Array:
        """Logarithms of the noise variances, as shares of the variances of the columns."""
        if self.noise_variance_init is None:
            return np.full(len(variances), np.log(0.5))
        with np.errstate(divide="ignore"):
            share = np.asarray(self.noise_variance_init, dtype=np.float64) / variances
        return np.log(np.clip(share, LEAST_NOISE, 1.0 / LEAST_NOISE))

    def _offset(self) -> Array:
        return self.mean_

    def _whitening(self) -> tuple[Array, Array, Array]:
        """Ψ^(−½), B = AΨ^(−½), and the lower Cholesky factor of I + BBᵀ."""
        check_is_fitted(self)
        scale = 1.0 / np.sqrt(self.noise_variance_)
        B = self.components_ * scale
        with one_blas_thread():
            inner = B @ B.T
            np.einsum("ii->i", inner)[:] += 1.0
            return scale, B, np.linalg.cholesky(inner)

    def _transform_block(self, block: Block) -> Array:
        scale, B, root = self._whitening()
        weights = scipy_linalg().cho_solve((root, True), B * scale, check_finite=False)
        return (dense_rows(block) - self.mean_) @ weights.T

    def get_covariance(self) -> Array:
        """Compute the covariance of the model, AᵀA + Ψ. Cost: O(d² k).

        Returns
        -------
        covariance : array of shape (d, d)
            Covariance matrix of the rows.
        """
        check_is_fitted(self)
        with one_blas_thread():
            found: Array = self.components_.T @ self.components_
        np.einsum("ii->i", found)[:] += self.noise_variance_
        return found

    def get_precision(self) -> Array:
        """Compute the inverse of `get_covariance`.

        Cost: O(d² k), or O(d³) if a noise variance is nearly 0.

        Returns
        -------
        precision : array of shape (d, d)
            Inverse of the covariance matrix of the rows.
        """
        scale, B, root = self._whitening()
        if (1.0 + (B**2).sum(axis=0)).max(initial=1.0) < CLEAR:
            with one_blas_thread():
                turned = scipy_linalg().solve_triangular(root, B, lower=True, check_finite=False)
                found: Array = -(turned.T @ turned)
            np.einsum("ii->i", found)[:] += 1.0
            return found * scale * scale[:, None]
        # The difference above would lose the digits of columns almost without noise.
        covariance = self.get_covariance()
        scale = 1.0 / np.sqrt(np.diagonal(covariance))
        with one_blas_thread():
            inverse: Array = np.linalg.inv(covariance * scale * scale[:, None])
        return (inverse + inverse.T) * (0.5 * scale * scale[:, None])

    def log_density(self, X: Any) -> Array:
        """Compute log p(x) = log N(x | μ, AᵀA + Ψ) for every row. Cost: O(n d k).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x) for every row.
        """
        scale, B, root = self._whitening()
        part = scipy_linalg().solve_triangular(root, B, lower=True, check_finite=False)
        level = len(scale) * np.log(2 * np.pi) - 2.0 * np.log(scale).sum()
        level += 2.0 * np.log(np.diagonal(root)).sum()

        def of_block(block: Block) -> Array:
            rows = dense_rows(block)
            apart = (rows - self.mean_) * scale
            distance = (apart**2).sum(axis=1) - ((apart @ part.T) ** 2).sum(axis=1)
            return (-0.5 * (level + distance)).astype(rows.dtype, copy=False)

        return self._open_again(X).map_rows(of_block)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows from the fitted Gaussian. Cost: O(n d k).

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw; at least 1.
        random_state : int, Generator or None, default=None
            Seed of the draws. Pass an int for the same rows on every call.

        Returns
        -------
        array of shape (n_samples, d)
            The drawn rows.
        """
        check_is_fitted(self)
        k, d = self.components_.shape
        require_sample_count(n_samples, type(self).__name__, d)
        rng = generator(random_state)
        rows = rng.standard_normal((n_samples, k)) @ self.components_
        rows += rng.standard_normal((n_samples, d)) * np.sqrt(self.noise_variance_)
        return rows + self.mean_


def _by_rows(source: Source) -> bool:
    """Whether the rows are few compared with the columns, so that no covariance is needed."""
    d = source.n_features
    return isinstance(source, InMemory) and d > SMALL and 2 * source.n_rows < d


def _read(source: Source) -> tuple[Array, Array, float, int, Spread]:
    """Means and variances of the columns, Σw, the number of rows, and the correlations.

    Rows of weight 0 do not count, and correlations are those of the columns that vary.
    """
    d = source.n_features
    if _by_rows(source):
        assert isinstance(source, InMemory)
        require_squares_of_rows(source, who="FactorAnalysis")
        about = means(source)
        mean = about.mean[:d]
        rows = np.asarray(source.X, dtype=np.float64) - mean
        rows[:, (source.X == source.X[0]).all(axis=0)] = 0.0
        rows *= np.sqrt(np.asarray(source.row_weights) / about.weight)[:, None]
        variances = np.einsum("ij,ij->j", rows, rows)
        varies = variances > 0
        spread = FewRows(rows[:, varies] / np.sqrt(variances[varies]))
        return mean, variances, about.weight, count_used_rows(source), spread
    whole = moments(source)
    whole.require_squares()
    scatter = whole.scatter[:d, :d] / whole.weight
    inner = np.maximum(np.diagonal(scatter), 0.0)
    varies = inner > 0
    deviation = np.sqrt(inner[varies])
    correlation = scatter[np.ix_(varies, varies)] / deviation / deviation[:, None]
    np.einsum("ii->i", correlation)[:] = 1.0
    variances = inner * whole.unit[:d] ** 2
    return whole.x_mean, variances, whole.weight, whole.n_rows, Matrix(correlation)
