"""Gaussian mixtures: p(x) = Σ_k π_k N(x | μ_k, Σ_k)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.on_device import OnDevice
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.devices.routing import on_devices
from thetahat.estimator.parameters import Range, one_of
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.cluster.restarts import keep_best
from thetahat.models.mixture import mixture_on_device
from thetahat.models.mixture.components import (
    CollapsedComponents,
    Components,
)
from thetahat.models.mixture.expectation_maximisation import (
    Run,
    collapsed_components,
    expectation_maximisation,
    from_known_labels,
)
from thetahat.models.mixture.gradient_ascent import gradient_ascent
from thetahat.models.mixture.mixture_model import MixtureModel
from thetahat.models.mixture.progress import Progress
from thetahat.models.mixture.sampled_labels import sampled_labels
from thetahat.models.mixture.starts import checked_start, known_labels, starting_components


@on_devices(
    *mixture_on_device.ARRAYS,
    fit=mixture_on_device.fit,
    predict=mixture_on_device.predict,
    predict_proba=mixture_on_device.predict_proba,
    log_density=mixture_on_device.log_density,
    score_samples=mixture_on_device.log_density,
    score=mixture_on_device.score,
)
@with_parameters
class GaussianMixture(MixtureModel):
    """Gaussian mixture, fitted by expectation-maximisation.

    Each row belongs to one of k components with a Gaussian density; which one is not known, or
    known for some rows only.

    Formula: p(x) = Σ_k π_k N(x | μ_k, Σ_k). The E step computes the responsibilities
    γ_ik = π_k N(x_i | μ_k, Σ_k) / p(x_i), the M step π_k = Σ_i γ_ik / n, μ_k = Σ_i γ_ik x_i / nπ_k
    and Σ_k = Σ_i γ_ik (x_i − μ_k)(x_i − μ_k)ᵀ / nπ_k + reg_covar·I. Both raise the lower bound
    Σ_i E_γ[log p(x_i, z) − log γ] ≤ Σ_i log p(x_i), so the log-likelihood does not decrease, apart
    from the effect of `reg_covar`. The result is a local maximum: use several starts (`n_init`).
    With row weights the sums are weighted, and a weight of 2 counts as two equal rows.

    Cost: O(n k d²) time per iteration, one pass over the rows, in memory or on disk; O(n k d) for
    diagonal and spherical covariances. Memory O(k d²) in addition to the rows.

    Parameters
    ----------
    tol : float, default=1e-3
        Iterations stop when the mean log-likelihood per row changes by less than this tolerance.
        Smaller values give more accurate results and need more iterations. Must be at least 0.
    weights_init : array-like of shape (k,), optional
        Weights of the components to start from. They must be at least 0 and sum to 1.
    means_init : array-like of shape (k, d), optional
        Means of the components to start from.
    precisions_init : array-like, optional
        Inverse covariances to start from, of shape (k, d, d), (d, d), (k, d) or (k,) as
        `covariance_type` requires. They must be positive definite.
    method : {"em", "gradient", "sampled"}, default="em"
        How the likelihood is maximised. "em" is expectation-maximisation. "gradient" follows the
        gradient of the log-likelihood (L-BFGS) until its entries, per row, are at most `tol`,
        which can need fewer iterations if components overlap; `reg_covar` is then the factor of a
        penalty ½·reg_covar·Σ_k tr(Σ_k⁻¹)/k per row. "sampled" draws the component of every row at
        random in each of `max_iter` iterations and keeps the best, which can leave poor maxima.

    Attributes
    ----------
    weights_ : array of shape (k,)
        The weights of the components (π).
    means_ : array of shape (k, d)
        The means of the components (μ).
    covariances_ : array
        The covariances of the components (Σ), of shape (k, d, d), (d, d), (k, d) or (k,).
    lower_bound_ : float
        The mean log-likelihood per row before the last M step of the best start.
    lower_bounds_ : array of shape (iterations,)
        The mean log-likelihood per row before each M step of the best start.
    restart_bounds_ : array of shape (n_init,)
        The lower bound that each start reached. If they differ, there are several local maxima.
        It is −∞ for a start whose components collapsed with ``reg_covar=0``.
    solution_ : Solution
        How the best start ended: outcome, number of iterations, and the negative mean
        log-likelihood per row before each of them. Its ``theta`` holds weights, means and factors
        of the precisions.
    collapsed_ : array of int
        Numbers of the components without rows, or without variance in some direction, although
        all rows together vary in every direction. Their density is unbounded but for `reg_covar`.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[1.0], [1.2], [0.8], [7.0], [7.4], [6.6]]
    >>> model = th.GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_.round(3).ravel().tolist()), model.weights_.round(3).tolist()
    ([1.0, 7.0], [0.5, 0.5])
    >>> model.predict([[0.9]]) == model.predict([[1.1]])
    array([ True])
    """

    _prints_itself = True

    _: KW_ONLY
    weights_init: Any = None
    means_init: Any = None
    precisions_init: Any = None
    method: str = "em"

    _ranges: ClassVar[dict[str, Range]] = MixtureModel._ranges | {
        "method": one_of("em", "gradient", "sampled"),
    }

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None
    ) -> GaussianMixture:
        """Estimate the components. Cost: see `GaussianMixture`.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows, at least 2 and at least as many as components.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        labels : array-like of int of shape (n,), optional
            The component of each row, from 0 to k − 1, where it is known, and −1 where it is not.
            Rows with a label belong to their component with probability 1. If all are known, the
            maximum of the likelihood has a closed form and needs no iterations.

        Returns
        -------
        self
            The fitted mixture.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        self._require_rows(source)
        known = known_labels(labels, source.n_rows, self.n_components)
        return self._fit_source(source, known, X, y)

    def _fit_source(self, source: Source, known: Array | None, X: Any, y: Any) -> GaussianMixture:
        """Estimate the components of rows that were checked."""
        k, d, dtype = self.n_components, source.n_features, source.dtype

        def attributes(theta: Array) -> dict[str, Any]:
            return self._attributes(Components.at(self.covariance_type, k, d, theta), dtype)

        with self._watching(int(self.max_iter) * int(self.n_init), attributes, X, y) as watch:
            best, bounds = self._best_run(source, known, watch)
        self._warn_of_tolerance(best.converged, best.outcome)
        self.collapsed_ = collapsed_components(best, self.reg_covar)
        if len(self.collapsed_):
            warn(
                f"GaussianMixture: {len(self.collapsed_)} of {self.n_components} components "
                f"(first: {self.collapsed_[0]}) collapsed: they have no rows, or no variance in "
                "some direction, and their density is limited by reg_covar="
                f"{self.reg_covar:g} only. Use fewer components or increase reg_covar.",
                ConvergenceWarning,
            )
        self.restart_bounds_ = np.array(bounds)
        return self._keep(best, dtype)

    def _best_run(
        self, source: Source, labels: Array | None, watch: Watch
    ) -> tuple[Run, list[float]]:
        """The start with the largest lower bound, and the bounds of all."""
        given = checked_start(self, source.n_features)
        goes_on = self.warm_start and hasattr(self, "converged_")
        rng = generator(self.random_state)
        best: Run | None = None
        bounds: list[float] = []
        complete = labels is not None and bool((labels >= 0).all())
        last = 1 if goes_on or complete else self.n_init
        for number in range(1, last + 1):
            try:
                if goes_on:
                    start = self._last_components(source.n_features)
                else:
                    begin = source
                    if isinstance(source, OnDevice):
                        begin = mixture_on_device.rows_to_start(source, rng)
                    start = starting_components(
                        begin,
                        self.n_components,
                        self.covariance_type,
                        self.init_params,
                        given,
                        labels,
                        self.reg_covar,
                        rng,
                        watch,
                    )
                if complete:
                    assert labels is not None
                    run = from_known_labels(source, start, labels, self.reg_covar)
                else:
                    run = self._run(source, start, labels, goes_on, rng, watch, number)
            except KeyboardInterrupt as interrupt:
                keep_best(interrupt, None if best is None else best.solution)
                raise
            except CollapsedComponents:  # another start may end well
                bounds.append(-np.inf)
                if best is None and number == last:
                    raise
                continue
            bounds.append(run.bound)
            if best is None or run.bound > best.bound:
                best = run
            if watch.is_over or run.outcome is Outcome.INTERRUPTED:
                break
        assert best is not None
        return best, bounds

    def _last_components(self, d: int) -> Components:
        """The components of the last fit, which must have the shapes of this one."""
        k, kind = self.n_components, self.covariance_type
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
        if self.means_.shape != (k, d) or self.precisions_cholesky_.shape != shape:
            raise ParameterError(
                f"{type(self).__name__}: warm_start=True continues the last fit, whose means "
                f"and precisions have the shapes {self.means_.shape} and "
                f"{self.precisions_cholesky_.shape}, but n_components={k}, covariance_type="
                f"{kind!r} and {d} columns need {(k, d)} and {shape}. Set warm_start=False."
            )
        return self._components()

    def _run(
        self,
        source: Source,
        start: Components,
        labels: Array | None,
        goes_on: bool,
        rng: np.random.Generator,
        watch: Watch,
        number: int,
    ) -> Run:
        """The iterations of the chosen method from one start."""
        progress = Progress(self.verbose, self.verbose_interval)
        progress.begin(number - 1)
        run = self._iterate(source, start, labels, goes_on, rng, watch, progress)
        progress.end(run.bound, run.converged)
        return run

    def _iterate(
        self,
        source: Source,
        start: Components,
        labels: Array | None,
        goes_on: bool,
        rng: np.random.Generator,
        watch: Watch,
        progress: Progress,
    ) -> Run:
        common: dict[str, Any] = dict(
            labels=labels, reg_covar=self.reg_covar, max_iter=self.max_iter, watch=watch
        )
        report = progress.step if self.verbose else None
        if self.method == "gradient" and self.max_iter > 0:
            return gradient_ascent(source, start, tol=self.tol, **common)
        if self.method == "sampled":
            return sampled_labels(source, start, rng=rng, report=report, **common)
        before = self.lower_bound_ if goes_on else -np.inf
        return expectation_maximisation(
            source, start, tol=self.tol, before=before, report=report, **common
        )

    def _keep(self, run: Run, dtype: Any) -> GaussianMixture:
        self.__dict__.update(self._attributes(run.components, dtype))
        self.solution_ = run.solution
        self.converged_ = run.converged
        self.n_iter_ = len(run.bounds)
        self.lower_bound_ = float(run.bound)
        self.lower_bounds_ = np.array(run.bounds)
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None
    ) -> Array:
        """Estimate the components, and return the most probable one of every training row.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows, at least 2 and at least as many as components.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        labels : array-like of int of shape (n,), optional
            The component of each row where it is known, and −1 where it is not.

        Returns
        -------
        labels : array of int of shape (n,)
            Numbers of the components, from 0 to k − 1.
        """
        return self.fit(X, y, sample_weight, labels=labels).predict(X)
