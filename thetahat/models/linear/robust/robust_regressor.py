"""M-estimation: β̂, b̂ = argmin Σ wᵢ ρ((yᵢ − xᵢᵀβ − b)/σ), with outliers labelled and discounted."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.extremes import in_ordinary_units, require_squares_of_rows, target_unit
from thetahat.data.views.retargeted import in_target_units
from thetahat.data.views.shifted import shifted_to_middle
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, more_than, none, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.losses.base import Curved, Loss, Reweightable, Targets
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2, NoPenalty
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.residual_scale import SCALES, Residuals, robust_start
from thetahat.objective.stopping import tolerance_for
from thetahat.objective.units import watch_in_units

MOST_ROUNDS = 100
PLAIN_ROUNDS = 10
"""Rounds in which the scale of the residuals is the next scale, whatever came before."""
SETTLED = 1e-10
"""Relative change of the scale at which it and the coefficients agree."""
ROUNDS_END = 100.0
"""A fit is known to `tol`, and its scale to so many times that."""
EXACT = 1e-10
"""Scales below this share of that of y count as 0."""


class RobustRegressor(Watched, LinearRegressor):
    """Linear regression under a loss that forgives outliers, and names them.

    Formula: β̂, b̂ = argmin (Σ wᵢ σ²ρ(rᵢ/σ))/(Σ wᵢ) + (α/2)‖β‖² with r = y − xᵀβ − b, and σ the scale
    of these residuals: 1.4826·median |r| ("mad"), Huber's proposal 2 ("huber"), or a number. Fit
    and scale are brought to agree. The default constants of the losses keep 95% of the efficiency
    of least squares under normal noise.

    Where ρ is not convex (Forsyth, Cauchy, Tukey) the start decides. It is the S-estimate of a
    sample of rows, which up to 40% gross outliers do not move, leverage points included, with up to
    about ten columns (with more, fewer outliers). The bounded losses, Forsyth and Tukey, keep that
    fit; Huber, absolute and Cauchy resist outliers in y, but not many leverage points.

    Cost: that of the solver, O(n d²) per step of "irls" or "newton" and O(n d) per gradient step,
    for a few rounds; O(n) memory beside the data, in memory or out of core.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        ρ: "huber", "forsyth", "cauchy", "tukey", "absolute", "epsilon_insensitive", a value such as
        ``th.losses.Tukey(scale=6.0)``, or your own ``th.loss(function)``. It sees y/σ and z/σ.
    scale : {"mad", "huber"}, float or None, default="mad"
        σ; a number is kept as it is, and None stands for 1.
    alpha : float, default=0.0
        α, the strength of the L2 penalty.
    fit_intercept : bool, default=True
        Whether b is fitted.
    solver : str or Method, default="auto"
        "irls" (reweighted least squares), "newton", "lbfgs", "gradient_descent", ...
    outlier_threshold : float, default=2.5
        Rows with |r| more than so many scales are labelled outliers.
    max_iter : int, optional
        Most steps in a round; the solver's own default if None.
    tol : float, default=1e-8
        Largest gap to optimality, in units of σ, at which a round ends; as in `LinearModel`.
    sample_size : int, default=1000
        Rows that the start is found on (more for many columns).
    random_state : int, Generator or None, default=0
        Which rows these are, and the random planes of the S-estimate.

    Attributes
    ----------
    coef_, intercept_ : array, float
        β̂ and b̂.
    scale_ : float
        σ; 0 when more than half of the rows lie on one plane, which then is the fit.
    weights_ : array of shape (n,)
        ψ(u)/u with u = r/σ: how much each row counts in the last least-squares fit.
    outliers_ : array of bool, shape (n,)
        Labels.
    n_iter_ : int
        Steps taken.
    solution_ : Solution
        Outcome, gap, solver and the reason for it. Where no scale is that of the residuals of its
        own fit (possible where ρ is not convex), the steps are exhausted; ``message`` says so.
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

    _why_no_errors = "a loss that bounds outliers is not the likelihood of a distribution"
    _ranges = {  # noqa: RUF012
        "scale": one_of(*SCALES) | more_than(0) | none,
        "alpha": at_least(0),
        "fit_intercept": boolean,
        "outlier_threshold": more_than(0),
        "max_iter": whole(1) | none,
        "tol": at_least(0),
        "sample_size": whole(10),
    }
    _multi_output = False

    def __init__(
        self,
        loss: Any = "huber",
        *,
        scale: Any = "mad",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        solver: Any = "auto",
        outlier_threshold: float = 2.5,
        max_iter: int | None = None,
        tol: float = 1e-8,
        sample_size: int = 1000,
        random_state: RandomState = 0,
    ) -> None:
        self.loss = loss
        self.scale = scale
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.outlier_threshold = outlier_threshold
        self.max_iter = max_iter
        self.tol = tol
        self.sample_size = sample_size
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RobustRegressor:
        """Fit; parameters as in `LinearRegression.fit`, with one target per row."""
        source = self._open(X, y, sample_weight)
        self.loss_ = _residual_loss(self.loss)
        predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
        require_squares_of_rows(source, who=type(self).__name__)
        source, unit = in_ordinary_units(source)
        source, origin = shifted_to_middle(source, fit_intercept=self.fit_intercept)
        penalty = L2(float(self.alpha) / unit**2) if self.alpha else NoPenalty()
        risk = EmpiricalRisk(predictor, self.loss_, penalty, source)
        attributes = partial(self._attributes, risk=risk)

        def back(theta: Array) -> Array:
            coef, intercept = predictor.split(predictor.from_origin(theta, origin))
            return predictor.pack(coef / unit, intercept)

        with (
            self._watching(self.max_iter, attributes, X, y) as watch,
            watch_in_units(watch, back) as inner,
        ):
            assert inner is not None
            start = self._start(risk, inner)
            found, residuals = self._alternate(risk, start, inner)
        self.solution_ = replace(found, theta=back(found.theta))
        self.__dict__.update(attributes(self.solution_.theta))
        self.n_iter_ = max(1, self.solution_.steps)
        self._label(residuals)
        self._warn_unless_converged()
        return self

    def _start(self, risk: EmpiricalRisk, watch: Watch) -> Array:
        unit = target_unit(risk.source)
        source = in_target_units(risk.source, unit) if unit != 1 else risk.source
        try:
            with watch_in_units(watch, lambda theta: unit * theta) as told:
                return unit * robust_start(
                    source,
                    risk.predictor,
                    convex=self.loss_.convex,
                    sample_size=self.sample_size,
                    random_state=self.random_state,
                    watch=told,
                )
        except KeyboardInterrupt as interrupt:
            if (solution := getattr(interrupt, "solution", None)) is not None:
                residuals = Residuals.of(risk.source, risk.predictor, solution.theta)
                self.scale_ = self._scale_of(residuals)
            raise

    def _alternate(
        self, risk: EmpiricalRisk, theta: Array, watch: Watch
    ) -> tuple[Solution, Residuals]:
        """Coefficients for the scale, and the scale of their residuals, until both agree."""
        residuals = Residuals.of(risk.source, risk.predictor, theta)
        scale, agreement, steps = self._scale_of(residuals), Agreement(), 0
        for _ in range(MOST_ROUNDS):
            self.scale_ = scale
            if not self.scale_ > EXACT * residuals.spread:
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
            gap_kind="share by which the scale of the residuals differs from that of the fit",
            message="no scale was found that is that of the residuals of its own fit",
        ), residuals

    def _minimise_in_units(self, risk: EmpiricalRisk, theta: Array, watch: Watch) -> Solution:
        """The optimum at this scale: y and θ are divided by it, and θ multiplied again."""
        unit = self.scale_
        view = replace(risk, source=in_target_units(risk.source, unit))
        method, reason = method_for(view, self.solver)
        with watch_in_units(watch, lambda inner: inner * unit) as told:
            found = minimise(
                view,
                method,
                theta / unit,
                tolerance=tolerance_for(view, method, self.tol),
                max_steps=self.max_iter,
                watch=told,
                reason=reason,
            )
        return replace(found, theta=found.theta * unit)

    def _scale_of(self, residuals: Residuals) -> float:
        if isinstance(self.scale, str):
            return residuals.scale(self.scale)
        return 1.0 if self.scale is None else float(self.scale)

    def _on_one_plane(self, theta: Array) -> Solution:
        """More than half of the rows fit exactly: theirs is the fit, whatever the loss."""
        self.scale_ = 0.0
        if self.alpha:
            raise DataError(
                f"RobustRegressor: more than half of the rows lie on one plane, so the scale of "
                f"the residuals is 0 and alpha={self.alpha!r} has no unit. Give scale=... a "
                "number, or alpha=0."
            )
        return Solution(
            theta=theta,
            outcome=Outcome.EXACT,
            solver="robust start",
            reason="more than half of the rows lie on one plane: it is the fit, whatever the loss",
            message=Outcome.EXACT.value,
        )

    def _label(self, residuals: Residuals) -> None:
        """Weights and labels of the rows."""
        size = abs(residuals.values)
        if self.scale_ == 0.0:
            self.outliers_ = size > EXACT * residuals.spread
            self.weights_ = np.where(self.outliers_, 0.0, 1.0)
            return
        unit = self.scale_ if self.scale is not None else residuals.scale("mad")
        self.outliers_ = size > self.outlier_threshold * unit
        self.weights_ = _weight(self.loss_, residuals.values / self.scale_)


