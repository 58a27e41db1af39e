"""Non-linear regression: any user function f(x; θ), fitted by least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_target
from thetahat.data.source import Source
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, none, one_of, whole
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.optimizers.by_name import named as named_method
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.residuals.trust_region import TrustRegion
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.nonlinear.certainty import CurveEvidence, NonlinearSummary, summarise_curve
from thetahat.models.nonlinear.fit_warnings import warn_of_poor_fit
from thetahat.models.nonlinear.parameters import (
    as_rows,
    as_table,
    is_vector,
    named_arguments,
    read_bounds,
    read_start,
)
from thetahat.objective.curves.curve import MODES, Curve, linear_function
from thetahat.objective.curves.curve_fit import CurveFit

LONG = 30
"""Number of iterations after which a second run with smaller first steps is made."""
USUAL = TrustRegion()
CAREFUL = TrustRegion(first_radius=0.01)
"""Small first steps, which stay near the start."""


@with_parameters
class NonlinearRegression(ScoredRegressor, Watched, Estimator):
    """Non-linear regression: fits a user function f(x; θ), with standard errors and intervals.

    The result is a minimum near the start, which need not be the global one. Warnings report runs
    that got stuck, parameters that the rows do not determine, and curves that fit worse than a
    constant.

    Formula: θ̂ = argmin Σ wᵢ(yᵢ − f(xᵢ; θ))²/2. Under p(y|x) = N(f(x; θ), σ²) this is the
    maximum-likelihood estimate, with σ̂² = (1/n) Σ wᵢ(yᵢ − f(xᵢ; θ̂))²; Cov θ̂ ≈ σ²(JᵀWJ)⁻¹ with J
    = ∂f/∂θ at θ̂.

    Cost: one Jacobian and O(n p²) per iteration; about ten iterations from a good start. Rows must
    be in memory.

    Parameters
    ----------
    model : callable or None, default=None
        The function f as ``model(X, theta)``, which returns one number per row of X (n, d) for
        theta of shape (p,), or with its parameters by name, as ``model(X, a, b)``. If `fit` gets x
        as a vector, the model gets the vector. None is the linear function xᵀβ + b with θ = (β, b).
    start : array-like of shape (p,), dict or None, default=None
        Initial parameters. A dict {name: value} also names them; otherwise they have the names of
        the arguments of the model, if it takes them one by one. Required if ``model`` is given; a
        better start gives faster and safer convergence.
    jacobian : {"auto", "finite-differences"} or callable, default="auto"
        How ∂f/∂θ is computed. "auto" uses automatic differentiation, and central differences if the
        model does not support it (see ``solution_.reason``). A function ``jacobian(X, theta)``
        returns an array of shape (n, p) and is checked against differences at the start.
    bounds : pair, dict or None, default=None
        Bounds of the parameters: (low, high), each a number or an array of shape (p,), or a dict
        {name: (low, high)}. None means no bounds.
    method : str or Method, default="auto"
        Solver. "auto" is a trust region method (`TrustRegion`); after a long or failed run, another
        with smaller first steps is tried and the better one is kept. "gauss_newton", "levenberg"
        and "levenberg_marquardt" are the textbook methods, without bounds.
    loss : str or Loss, default="squared"
        Smooth loss of the residuals, for example ``th.losses.Huber(delta=...)``, with delta in the
        units of y, or a loss made by ``th.loss``. Robust losses reduce the effect of outliers.
    restarts : int, default=0
        Number of further runs, from random starts around ``start`` (between the bounds if both are
        finite). The run with the smallest objective is kept. Increase it if there are several
        minima.
    tol : float, default=1e-10
        Relative offset at which the solver stops: the distance from θ̂ in standard errors. Smaller
        values are more accurate and need more iterations. Close to the solution, a small relative
        change of θ is accepted too.
    max_iter : int or None, default=None
        Maximum number of iterations per run. None uses the default of the solver.
    random_state : int, Generator or None, default=None
        Seed for drawing the starts of further runs. Pass an int for the same result on every call.

    Attributes
    ----------
    theta_ : array of shape (p,)
        Estimated parameters of the model (θ̂).
    covariance_ : array of shape (p, p)
        Covariance of θ̂. Infinite for parameters that the rows do not determine, NaN for those at a
        bound.
    standard_errors_ : array of shape (p,)
        Standard error of each parameter.
    sigma_ : float
        Standard deviation of the noise, with n − p degrees of freedom. For losses other than the
        squared one, 1.4826·median |r|·√(n/(n − p)).
    sigma_mle_ : float
        Maximum-likelihood estimate of the standard deviation of the noise, which divides by n.
    solution_ : Solution
        How the fit ended: outcome, iterations, gap and reason. ``value`` is Σ w r²/2.
    parameter_names_ : list of str
        Names of the parameters: the keys of the dict ``start`` or the arguments of the model,
        otherwise b1, b2, ….
    n_iter_ : int
        Number of iterations of the best run.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> t = np.linspace(0.0, 4.0, 30)
    >>> y = 5.0 * np.exp(-0.7 * t) + 0.01 * np.cos(40 * t)
    >>> decay = lambda t, height, rate: height * np.exp(-rate * t)
    >>> curve = th.NonlinearRegression(decay, start=[1.0, 1.0]).fit(t, y)
    >>> dict(zip(curve.parameter_names_, curve.theta_.round(2).tolist()))
    {'height': 5.0, 'rate': 0.7}
    >>> low, high = curve.predict_interval(t, kind="confidence")
    >>> bool(np.all(low < high))
    True
    """

    model: Callable[..., Array] | None = None
    start: Any = None
    _: KW_ONLY
    jacobian: Any = "auto"
    bounds: Any = None
    method: Any = "auto"
    loss: Any = "squared"
    restarts: int = 0
    tol: float = 1e-10
    max_iter: int | None = None
    random_state: Any = None

    _ranges = {  # noqa: RUF012
        "model": Range(callable, "a function model(X, theta) or model(X, a, b)") | none,
        "jacobian": one_of(*MODES) | Range(callable, "a function jacobian(X, theta)"),
        "restarts": whole(0),
        "tol": at_least(0),
        "max_iter": whole(1) | none,
    }
    _streams = False
    _generative, _parametric = False, True

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NonlinearRegression:
        """Fit the parameters. Cost: one Jacobian and O(n p²) per iteration.

        Parameters
        ----------
        X : array-like or table of shape (n, d), or (n,)
            Training rows with finite numbers; a vector if ``model`` is a function of one variable.
        y : array-like of shape (n,)
            Target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._flat = self.model is not None and is_vector(X)
        source = self._open(as_table(X) if self._flat else X, y, sample_weight)
        require_squares_of_target(source, who=type(self).__name__)
        with one_blas_thread():  # set once, not in each of many short steps
            problem, start, reason = self._problem(source)
            method = self._chosen(problem)
            # Set before the run, so that `predict` works if it is interrupted.
            attributes = partial(self._attributes, curve=problem.curve)
            self._evidence: CurveEvidence | None = None
            with self._watching(self.max_iter, attributes, X, y) as watch:
                best = self._best_run(problem, method, start, watch)
            theta, (low, high) = best.theta, problem.bounds
            free = (theta > low) & (theta < high)
            evidence = CurveEvidence.of(problem, theta, free, weighted=source.has_weight)
        self.solution_ = replace(
            best,
            reason=f"{method.name}; {reason}",
            gap_kind=TrustRegion.gap_kind,
            condition=evidence.condition,
        )
        self._evidence = evidence
        self.__dict__.update(attributes(theta))
        self.sigma_, self.sigma_mle_ = evidence.sigma(), evidence.sigma_mle()
        self.covariance_ = evidence.covariance()
        self.standard_errors_ = np.sqrt(np.diagonal(self.covariance_))
        self.n_iter_ = max(1, best.steps)
        self._warn_unless_converged()
        warn_of_poor_fit(problem, self.solution_, evidence)
        return self

    def predict(self, X: Any) -> Array:
        """Predict f(x; θ̂). Cost: one call of the model per block of rows.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d), or (n,)
            Rows to predict, with the same columns as in `fit`, or a vector as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        rows = self._open_rows(X)
        parts = [self._curve(as_rows(block.X), self.theta_) for block in rows.blocks()]
        return np.concatenate(parts).astype(rows.dtype, copy=False)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction", weights: str = "frequency"
    ) -> tuple[Array, Array]:
        """Compute intervals for a new y or for its mean f(x; θ). Cost: O(n p²).

        Formula: f(x; θ̂) ± t_{n−p}·√(gᵀ Cov(θ̂) g [+ σ̂² for a new y]) with g = ∂f(x; θ̂)/∂θ.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d), or (n,)
            Rows to predict, with the same columns as in `fit`, or a vector as in `fit`.
        level : float, default=0.95
            Probability of the interval, between 0 and 1. Larger values give wider intervals.
        kind : {"prediction", "confidence"}, default="prediction"
            Interval for a new y ("prediction") or for its mean ("confidence").
        weights : {"frequency", "precision"}, default="frequency"
            How row weights are interpreted: a row of weight 2 is two rows ("frequency"), or one row
            measured with half the variance ("precision").

        Returns
        -------
        low, high : arrays of shape (n,)
            Lower and upper bounds of the intervals.
        """
        if kind not in ("confidence", "prediction"):
            raise ParameterError(
                f"kind={kind!r} must be 'confidence' (of the mean) or 'prediction' (of a new y)."
            )
        rows = self._open_rows(X)
        evidence = self._certain()
        quantile = evidence.quantile(level, weights)
        low, high = [], []
        for block in rows.blocks():
            block_rows = as_rows(block.X)
            centre = self._curve(block_rows, self.theta_)
            half = quantile * evidence.deviation(
                self._curve.jacobian(block_rows, self.theta_),
                noise=kind == "prediction",
                weights=weights,
            )
            low.append(centre - half)
            high.append(centre + half)
        return (
            np.concatenate(low).astype(rows.dtype, copy=False),
            np.concatenate(high).astype(rows.dtype, copy=False),
        )

    def summary(self, *, level: float = 0.95, weights: str = "frequency") -> NonlinearSummary:
        """Return a table of estimates, standard errors and intervals. Cost: O(p³).

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals, between 0 and 1. Larger values give wider intervals.
        weights : {"frequency", "precision"}, default="frequency"
            How row weights are interpreted: a row of weight 2 is two rows ("frequency"), or one row
            measured with half the variance ("precision").

        Returns
        -------
        NonlinearSummary
            The summary, which prints as a table.
        """
        return summarise_curve(
            self._certain(),
            self.theta_,
            self.parameter_names_,
            level=level,
            weights=weights,
            solver=self.solution_.solver,
        )

    def _problem(self, source: Source) -> tuple[CurveFit, Array, str]:
        """The problem to solve, the initial θ, and how derivatives are computed."""
        who = type(self).__name__
        arguments = named_arguments(self.model)
        start, names = read_start(self.start, self.model, source.n_features, who, arguments)
        model, spread = self.model or linear_function, bool(arguments)
        curve = Curve(model, self.jacobian, names, spread=spread, flat=self._flat)
        parts = [(b.X, b.y, b.weight) for b in source.blocks()]
        X = np.concatenate([as_rows(X) for X, _, _ in parts])
        y = np.concatenate([y for _, y, _ in parts]).astype(np.float64)
        weight = np.ones(len(y))
        if source.has_weight:
            weight = np.concatenate([weight for _, _, weight in parts]).astype(np.float64)
            there = weight > 0
            X, y, weight = X[there], y[there], weight[there]
        X.flags.writeable = False  # the model must not change the rows
        problem = CurveFit(
            curve=curve,
            X=X,
            y=y,
            weight=weight,
            loss=named_loss(self.loss),
            bounds=read_bounds(self.bounds, start, names, who),
        )
        problem.require_residual_loss(who)
        curve, slopes, reason, program = curve.settled(X, start)
        last = {"theta": start.tobytes(), "slopes": slopes}
        problem = replace(problem, curve=curve, program=program, _last=last)
        problem.require_finite_sum(start, who)
        return problem, start, reason

    def _open_rows(self, X: Any) -> Source:
        check_is_fitted(self)
        return self._open_again(as_table(X) if self._curve.flat and is_vector(X) else X)

    def _chosen(self, problem: CurveFit) -> Method:
        if self.method == "auto":
            return USUAL
        method = named_method(self.method)
        if not {"residuals", "jacobian"} & set(method.needs):
            raise CapabilityError(
                f"NonlinearRegression: method={self.method!r} does not minimise sums of squares. "
                'Use "auto", "gauss_newton", "levenberg" or "levenberg_marquardt".'
            )
        bounded = any(np.isfinite(bound).any() for bound in problem.bounds)
        if bounded and not isinstance(method, TrustRegion):
            raise CapabilityError(
                f"NonlinearRegression: method={self.method!r} does not support bounds. Use "
                'method="auto", or leave the bounds out.'
            )
        return method

    def _best_run(self, problem: CurveFit, method: Method, start: Array, watch: Watch) -> Solution:
        """The best of the runs from all starts, within the limits of time and callbacks."""
        # A generator takes longer than a short run, and None, the default, needs no check.
        draws = self.restarts > 0 or self.random_state is not None
        random = generator(self.random_state) if draws else None
        best: Solution | None = None
        runs = [(method, start)]
        runs += [(method, _drawn(start, problem.bounds, random)) for _ in range(self.restarts)]
        for place, (how, point) in enumerate(runs):
            found = minimise(
                problem, how, point, tolerance=self.tol, max_steps=self.max_iter, watch=watch
            )
            if place == 0 and self.method == "auto" and _needs_another_run(found):
                runs.append((CAREFUL, start))
            if best is None or found.value < best.value * (1 - 1e-9):
                best = found
            if found.outcome in (Outcome.OUT_OF_TIME, Outcome.INTERRUPTED):
                break
        assert best is not None
        return best

    def _attributes(self, theta: Array, curve: Curve) -> dict[str, Any]:
        return {"theta_": theta, "_curve": curve, "parameter_names_": list(curve.names)}

    def _certain(self) -> CurveEvidence:
        check_is_fitted(self)
        if self._evidence is None:
            raise CapabilityError(
                "NonlinearRegression: the fit was interrupted, so there are no standard errors. "
                "Fit again with start=model.theta_."
            )
        return self._evidence


def _needs_another_run(found: Solution) -> bool:
    """Whether a run was long or did not converge, so that another one may be better."""
    return found.steps > LONG or not found.outcome.success


def _drawn(start: Array, bounds: tuple[Array, Array], random: Any) -> Array:
    """A random start: uniform in a finite box, otherwise of the same sign and another magnitude."""
    low, high = bounds
    around = np.where(start != 0, start * np.exp(random.normal(size=len(start))), 0.0)
    around = around + np.where(start == 0, random.normal(size=len(start)), 0.0)
    boxed = np.isfinite(low) & np.isfinite(high)
    inside = np.where(boxed, low, 0.0) + random.uniform(size=len(start)) * np.where(
        boxed, high - low, 0.0
    )
    return np.clip(np.where(boxed, inside, around), low, high)
