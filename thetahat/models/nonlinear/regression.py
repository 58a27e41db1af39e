"""Non-linear regression: any function f(x; θ) of one's own, fitted by least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Source
from thetahat.estimator.base import Estimator
from thetahat.estimator.parameters import Range, at_least, none, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.optimizers.by_name import named as named_method
from thetahat.mathematics.optimizers.loop import Method, minimise
from thetahat.mathematics.optimizers.residuals.trust_region import TrustRegion
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.nonlinear.certainty import (
    CurveEvidence,
    NonlinearSummary,
    summarise_curve,
)
from thetahat.models.nonlinear.fit_warnings import warn_of_poor_fit
from thetahat.models.nonlinear.parameters import read_bounds, read_start
from thetahat.objective.curves.curve import MODES, Curve, linear_function
from thetahat.objective.curves.curve_fit import CurveFit

LONG = 30
"""Steps after which a run is tried again with care."""
CAREFUL = TrustRegion(first_radius=0.01)
"""Short first steps, which stay in the valley that the start lies in."""


class NonlinearRegression(RegressorMixin, Watched, Estimator):
    """Fit a function f(x; θ) of your own, with standard errors, intervals and bands.

    Formula: θ̂ = argmin Σ wᵢ(yᵢ − f(xᵢ; θ))²/2. Under p(y|x) = N(f(x; θ), σ²) this is the maximum of
    the likelihood, with σ̂² = (1/n) Σ wᵢ(yᵢ − f(xᵢ; θ̂))²; Cov θ̂ ≈ σ²(JᵀWJ)⁻¹ with J = ∂f/∂θ at θ̂.

    Such a θ̂ is the lowest near the start, not everywhere. A run that is stuck, parameters that the
    rows do not determine, and a curve that fits worse than a constant are warned of.

    Cost: per step one Jacobian and O(n p²); some ten steps from a fair start. Rows in memory.

    Parameters
    ----------
    model : callable, optional
        f as ``model(X, theta)``: one number per row of X (n, d), for theta of shape (p,). None is
        the linear function xᵀβ + b with θ = (β, b).
    start : array-like of shape (p,) or dict, optional
        Where to begin. A dict {name: value} also names the parameters. Needed with a model.
    jacobian : {"auto", "finite-differences"} or callable, default="auto"
        ∂f/∂θ: by automatic differentiation, and by central differences if the model uses what
        autodiff cannot follow (``solution_.reason`` says so); or ``jacobian(X, theta)`` of shape
        (n, p), which is checked against differences at the start.
    bounds : pair or dict, optional
        (low, high), each a number or an array of shape (p,); or {name: (low, high)}.
    method : str or Method, default="auto"
        "auto" is the trust region `TrustRegion`, and after a long or failed run another with
        shorter first steps, of which the better is kept; "gauss_newton", "levenberg" and
        "levenberg_marquardt" are the textbook methods.
    loss : str or Loss, default="squared"
        A smooth loss of the residual, such as ``th.losses.Huber(delta=...)`` in the units of y,
        or one made by ``th.loss``.
    restarts : int, default=0
        More runs, from starts drawn around ``start`` (between the bounds where both are finite);
        the one with the smallest sum is kept.
    tol : float, default=1e-10
        The relative offset to reach: the distance from θ̂ in standard errors (within 1e-4 of them,
        and where the data are fitted exactly, the relative change of θ by the next step will do).
    max_iter : int, optional
        The most steps of a run.
    random_state : int, Generator or None
        Which starts are drawn.

    Attributes
    ----------
    theta_ : array of shape (p,)
        θ̂.
    covariance_ : array of shape (p, p)
        Cov θ̂. Infinite for parameters that the rows do not determine, NaN for those at a bound.
    standard_errors_ : array of shape (p,)
        Roots of its diagonal.
    sigma_, sigma_mle_ : float
        σ̂ with n − p (for another loss than the squared, 1.4826 times the median |r|), and the
        σ̂ of maximum likelihood, with n.
    solution_ : Solution
        Outcome, steps, gap and reason; ``value`` is Σ w r²/2.
    parameter_names_ : list of str
        The names in the dict ``start``; else b1, b2, …
    n_iter_ : int
        Steps of the best run.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> t = np.linspace(0.0, 4.0, 30)
    >>> y = 5.0 * np.exp(-0.7 * t) + 0.01 * np.cos(40 * t)
    >>> decay = lambda X, theta: theta[0] * np.exp(-theta[1] * X[:, 0])
    >>> curve = th.NonlinearRegression(decay, start={"height": 1.0, "rate": 1.0})
    >>> curve.fit(t[:, np.newaxis], y).theta_.round(2)
    array([5. , 0.7])
    >>> low, high = curve.predict_interval(t[:, np.newaxis], kind="confidence")
    >>> bool(np.all(low < high))
    True
    """

    _ranges = {  # noqa: RUF012
        "model": Range(callable, "a function model(X, theta)") | none,
        "jacobian": one_of(*MODES) | Range(callable, "a function jacobian(X, theta)"),
        "restarts": whole(0),
        "tol": at_least(0),
        "max_iter": whole(1) | none,
    }
    _streams = False
    _evidence: CurveEvidence | None

    def __init__(
        self,
        model: Callable[[Array, Array], Array] | None = None,
        start: Any = None,
        *,
        jacobian: Any = "auto",
        bounds: Any = None,
        method: Any = "auto",
        loss: Any = "squared",
        restarts: int = 0,
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.start = start
        self.jacobian = jacobian
        self.bounds = bounds
        self.method = method
        self.loss = loss
        self.restarts = restarts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NonlinearRegression:
        """Fit to rows in memory.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open(X, y, sample_weight)
        problem, start, reason = self._problem(source)
        method = self._chosen(problem)
        # What `predict` needs after each step, should the run be stopped there.
        attributes = partial(self._attributes, curve=problem.curve)
        self._evidence = None
        with self._watching(self.max_iter, attributes, X, y) as watch:
            best = self._best_run(problem, method, start, watch)
        theta = best.theta
        low, high = problem.bounds
        evidence = CurveEvidence.of(
            problem, theta, (theta > low) & (theta < high), weighted=source.has_weight
        )
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
        """f(x; θ̂). Cost: one call of the model per block of rows.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,)
        """
        rows = self._open_again(X)
        parts = [self._curve(_as_rows(block.X), self.theta_) for block in rows.blocks()]
        return np.concatenate(parts).astype(rows.dtype, copy=False)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "prediction", weights: str = "frequency"
    ) -> tuple[Array, Array]:
        """Bounds for a new y ("prediction") or for f(x; θ) ("confidence"). Cost: O(n p²).

        Formula: f(x; θ̂) ± t_{n−p}·√(gᵀ Cov(θ̂) g [+ σ̂² for a new y]) with g = ∂f(x; θ̂)/∂θ.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            The rows.
        level : float, default=0.95
            How often each interval holds what it is for.
        kind : {"prediction", "confidence"}
            For a new y, or for its mean.
        weights : {"frequency", "precision"}
            Whether a row of weight 2 is two rows, or one measured with half the variance.

        Returns
        -------
        low, high : arrays of shape (n,)
        """
        if kind not in ("confidence", "prediction"):
            raise ParameterError(
                f"kind={kind!r} must be 'confidence' (of the mean) or 'prediction' (of a new y)."
            )
        rows = self._open_again(X)
        evidence = self._certain()
        quantile = evidence.quantile(level, weights)
        low, high = [], []
        for block in rows.blocks():
            block_rows = _as_rows(block.X)
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
        """Standard errors, intervals and the quality of the fit. Cost: O(p³).

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        weights : {"frequency", "precision"}
            Whether a row of weight 2 is two rows, or one measured with half the variance.

        Returns
        -------
        NonlinearSummary
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
        """The rows, the curve with a derivative that works, and where to begin."""
        who = type(self).__name__
        start, names = read_start(self.start, self.model, source.n_features, who)
        curve = Curve(self.model or linear_function, self.jacobian, names)
        parts = [(b.X, b.y, b.weight) for b in source.blocks()]
        X = np.concatenate([_as_rows(X) for X, _, _ in parts])
        y = np.concatenate([y for _, y, _ in parts]).astype(np.float64)
        weight = np.ones(len(y))
        if source.has_weight:
            weight = np.concatenate([weight for _, _, weight in parts]).astype(np.float64)
        there = weight > 0
        X, y, weight = X[there], y[there], weight[there]
        X.flags.writeable = False  # the model may look at the rows, not change them
        problem = CurveFit(
            curve=curve,
            X=X,
            y=y,
            weight=weight,
            loss=named_loss(self.loss),
            bounds=read_bounds(self.bounds, start, names, who),
        )
        problem.require_residual_loss(who)
        curve, reason = curve.settled(X, start)
        problem = replace(problem, curve=curve)
        problem.require_finite_sum(start, who)
        return problem, start, reason

    def _chosen(self, problem: CurveFit) -> Method:
        method = TrustRegion() if self.method == "auto" else named_method(self.method)
        if not {"residuals", "jacobian"} & set(method.needs):
            raise CapabilityError(
                f"NonlinearRegression: method={self.method!r} does not minimise sums of squares. "
                'Use "auto", "gauss_newton", "levenberg" or "levenberg_marquardt".'
            )
        bounded = any(np.isfinite(bound).any() for bound in problem.bounds)
        if bounded and not isinstance(method, TrustRegion):
            raise CapabilityError(
                f"NonlinearRegression: method={self.method!r} knows no bounds. Use "
                'method="auto", or leave the bounds out.'
            )
        return method

    def _best_run(self, problem: CurveFit, method: Method, start: Array, watch: Watch) -> Solution:
        """The lowest of the runs from the start and from others; time and callbacks end them."""
        random = generator(self.random_state)
        best: Solution | None = None
        runs = [(method, start)]
        runs += [(method, _drawn(start, problem.bounds, random)) for _ in range(self.restarts)]
        for place, (how, point) in enumerate(runs):
            found = minimise(
                problem, how, point, tolerance=self.tol, max_steps=self.max_iter, watch=watch
            )
            if place == 0 and self.method == "auto" and _went_astray(found):
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
                "Fit again, from start=model.theta_."
            )
        return self._evidence


def _went_astray(found: Solution) -> bool:
    """Whether a run was long or did not converge: the start was far, and the way may be wrong."""
    return found.steps > LONG or not found.outcome.success


def _as_rows(X: Array) -> Array:
    return np.asarray(X, dtype=np.float64)


def _drawn(start: Array, bounds: tuple[Array, Array], random: Any) -> Array:
    """Another start: uniform in a finite box, else of the same sign and another magnitude."""
    low, high = bounds
    around = np.where(start != 0, start * np.exp(random.normal(size=len(start))), 0.0)
    around = around + np.where(start == 0, random.normal(size=len(start)), 0.0)
    boxed = np.isfinite(low) & np.isfinite(high)
    inside = np.where(boxed, low, 0.0) + random.uniform(size=len(start)) * np.where(
        boxed, high - low, 0.0
    )
    return np.clip(np.where(boxed, inside, around), low, high)