class Agreement:
    """The search for σ = T(σ), with T(σ) the scale of the residuals of the fit at σ.

    σ ← T(σ) mostly leads there. Where it goes in circles, T(σ) − σ has changed its sign, and the
    root is closed in between: by the line through both ends, and by halves.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.ends: dict[bool, tuple[float, float]] = {}
        """log σ and log T(σ)/σ: the last where T is larger, and the last where it is smaller."""

    def next_scale(self, scale: float, found: float) -> float:
        """The scale to try after `scale`, where the residuals had the scale `found`."""
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
        """Whether both ends meet: at σ, or where T jumps over it."""
        if self.rounds <= PLAIN_ROUNDS or len(self.ends) < 2:
            return False
        return abs(self.ends[True][0] - self.ends[False][0]) <= SETTLED


def _weight(loss: Loss, units: Array) -> Array:
    """ψ(u)/u; near u = 0 the curvature there, or as if |u| were √ε where there is a kink."""
    zero = np.zeros_like(units)
    if isinstance(loss, Reweightable):
        return loss.irls_weight(zero, units)
    tiny = np.sqrt(np.finfo(np.float64).eps)
    at = np.where(abs(units) < tiny, tiny, units)
    weight = loss.gradient(zero, at) / at  # type: ignore[attr-defined]
    if isinstance(loss, Curved):
        weight = np.where(abs(units) < tiny, loss.curvature(zero, zero), weight)
    return weight


def _residual_loss(given: Any) -> Loss:
    loss = named_loss(given)
    if loss.targets is not Targets.REAL or loss.columns != "one":
        raise ParameterError(
            f"RobustRegressor: loss={given!r} is for {loss.targets.value}; here it must judge "
            'residuals of real targets, as "huber", "cauchy" and "tukey" do. Use LinearModel.'
        )
    return loss
