"""Bayesian Gaussian mixtures: priors of weights, means and precisions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.means import means
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, more_than, none, one_of
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.cluster.restarts import keep_best
from thetahat.models.mixture.components import (
    CollapsedComponents,
    Components,
    moments_of,
    pass_over,
    precision_root,
)
from thetahat.models.mixture.mixture_model import MixtureModel
from thetahat.models.mixture.progress import Progress
from thetahat.models.mixture.starts import flat_terms, starting_sums
from thetahat.models.mixture.variational import Ascent, Posterior, Prior, variational_ascent


@with_parameters
class BayesianGaussianMixture(MixtureModel):
    """Gaussian mixture with priors, which can leave components unused.

    The posterior of weights, means and precisions is approximated by variational Bayes. With a
    small `weight_concentration_prior`, components that are not needed get weights near 0, so that
    `n_components` is an upper limit. The priors also keep variances positive.

    Formula: p(x) = Σ_k π_k N(x | μ_k, Λ_k⁻¹), with Λ_k ~ Wishart(V⁻¹, ν₀), μ_k ~ N(m₀, (β₀Λ_k)⁻¹)
    and π from a Dirichlet distribution or process of concentration γ₀. The responsibilities are
    γ_ik ∝ exp E log π_k N(x_i | μ_k, Λ_k⁻¹). With N_k = Σ_i γ_ik, mean x̄_k and covariance S_k,
    β_k = β₀ + N_k, m_k = (β₀m₀ + N_k x̄_k)/β_k, ν_k = ν₀ + N_k and covariance C_k = (V + N_k S_k +
    (β₀N_k/β_k)(x̄_k − m₀)(x̄_k − m₀)ᵀ)/ν_k. Each iteration raises the lower bound of the evidence,
    E log p(X, z, π, μ, Λ) − E log q(z, π, μ, Λ). The result is a local maximum: use several starts
    (`n_init`). With row weights the sums are weighted, and a weight of 2 counts as two equal rows.

    Cost: O(n k d²) time per iteration, one pass over the rows, in memory or on disk; O(n k d) for
    diagonal and spherical covariances. Memory O(k d²) in addition to the rows.

    Parameters
    ----------
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}, \
default="dirichlet_process"
        Prior of the weights. "dirichlet_process" uses the stick-breaking construction, which
        prefers the first components. "dirichlet_distribution" treats all components alike.
    weight_concentration_prior : float or None, default=None
        Concentration of the prior of the weights (γ₀). Smaller values leave more components unused.
        None means 1/k. Must be positive.
    mean_precision_prior : float or None, default=None
        Strength of the prior of the means, as a number of rows (β₀). Larger values draw the means
        towards `mean_prior`. None means 1. Must be positive.
    mean_prior : array-like of shape (d,) or None, default=None
        Prior of the means (m₀). None means the mean of the rows.
    degrees_of_freedom_prior : float or None, default=None
        Strength of the prior of the covariances, as a number of rows (ν₀). None means the number of
        columns. Must be greater than the number of columns minus 1.
    covariance_prior : float, array-like or None, default=None
        Prior of the covariances (V), of shape (d, d) for "full" and "tied", (d,) for "diag", and a
        number for "spherical". Must be positive definite. None means the covariance of the rows.

    Attributes
    ----------
    weights_ : array of shape (k,)
        The expected weights of the components (π).
    means_ : array of shape (k, d)
        The expected means of the components (m).
    covariances_ : array
        The inverses of the expected precisions (C), of shape (k, d, d), (d, d), (k, d) or (k,).
    weight_concentration_ : tuple of arrays or array of shape (k,)
        The posterior of the weights: two arrays of the parameters of beta distributions for
        "dirichlet_process", and the parameters of a Dirichlet distribution otherwise.
    mean_precision_ : array of shape (k,)
        The strengths of the posterior of the means, as numbers of rows (β).
    degrees_of_freedom_ : array of shape (k,) or float
        The degrees of freedom of the precisions (ν); one number for "tied".
    weight_concentration_prior_ : float
        The concentration of the prior of the weights (γ₀).
    mean_precision_prior_ : float
        The strength of the prior of the means (β₀).
    mean_prior_ : array of shape (d,)
        The prior of the means (m₀).
    degrees_of_freedom_prior_ : float
        The strength of the prior of the covariances (ν₀).
    covariance_prior_ : float or array
        The prior of the covariances (V).
    lower_bound_ : float
        The lower bound of the log-evidence before the last update of the best start.
    lower_bounds_ : array of shape (iterations,)
        The lower bound before each update of the best start. It never decreases.
    restart_bounds_ : array of shape (n_init,)
        The lower bound that each start reached. If they differ, there are several local maxima.
    solution_ : Solution
        How the best start ended: outcome, number of iterations, and the negative lower bound
        before each of them.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[1.0], [1.2], [0.8], [7.0], [7.4], [6.6]])
    >>> model = th.BayesianGaussianMixture(
    ...     4, weight_concentration_prior=1e-3, covariance_prior=[[0.1]], random_state=0
    ... ).fit(X)
    >>> int(np.sum(model.weights_ > 0.01))  # components that are used
    2
    """

    _prints_itself = True

    _: KW_ONLY
    weight_concentration_prior_type: str = "dirichlet_process"
    weight_concentration_prior: float | None = None
    mean_precision_prior: float | None = None
    mean_prior: Any = None
    degrees_of_freedom_prior: float | None = None
    covariance_prior: Any = None

    _ranges: ClassVar[dict[str, Range]] = MixtureModel._ranges | {
        "weight_concentration_prior_type": one_of("dirichlet_process", "dirichlet_distribution"),
        "weight_concentration_prior": more_than(0, 1e50) | none,
        "mean_precision_prior": more_than(0, 1e50) | none,
        "degrees_of_freedom_prior": more_than(0, 1e50) | none,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BayesianGaussianMixture:
        """Estimate the posterior. Cost: see `BayesianGaussianMixture`.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows, at least 2 and at least as many as components.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted mixture.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        self._require_rows(source)
        prior, dtype = self._prior(source), source.dtype

        def attributes(theta: Array) -> dict[str, Any]:
            found = Posterior.at(prior, self.n_components, theta)
            return self._posterior_attributes(found, dtype)

        with self._watching(int(self.max_iter) * int(self.n_init), attributes, X, y) as watch:
            best, bounds = self._best_ascent(source, prior, watch)
        self._warn_of_tolerance(best.outcome.success, best.outcome)
        self.__dict__.update(self._posterior_attributes(best.posterior, dtype))
        self.solution_ = best.solution
        self.converged_ = best.outcome.success
        self.n_iter_ = len(best.bounds)
        self.lower_bound_ = float(best.bound)
        self.lower_bounds_ = np.array(best.bounds)
        self.restart_bounds_ = np.array(bounds)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Estimate the posterior, and return the most probable component of every training row.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows, at least 2 and at least as many as components.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        labels : array of int of shape (n,)
            Numbers of the components, from 0 to k − 1.
        """
        return self.fit(X, y, sample_weight).predict(X)

    def _best_ascent(
        self, source: Source, prior: Prior, watch: Watch
    ) -> tuple[Ascent, list[float]]:
        """The start with the largest lower bound, and the bounds of all."""
        goes_on = self.warm_start and hasattr(self, "converged_")
        rng, best = generator(self.random_state), None
        bounds: list[float] = []
        for number in range(1 if goes_on else self.n_init):
            progress = Progress(self.verbose, self.verbose_interval)
            progress.begin(number)
            try:
                run = variational_ascent(
                    source,
                    self._last(prior) if goes_on else self._start(source, prior, rng, watch),
                    tol=self.tol,
                    max_iter=self.max_iter,
                    before=self.lower_bound_ if goes_on else -np.inf,
                    watch=watch,
                    report=progress.step if self.verbose else None,
                )
            except KeyboardInterrupt as interrupt:
                keep_best(interrupt, None if best is None else best.solution)
                raise
            progress.end(run.bound, run.outcome.success)
            bounds.append(run.bound)
            if best is None or run.bound > best.bound:
                best = run
            if watch.is_over or run.outcome is Outcome.INTERRUPTED:
                break
        assert best is not None
        return best, bounds

    def _start(
        self, source: Source, prior: Prior, rng: np.random.Generator, watch: Watch
    ) -> Posterior:
        found, centres = starting_sums(
            source,
            self.n_components,
            self.covariance_type,
            self.init_params,
            None,
            self.reg_covar,
            rng,
            watch,
        )
        if isinstance(found, Components):
            found = pass_over(source, found.terms())
        return prior.updated(found, centres)

    def _last(self, prior: Prior) -> Posterior:
        """The posterior of the last fit, which must have the shapes of this one."""
        found, shape = self._posterior(), (self.n_components, len(prior.mean))
        same = (found.prior.kind, found.prior.process) == (prior.kind, prior.process)
        if found.components.means.shape != shape or not same:
            raise ParameterError(
                f"{type(self).__name__}: warm_start=True continues the last fit, whose means "
                f"have the shape {found.components.means.shape}, with covariances of the kind "
                f"{found.prior.kind!r}, but n_components, the columns, covariance_type and "
                f"weight_concentration_prior_type now need {shape} and {prior.kind!r}. Set "
                "warm_start=False."
            )
        return Posterior(
            prior, found.concentration, found.mean_precision, found.degrees, found.components
        )

    def _posterior(self) -> Posterior:
        """The fitted posterior, in float64."""
        process = isinstance(self.weight_concentration_, tuple)
        kinds = {3: "full", 0: "spherical"}
        covariance = np.asarray(self.covariance_prior_, dtype=np.float64)
        kind = kinds.get(self.covariances_.ndim)
        if kind is None:
            kind = "spherical" if covariance.ndim == 0 else ("diag", "tied")[covariance.ndim - 1]
        prior = Prior(
            kind,
            process,
            self.weight_concentration_prior_,
            self.mean_precision_prior_,
            np.asarray(self.mean_prior_, dtype=np.float64),
            self.degrees_of_freedom_prior_,
            covariance,
            self.reg_covar,
        )
        concentration = np.asarray(self.weight_concentration_, dtype=np.float64)
        return Posterior(
            prior,
            concentration if process else concentration[None],
            np.asarray(self.mean_precision_, dtype=np.float64),
            np.asarray(self.degrees_of_freedom_, dtype=np.float64),
            self._components(),
        )

    def _membership_terms(self) -> tuple[Array, Array, Array]:
        return self._posterior().terms()

    def _posterior_attributes(self, found: Posterior, dtype: Any) -> dict[str, Any]:
        prior, concentration = found.prior, found.concentration.astype(dtype)
        covariance = prior.covariance.astype(dtype)
        return self._attributes(found.components, dtype) | {
            "weight_concentration_": tuple(concentration) if prior.process else concentration[0],
            "mean_precision_": found.mean_precision.astype(dtype),
            "degrees_of_freedom_": (
                found.degrees.astype(dtype) if found.degrees.ndim else float(found.degrees)
            ),
            "weight_concentration_prior_": prior.concentration,
            "mean_precision_prior_": prior.mean_precision,
            "mean_prior_": prior.mean.astype(dtype),
            "degrees_of_freedom_prior_": prior.degrees,
            "covariance_prior_": covariance if covariance.ndim else float(covariance),
        }

    def _prior(self, source: Source) -> Prior:
        d, k, kind = source.n_features, self.n_components, self.covariance_type
        who = type(self).__name__
        degrees = self.degrees_of_freedom_prior
        if degrees is not None and degrees <= d - 1:
            raise ParameterError(
                f"{who}: The parameter 'degrees_of_freedom_prior' should be greater than {d - 1}, "
                f"but got {degrees:.3f}. It must exceed the number of columns minus 1."
            )
        concentration, strength = self.weight_concentration_prior, self.mean_precision_prior
        middle: Array = np.asarray(means(source).mean[:d], dtype=np.float64)
        centre = self._given("mean_prior", "means", (d,))
        covariance = self._covariance_prior(source, middle)
        return Prior(
            kind,
            self.weight_concentration_prior_type == "dirichlet_process",
            1.0 / k if concentration is None else float(concentration),
            1.0 if strength is None else float(strength),
            middle if centre is None else centre,
            float(d) if degrees is None else float(degrees),
            covariance,
            float(self.reg_covar),
        )

    def _covariance_prior(self, source: Source, middle: Array) -> Array:
        """V in the shape of one covariance of the kind, positive definite."""
        d, kind, who = source.n_features, self.covariance_type, type(self).__name__
        shape = {"full": (d, d), "tied": (d, d), "diag": (d,), "spherical": ()}[kind]
        given = self._given("covariance_prior", f"{kind} covariance_prior", shape)
        if given is not None:
            symmetric = given.ndim < 2 or np.abs(given - given.T).max() <= 1e-6 * abs(given).max()
            if not symmetric or not _is_definite(kind, given):
                rule = "symmetric, positive-definite" if given.ndim == 2 else "positive"
                raise ParameterError(
                    f"{who}: '{kind} covariance_prior' should be {rule}. Pass None for the "
                    "covariance of the rows."
                )
            return given
        sums = pass_over(
            source,
            flat_terms(kind, middle[None]),
            shares=lambda block: np.zeros(block.n_rows, dtype=np.int64),
        )
        found = moments_of(kind, sums, middle[None])[1][0]
        if sums.weight > 1:
            found = found * (sums.weight / (sums.weight - 1.0))
        if kind == "spherical":
            found = np.array(found.mean())
        if not _is_definite(kind, found):
            found = found + self.reg_covar * (np.eye(d) if found.ndim == 2 else 1.0)
        if not _is_definite(kind, found):
            raise CollapsedComponents(
                f"{who}: the covariance of the rows is singular, so that it cannot be the prior of "
                "the covariances. Increase reg_covar, or set covariance_prior."
            )
        return found

    def _given(self, parameter: str, name: str, shape: tuple[int, ...]) -> Array | None:
        """A prior of the user as an array, checked."""
        value, who = getattr(self, parameter), type(self).__name__
        if value is None:
            return None
        try:
            found = np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"{who}: {parameter} must be numbers, or None.") from None
        if found.shape != shape:
            raise ParameterError(
                f"{who}, {parameter}: The parameter '{name}' should have the shape of {shape}, but "
                f"got {found.shape}."
            )
        if not np.isfinite(found).all():
            raise ParameterError(f"{who}: {parameter} must hold finite numbers.")
        return found


def _is_definite(kind: str, covariance: Array) -> bool:
    try:
        precision_root(kind if kind in ("diag", "spherical") else "tied", covariance)
    except CollapsedComponents:
        return False
    return True
