"""M-estimation: β̂, b̂ = argmin Σ wᵢ ρ((yᵢ − xᵢᵀβ − b)/σ), with a mask of the outliers."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    at_least,
    boolean,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.losses.base import Curved, Loss, Reweightable, Targets
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2, NoPenalty
from thetahat.objective.choose import method_for
from thetahat.objective.conditioning import Conditioning
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.residual_scale import SCALES, Residuals, robust_start
from thetahat.objective.robust.row_space import RowSpace
from thetahat.objective.stopping import tolerance_for

MOST_ROUNDS = 100
PLAIN_ROUNDS = 10
"""Number of rounds in which the scale of the residuals is simply used as the next scale."""
SETTLED = 1e-10
"""Relative change of the scale below which the scale and the coefficients agree."""
ROUNDS_END = 100.0
"""Tolerance of the scale, as a multiple of the tolerance of the coefficients."""


@with_parameters
class RobustRegressor(WatchedSolver, OneTargetRegressor):
    """Robust linear regression (M-estimation) that also identifies outliers.

    Formula: β̂, b̂ = argmin (Σ wᵢ σ²ρ(rᵢ/σ))/(Σ wᵢ) + (α/2)‖β‖² with r = y − xᵀβ − b, where σ is
    the scale of these residuals: 1.4826·median |r| ("mad"), Huber's proposal 2 ("huber"), or a
    fixed number. The coefficients and the scale are estimated in turn until they agree. The default
    constants of the losses keep 95% of the efficiency of least squares under normal noise.

    If ρ is not convex ("forsyth", "cauchy", "tukey"), the result depends on the start. The start is
    an S-estimate on a sample of rows, which up to 40% of gross outliers do not affect, including
    leverage points, with up to about ten columns (fewer outliers with more columns). The bounded
    losses "forsyth" and "tukey" keep this robustness; "huber", "absolute" and "cauchy" resist
    outliers in y, but not many leverage points.

    Cost: that of the solver, O(n d²) per iteration of "irls" or "newton" and O(n d) per gradient
    step, for a few rounds; O(n) memory in addition to the data, in memory or block by block.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        Loss of the scaled residuals (ρ): "huber", "forsyth", "cauchy", "tukey", "absolute",
        "epsilon_insensitive", a value such as ``th.losses.Tukey(scale=6.0)``, or your own
        ``th.loss(function)``, which is evaluated at y/σ and z/σ.
    scale : {"mad", "huber"}, float or None, default="mad"
        How to estimate the scale of the residuals (σ). A number is used as a fixed scale, and None
        means 1.
    alpha : float, default=0.0
        Strength of the L2 penalty (α). Larger values shrink the coefficients more towards zero.
        Must be ≥ 0; 0 fits without a penalty.
    solver : str or Method, default="auto"
        Solver to use: "irls" (iteratively reweighted least squares), "newton", "lbfgs",
        "gradient_descent" or a method of ``th.optimizers``. "auto" chooses by the loss and the size
        of the data.
    outlier_threshold : float, default=2.5
        Number of scales beyond which the residual of a row makes it an outlier in ``outliers_``. It
        does not influence the fit.
    max_iter : int or None, default=None
        Maximum number of iterations in each round. None uses the default of the solver.
    tol : float, default=1e-8
        Tolerance of the solver in each round: largest optimality gap, in units of σ, at which it
        stops. Smaller values give a more exact solution and take longer.
    sample_size : int, default=1000
        Number of rows used to find the start (more are used if there are many columns). Larger
        values make the start more reliable and slower.
    random_state : int, Generator or None, default=0
        Seed for the sample of rows and the random subsets of the S-estimate.

    Attributes
    ----------
    scale_ : float
        Scale of the residuals (σ). It is 0 if more than half of the rows lie on one plane, which is
        then the fit.
    weights_ : array of shape (n,)
        Weight of each row in the equivalent weighted least-squares fit, ψ(u)/u with u = r/σ.
        Outliers have small weights.
    outliers_ : array of bool, shape (n,)
        Mask of the outliers, the rows with |r| > ``outlier_threshold``·σ.
    n_iter_ : int
        Number of iterations of the solver in all rounds.
    solution_ : Solution
        Report of the solver. If no scale agrees with the residuals of its own fit, which is
        possible for losses that are not convex, ``solution_.message`` says so.
    loss_ : Loss
        The loss that was used.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> y = 3.0 * X[:, 0] + np.resize([0.01, -0.01, 0.02], 30)
    >>> y[20:] = 20.0
    >>> model = th.RobustRegressor("tukey").fit(X, y)
    >>> int(model.outliers_.sum()), round(float(model.coef_[0]), 1)
    (10, 3.0)
    """

    loss: Any = "huber"
    _: KW_ONLY
    scale: Any = "mad"
    alpha: float = 0.0
    fit_intercept: bool = True
    solver: Any = "auto"
    outlier_threshold: float = 2.5
    max_iter: int | None = None
    tol: float = 1e-8
    sample_size: int = 1000
    random_state: RandomState = 0

    _why_no_errors = "a loss that bounds outliers is not the likelihood of a distribution"
    _search_space = {  # noqa: RUF012
        "alpha": (0.0, 1e-4, 0.001, 0.01, 0.1, 1.0),
    }
    _ranges = {  # noqa: RUF012
        "scale": one_of(*SCALES) | more_than(0, LARGEST_FACTOR) | none,
        "alpha": at_least(0),
        "fit_intercept": boolean,
        "outlier_threshold": more_than(0),
        "max_iter": whole(1) | none,
        "tol": at_least(0),
        "sample_size": whole(10),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RobustRegressor:
        """Fit the model and identify outliers."""
        source = self._open(X, y, sample_weight)
        self.loss_ = _residual_loss(self.loss)
        predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
        require_squares_of_rows(source, who=type(self).__name__)
        rows = Conditioning.near(source, predictor, ordinary_columns=True)
        unit = 1.0 if rows.scale is None else float(rows.scale)
        penalty = L2(float(self.alpha) / unit**2) if self.alpha else NoPenalty()
        attributes = partial(
            self._attributes, risk=EmpiricalRisk(predictor, self.loss_, penalty, rows.source)
        )
        space = RowSpace.of(rows.source, predictor)
        risk = EmpiricalRisk(space.predictor, self.loss_, penalty, space.source)
        with (
            one_blas_thread(),  # once, instead of in each of many short passes
            self._watching(self.max_iter, attributes, X, y) as watch,
            rows.watch(watch) as outer,
            space.watch(outer) as inner,
        ):
            assert inner is not None
            start = space.interpolant()
            start = self._start(risk, inner) if start is None else start
            found, residuals = self._alternate(risk, start, inner)
        self.solution_ = rows.solution(space.solution(found))
        self.__dict__.update(attributes(self.solution_.theta))
        self.n_iter_ = max(1, self.solution_.steps)
        self._label(residuals)
        self._warn_unless_converged()
        return self

    def _start(self, risk: EmpiricalRisk, watch: Watch) -> Array:
        assert isinstance(risk.predictor, LinearPredictor)
        rows = Conditioning(risk.source, risk.predictor).in_target_unit()
        try:
            with rows.watch(watch) as inner:
                start = robust_start(
                    rows.source,
                    risk.predictor,
                    convex=self.loss_.convex,
                    sample_size=self.sample_size,
                    random_state=self.random_state,
                    watch=inner,
                )
            return rows.back(start)
        except KeyboardInterrupt as interrupt:
            if (solution := getattr(interrupt, "solution", None)) is not None:
                residuals = Residuals.of(risk.source, risk.predictor, solution.theta)
                self.scale_ = self._scale_of(residuals)
            raise

    def _alternate(
        self, risk: EmpiricalRisk, theta: Array, watch: Watch
    ) -> tuple[Solution, Residuals]:
        """Estimate coefficients and scale in turn until both agree."""
        residuals = Residuals.of(risk.source, risk.predictor, theta)
        scale, agreement, steps = self._scale_of(residuals), Agreement(), 0
        for _ in range(MOST_ROUNDS):
            self.scale_ = scale
            if not self.scale_ > residuals.smallest:
                return self._on_one_plane(theta), residuals
            solution = self._minimise_in_units(risk, theta, watch)
            theta, steps = solution.theta, steps + solution.steps
            solution = replace(solution, steps=steps)
            residuals = Residuals.of(risk.source, risk.predictor, theta)
            found = self._scale_of(residuals)
            if not isinstance(self.scale, str) or abs(found / scale - 1) <= SETTLED:
                return solution, residuals
            if solution.outcome in (Outcome.INTERRUPTED, Outcome.OUT_OF_TIME):
                return solution, residuals
            scale = agreement.next_scale(scale, found)
            if agreement.is_closed:
                if abs(found / self.scale_ - 1) <= ROUNDS_END * max(self.tol, SETTLED):
                    return solution, residuals
                break
        return replace(
            solution,
            outcome=Outcome.STEPS_EXHAUSTED,
            gap=abs(found / self.scale_ - 1),
            gap_kind="relative difference between the scale of the fit and of its residuals",
            message="no scale was found that agrees with the residuals of its own fit",
        ), residuals

    def _minimise_in_units(self, risk: EmpiricalRisk, theta: Array, watch: Watch) -> Solution:
        """The optimum for this scale, computed with y and θ divided by it."""
        rows = Conditioning(risk.source, risk.predictor).in_target_unit(self.scale_)
        view = replace(risk, source=rows.source)
        method, reason = method_for(view, self.solver)
        with rows.watch(watch) as inner:
            found = minimise(
                view,
                method,
                rows.to(theta),
                tolerance=tolerance_for(view, method, self.tol),
                max_steps=self.max_iter,
                watch=inner,
                reason=reason,
            )
        return rows.solution(found)

    def _scale_of(self, residuals: Residuals) -> float:
        if isinstance(self.scale, str):
            return residuals.scale(self.scale)
        return 1.0 if self.scale is None else float(self.scale)

    def _on_one_plane(self, theta: Array) -> Solution:
        """The fit if more than half of the rows lie exactly on one plane."""
        self.scale_ = 0.0
        if self.alpha:
            raise DataError(
                f"RobustRegressor: more than half of the rows lie on one plane, so the scale of "
                f"the residuals is 0 and alpha={self.alpha!r} cannot be applied. Give a number as "
                "scale, or use alpha=0."
            )
        return Solution(
            theta=theta,
            outcome=Outcome.EXACT,
            solver="robust start",
            reason="more than half of the rows lie on one plane, which is the fit for any loss",
            message=Outcome.EXACT.value,
        )

    def _label(self, residuals: Residuals) -> None:
        """Set the weights of the rows and the mask of outliers."""
        size = abs(residuals.values)
        if self.scale_ == 0.0:
            self.outliers_ = size > residuals.smallest
            self.weights_ = np.where(self.outliers_, 0.0, 1.0)
            return
        unit = self.scale_ if self.scale is not None else residuals.scale("mad")
        self.outliers_ = size > self.outlier_threshold * unit
        self.weights_ = _weight(self.loss_, residuals.values / self.scale_)


class Agreement:
    """The search for σ = T(σ), where T(σ) is the scale of the residuals of the fit at σ.

    The iteration σ ← T(σ) usually converges. If it goes in circles, T(σ) − σ has changed its sign,
    and the root is enclosed by secant and bisection steps.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.ends: dict[bool, tuple[float, float]] = {}
        """log σ and log T(σ)/σ for the last σ with T(σ) > σ and the last with T(σ) < σ."""

    def next_scale(self, scale: float, found: float) -> float:
        """The scale to try after `scale`, whose residuals had the scale `found`."""
        self.rounds += 1
        self.ends[found > scale] = (math.log(scale), math.log(max(found / scale, 1e-300)))
        if self.rounds < PLAIN_ROUNDS or len(self.ends) < 2 or found <= 0:
            return found
        (low, rise), (high, fall) = self.ends[True], self.ends[False]
        if self.rounds % 2:
            return math.exp((low + high) / 2)
        return math.exp(low + (high - low) * rise / (rise - fall))

    @property
    def is_closed(self) -> bool:
        """Whether the interval is empty up to rounding: at the root, or where T jumps over it."""
        if self.rounds <= PLAIN_ROUNDS or len(self.ends) < 2:
            return False
        return abs(self.ends[True][0] - self.ends[False][0]) <= SETTLED


def _weight(loss: Loss, units: Array) -> Array:
    """ψ(u)/u; near u = 0 the curvature there, or the value at |u| = √ε if there is a kink."""
    zero = np.zeros_like(units)
    if isinstance(loss, Reweightable):
        return loss.irls_weight(zero, units)
    tiny = np.sqrt(EPSILON)
    at = np.where(abs(units) < tiny, tiny, units)
    weight = loss.gradient(zero, at) / at  # type: ignore[attr-defined]
    if isinstance(loss, Curved):
        weight = np.where(abs(units) < tiny, loss.curvature(zero, zero), weight)
    return weight


def _residual_loss(given: Any) -> Loss:
    loss = named_loss(given)
    if loss.targets is not Targets.REAL or loss.columns != "one":
        raise ParameterError(
            f"RobustRegressor: loss={given!r} is for {loss.targets.value}, but a loss of residuals "
            'is needed, such as "huber", "cauchy" or "tukey". For other losses use LinearModel.'
        )
    return loss
