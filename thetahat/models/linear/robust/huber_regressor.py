"""Huber regression with its scale: one convex problem in the coefficients and the noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.extremes import require_squares_of_rows, target_unit
from thetahat.data.source import Block, Source
from thetahat.data.views.retargeted import in_target_units
from thetahat.data.views.shifted import shifted_to_middle
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.residual.pinball import Absolute
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.huber_scale import HuberWithScale
from thetahat.objective.units import watch_in_units

TRIAL = 30
"""Steps after which a scale that has not settled may be on its way to 0."""


class HuberRegressor(Watched, LinearRegressor):
    """Linear regression that outliers cannot pull far, with the scale of the noise fitted beside.

    Formula: β̂, b̂, σ̂ = argmin Σ wᵢ (σ + H(rᵢ/σ)·σ) + α‖β‖² with r = y − xᵀβ − b and H(u) = u² while
    |u| ≤ ε, then 2ε|u| − ε². It is convex in (β, b, σ) jointly, and scaling y scales the fit.

    Newton's method on all of them: the Gram matrix of the rows inside is formed once, and corrected
    by the rows that change sides.

    Cost: O(n d²) once and O(n d) for each of 3 to 10 steps, in memory or out of core.

    Parameters
    ----------
    epsilon : float, default=1.35
        ε ≥ 1: how many σ̂ a residual may have before it counts as an outlier's. At ε = 1 the scale
        goes to 0 and the fit is that of the absolute loss.
    max_iter : int, default=100
        Most steps.
    alpha : float, default=0.0001
        α, the strength of the L2 penalty.
    warm_start : bool, default=False
        Start from the last fit.
    fit_intercept : bool, default=True
        Whether b is fitted.
    tol : float, default=1e-5
        Largest gradient entry of the objective at which the fit ends.

    Attributes
    ----------
    coef_, intercept_ : array, float
        β̂ and b̂.
    scale_ : float
        σ̂. It is 0 (to rounding) when more rows than 1 − 1/ε² lie on one plane: the fit is then
        that of the absolute loss.
    outliers_ : array of bool, shape (n,)
        The rows with |r| > ε·σ̂.
    n_iter_ : int
        Steps taken.
    solution_ : Solution
        Outcome, gap, solver.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> y = 3.0 * X[:, 0] + np.resize([0.01, -0.01], 20)
    >>> y[[2, 17]] += 40.0
    >>> model = th.HuberRegressor(alpha=0.0).fit(X, y)
    >>> np.flatnonzero(model.outliers_).tolist(), abs(model.coef_[0] - 3.0) < 0.02
    ([2, 17], np.True_)
    """

    _why_no_errors = "Huber's loss with a penalty is not the likelihood of a distribution"
    _everyday = "Huber"
    _ranges = {  # noqa: RUF012
        "epsilon": at_least(1),
        "max_iter": whole(0),
        "alpha": at_least(0),
        "warm_start": boolean,
        "fit_intercept": boolean,
        "tol": at_least(0),
    }
    _multi_output = False

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-05,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> HuberRegressor:
        """Fit; parameters as in `LinearRegression.fit`, with one target per row."""
        source = self._open(X, y, sample_weight)
        predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
        require_squares_of_rows(source, who=type(self).__name__)
        source, origin = shifted_to_middle(source, fit_intercept=self.fit_intercept)
        unit = target_unit(source)
        source = in_target_units(source, unit) if unit != 1 else source
        alpha = float(self.alpha) * unit  # of F/unit, with θ/unit
        problem = HuberWithScale(predictor, float(self.epsilon), alpha, source)
        attributes = partial(self._scaled_attributes, problem=problem)

        def back(theta: Array) -> Array:
            return unit * np.append(predictor.from_origin(theta[:-1], origin), theta[-1])

        with (
            self._watching(self.max_iter, attributes, X, y) as watch,
            watch_in_units(watch, back) as inner,
        ):
            assert inner is not None
            start = self._last_fit(problem, origin, unit) if self.warm_start else None
            start = problem.start() if start is None else start
            with _kept_if_interrupted(start):
                found = self._solve(problem, start, inner)
        self.solution_ = replace(found, theta=back(found.theta), value=unit * found.value)
        self.__dict__.update(attributes(self.solution_.theta))
        self.outliers_ = _outliers(source, predictor, found.theta, self.epsilon)
        self.n_iter_ = found.steps
        self._warn_unless_converged()
        return self

    def _solve(self, problem: HuberWithScale, start: Array, watch: Watch) -> Solution:
        problem.value_and_gradient(start)
        tolerance = max(self.tol / problem.total.weight, problem.rounding())

        def newton(start: Array, max_steps: int) -> Solution:
            return minimise(
                problem,
                Newton(),
                start,
                tolerance=tolerance,
                max_steps=max_steps,
                watch=watch,
                reason="convex in coefficients and scale: few steps, each exact to second order",
            )

        found = newton(start, min(TRIAL, self.max_iter))
        ended = (Outcome.INTERRUPTED, Outcome.OUT_OF_TIME, Outcome.DIVERGED)
        if found.outcome.success or found.outcome in ended:
            return found
        if not (left := self.max_iter - found.steps):
            return found
        exact = _without_scale(problem, found, left, watch)
        left = self.max_iter - exact.steps
        if exact.outcome in ended or problem.is_least_without_scale(exact.theta[:-1]):
            best = exact if exact.value <= found.value else found
            return replace(best, outcome=exact.outcome, steps=exact.steps)
        steps = exact.steps
        if left > 0:
            goes_on = found.outcome is Outcome.STEPS_EXHAUSTED and found.value < exact.value
            again = newton(found.theta if goes_on else problem.start_at(exact.theta[:-1]), left)
            steps += again.steps
            found = again if again.value <= found.value + 1e-12 * abs(found.value) else found
        if found.value <= exact.value:
            return replace(found, steps=steps)
        # The fit of the absolute loss is lower, but nothing says that it is the lowest.
        return replace(found, theta=exact.theta, value=exact.value, steps=steps)

    def _last_fit(self, problem: HuberWithScale, origin: Array, unit: float) -> Array | None:
        """(β, b, σ) of the last fit, where there is one of the same columns."""
        coef = getattr(self, "coef_", None)
        if coef is None or len(coef) != problem.predictor.n_features:
            return None
        coef = np.asarray(coef, dtype=np.float64)
        linear = problem.predictor.pack(coef, float(self.intercept_))
        linear = problem.predictor.from_origin(linear, -origin) / unit
        return np.append(linear, max(float(self.scale_) / unit, 2 * problem.floor))

    def _scaled_attributes(self, theta: Array, problem: HuberWithScale) -> dict[str, Any]:
        coef, intercept = problem.predictor.split(theta[:-1])
        dtype = problem.source.dtype
        return {
            "coef_": np.asarray(coef, dtype=dtype),
            "intercept_": np.asarray(intercept, dtype=dtype)[()],
            "scale_": float(theta[-1]),
        }


@contextmanager
def _kept_if_interrupted(start: Array) -> Iterator[None]:
    """An interrupt before the first step takes the start along."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if not hasattr(interrupt, "solution"):
            interrupt.solution = Solution(  # type: ignore[attr-defined]
                theta=start,
                outcome=Outcome.INTERRUPTED,
                solver=Newton.name,
                message=Outcome.INTERRUPTED.value,
            )
        raise


def _without_scale(
    problem: HuberWithScale, found: Solution, max_steps: int, watch: Watch
) -> Solution:
    """The fit for σ → 0: there F is 2ε·mean |r| + λ‖β‖², a linear (or quadratic) program."""
    risk = EmpiricalRisk(
        problem.predictor, Absolute(), L2(problem.penalty / problem.epsilon), problem.source
    )
    with watch_in_units(watch, lambda linear: np.append(linear, problem.floor)) as inner:
        exact = minimise(risk, InteriorPoint(), max_steps=max_steps, watch=inner)
    return replace(
        exact,
        theta=np.append(exact.theta, problem.floor),
        steps=found.steps + exact.steps,
        value=2 * problem.epsilon * exact.value,
        reason="the scale went to 0, where the objective is that of the absolute loss",
    )


def _outliers(source: Source, predictor: LinearPredictor, theta: Array, epsilon: float) -> Array:
    def far(block: Block) -> Array:
        residual = block.y - predictor.raw(block.X, theta[:-1])
        return abs(residual) > epsilon * theta[-1]

    return source.map_rows(far)
