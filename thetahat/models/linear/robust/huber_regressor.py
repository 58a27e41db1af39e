"""Huber regression with an estimated scale: one convex problem in all parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, at_least, boolean, whole
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.residual.pinball import Absolute
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2
from thetahat.models.linear.inference.huber_intervals import (
    MOST_RESIDUALS,
    HuberEvidence,
    HuberIntervals,
)
from thetahat.objective.conditioning import Conditioning, watch_through
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.huber_scale import HuberWithScale
from thetahat.objective.robust.newton_by_products import NewtonByProducts
from thetahat.objective.robust.row_space import RowSpace

WIDEST_SPARSE_HESSIAN = 500
"""Columns of sparse rows up to which Newton's method is used."""
VANISHING = 0.01
"""Share of the first scale below which a scale that still changes is taken to go to 0."""
TRIAL = 30
"""Number of steps after which a scale that still changes may be going to 0."""


@with_parameters
class HuberRegressor(HuberIntervals, WatchedSolver, OneTargetRegressor):
    """Linear regression with the Huber loss, which is robust to outliers in y.

    Formula: β̂, b̂, σ̂ = argmin Σ wᵢ (σ + H(rᵢ/σ)·σ) + α‖β‖² with r = y − xᵀβ − b, H(u) = u² for
    |u| ≤ ε and H(u) = 2ε|u| − ε² otherwise. Residuals larger than ε·σ̂ count only linearly, so that
    outliers have little influence. The scale σ̂ of the noise is estimated together with the
    coefficients, so scaling y scales the fit. The objective is jointly convex in (β, b, σ).

    The solver is Newton's method on all parameters. The Gram matrix is formed once and corrected
    for the rows whose residual crosses ε·σ.

    Cost: O(n d²) once and O(n d) for each of 3 to 10 iterations, in memory or block by block. With
    more columns than rows, O(n² d) instead. Sparse rows of more than 500 columns are fitted from
    products alone, about 20 passes over the stored entries for each of 10 to 20 iterations. Many
    rows in memory are fitted from the solution for a tenth of them; rows of a `Source` are fitted
    from the least-squares solution, so both coefficients agree to `tol`, not bit for bit.

    Parameters
    ----------
    epsilon : float, default=1.35
        Number of scales σ̂ beyond which a residual counts as an outlier (ε). Smaller values are
        more robust to outliers; larger values are closer to least squares. Must be ≥ 1. With ε = 1
        the scale goes to 0 and the fit is that of the absolute loss.
    alpha : float, default=0.0001
        Strength of the L2 penalty (α). Larger values shrink the coefficients more towards zero.
        Must be ≥ 0; 0 fits without a penalty.
    tol : float, default=1e-5
        Tolerance of the solver. It stops when the largest entry of the gradient of the objective is
        at most `tol`. Smaller values give a more exact solution and take longer.

    Attributes
    ----------
    scale_ : float
        Estimated scale of the noise (σ̂). It is 0 up to rounding if a share of more than 1 − 1/ε²
        of the rows lies on one plane; the fit is then that of the absolute loss.
    outliers_ : array of bool, shape (n,)
        Mask of the outliers, the rows with |r| > ε·σ̂.

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

    _: KW_ONLY
    epsilon: float = 1.35
    max_iter: int = 100
    alpha: float = 0.0001
    warm_start: bool = False
    fit_intercept: bool = True
    tol: float = 1e-05

    _why_no_errors = "Huber's loss with a penalty is not the likelihood of a distribution"
    _everyday = "Huber"
    _search_space = {  # noqa: RUF012
        "epsilon": (1.1, 1.35, 2.0),
        "alpha": (1e-4, 0.01, 1.0, 10.0, 100.0),
    }
    _ranges = {  # noqa: RUF012
        "epsilon": at_least(1, LARGEST_FACTOR),
        "max_iter": whole(0),
        "alpha": at_least(0),
        "warm_start": boolean,
        "fit_intercept": boolean,
        "tol": at_least(0),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> HuberRegressor:
        source = self._open(X, y, sample_weight)
        predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
        require_squares_of_rows(source, who=type(self).__name__)
        rows = Conditioning.near(source, predictor).in_target_unit()
        unit = 1.0 if rows.unit is None else float(rows.unit)
        alpha = float(self.alpha) * unit  # scaled so that θ/unit minimises F/unit
        space = RowSpace.of(rows.source, predictor)
        problem = HuberWithScale(
            space.predictor,
            float(self.epsilon),
            alpha,
            space.source,
            has_hessian=not _is_for_gradients(space.source),
        )
        attributes = partial(self._scaled_attributes, predictor=predictor, dtype=source.dtype)
        with (
            one_blas_thread(),  # once, instead of in each of many short passes
            self._watching(self.max_iter, attributes, X, y) as watch,
            rows.watch(watch) as outer,
            space.watch(outer) as inner,
        ):
            assert inner is not None
            found = _on_the_rows(problem, space)
            if found is None:
                start = self._last_fit(predictor, problem, rows, space) if self.warm_start else None
                start = problem.start() if start is None else start
                with _kept_if_interrupted(start):
                    found = self._solve(problem, start, inner)
        self.solution_ = replace(rows.solution(space.solution(found)), value=unit * found.value)
        self.__dict__.update(attributes(self.solution_.theta))
        sizes, weight = _sizes(problem.source, problem.predictor, found.theta)
        self.outliers_ = sizes > self.epsilon * found.theta[-1]
        self._evidence = None
        if space.axes is None and problem.has_hessian:
            self._evidence = _evidence(problem, rows, found.theta, sizes, weight)
        self.n_iter_ = found.steps
        self._warn_unless_converged()
        return self

    def _solve(self, problem: HuberWithScale, start: Array, watch: Watch) -> Solution:
        problem.value_and_gradient(start)
        tolerance = max(self.tol / problem.total.weight, problem.rounding())

        method: Method = Newton()
        reason = "jointly convex in coefficients and scale: Newton needs few iterations"
        if not problem.has_hessian:
            method, reason = NewtonByProducts(), "sparse rows with many columns: products alone"

        def newton(start: Array, max_steps: int) -> Solution:
            return minimise(
                problem,
                method,
                start,
                tolerance=tolerance,
                max_steps=max_steps,
                watch=watch,
                reason=reason,
            )

        found = newton(start, min(TRIAL, self.max_iter))
        ended = (Outcome.INTERRUPTED, Outcome.OUT_OF_TIME, Outcome.DIVERGED)
        if found.outcome.success or found.outcome in ended:
            return found
        if not (left := self.max_iter - found.steps):
            return found
        if not problem.has_hessian:
            if found.theta[-1] > VANISHING * start[-1]:
                again = newton(found.theta, left)
                return replace(again, steps=found.steps + again.steps)
            problem, method = replace(problem, has_hessian=True, _seen={}), Newton()
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
        # The fit of the absolute loss is better, but it is not proven to be optimal.
        return replace(found, theta=exact.theta, value=exact.value, steps=steps)

    def _last_fit(
        self,
        predictor: LinearPredictor,
        problem: HuberWithScale,
        rows: Conditioning,
        space: RowSpace,
    ) -> Array | None:
        """(β, b, σ) of the previous fit, if there is one with the same columns."""
        coef = getattr(self, "coef_", None)
        if coef is None or len(coef) != predictor.n_features:
            return None
        linear = predictor.pack(np.asarray(coef, dtype=np.float64), float(self.intercept_))
        start = space.to(rows.to(np.append(linear, float(self.scale_))))
        start[-1] = max(start[-1], 2 * problem.floor)
        return start

    def _scaled_attributes(
        self, theta: Array, predictor: LinearPredictor, dtype: Any
    ) -> dict[str, Any]:
        coef, intercept = predictor.split(theta[:-1])
        return {
            "coef_": np.asarray(coef, dtype=dtype),
            "intercept_": np.asarray(intercept, dtype=dtype)[()],
            "scale_": float(theta[-1]),
        }


def _is_for_gradients(source: Source) -> bool:
    """Whether the rows are sparse with so many columns that a d × d system costs too much."""
    sparse = isinstance(source, InMemory) and source.is_sparse
    return sparse and source.n_features > WIDEST_SPARSE_HESSIAN


def _on_the_rows(problem: HuberWithScale, space: RowSpace) -> Solution | None:
    """The shortest β that fits all rows exactly, if F is smallest there; None otherwise."""
    linear = space.interpolant()
    if linear is None or not problem.is_least_without_scale(linear):
        return None
    coef = problem.predictor.split(linear)[0]
    return Solution(
        theta=np.append(linear, problem.floor),
        outcome=Outcome.EXACT,
        solver="direct",
        reason="more columns than rows: the shortest coefficients that fit all rows exactly",
        steps=1,
        value=problem.penalty * float(np.sum(coef * coef)),
        message=Outcome.EXACT.value,
    )


@contextmanager
def _kept_if_interrupted(start: Array) -> Iterator[None]:
    """Attach the start to an interrupt that arrives before the first step."""
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
    """The fit for σ → 0, where F is 2ε·mean |r| + λ‖β‖², a linear or quadratic program."""
    risk = EmpiricalRisk(
        problem.predictor, Absolute(), L2(problem.penalty / problem.epsilon), problem.source
    )
    with watch_through(watch, lambda linear: np.append(linear, problem.floor)) as inner:
        exact = minimise(risk, InteriorPoint(), max_steps=max_steps, watch=inner)
    return replace(
        exact,
        theta=np.append(exact.theta, problem.floor),
        steps=found.steps + exact.steps,
        value=2 * problem.epsilon * exact.value,
        reason="the scale went to 0, where the objective is that of the absolute loss",
    )


def _sizes(source: Source, predictor: LinearPredictor, theta: Array) -> tuple[Array, Array | None]:
    """|r| of every row, and the weights of the rows; None where all are 1."""

    def size(block: Block) -> Array:
        return abs(block.y - predictor.raw(block.X, theta[:-1]))

    weight = source.map_rows(lambda block: block.row_weights) if source.has_weight else None
    return source.map_rows(size), weight


def _evidence(
    problem: HuberWithScale, rows: Conditioning, theta: Array, sizes: Array, weight: Array | None
) -> HuberEvidence | None:
    """What intervals need, or None where they do not exist."""
    total, sigma, d = problem.total.weight, float(theta[-1]), problem.predictor.n_features
    reach = problem.epsilon * sigma
    if not (sigma > 2 * problem.floor and total > len(theta) - 1):
        return None
    hessian = problem.hessian(theta)
    outside = sizes > reach
    outer = float(np.count_nonzero(outside) if weight is None else weight @ outside)
    within = float(hessian[-1, -1]) * total * sigma**3 / 2  # Σ w r² of the inner rows
    every = max(1, len(sizes) // MOST_RESIDUALS)
    unit = 1.0 if rows.unit is None else float(rows.unit)
    return HuberEvidence(
        gram=hessian[:-1, :-1] * (total * sigma / 2),
        centre=np.zeros(d) if rows.centre is None else np.asarray(rows.centre, dtype=float),
        scale=np.broadcast_to(1.0 if rows.scale is None else rows.scale, d).astype(float),
        unit=unit,
        weight=float(total),
        squares=within + outer * reach**2,
        inner=float(total) - outer,
        sizes=np.asarray(sizes[::every], dtype=float) * unit,
        size_weights=None if weight is None else np.asarray(weight[::every], dtype=float),
        intercept=bool(problem.predictor.fit_intercept),
    )
