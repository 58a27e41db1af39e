"""L-BFGS: a quasi-Newton method with curvature estimated from the last few gradients.

The inverse Hessian is not formed; it is represented by m pairs of moves and gradient changes. A
problem with ``bounds``, an array of pairs (low, high), is minimised between them (L-BFGS-B). A
problem with a ``metric``, a matrix M with M·Mᵀ ≈ H⁻¹ for each column of θ, is minimised over M⁻¹θ,
where its curvature is about the same in every direction: far fewer steps if columns of X are
correlated or of different size. If the metric is a vector, the diagonal of M, it has the units of
the parameters, and the gap is the largest entry of Mᵀ∇F, which does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.mathematics.parts import whole

NEARBY = 1e-9
"""Differences of F below this share of |F| are computed from the gradients, more accurately."""
BEYOND = 1e6
"""An increase by more than this multiple of the predicted decrease gives no useful curvature."""


@dataclass(frozen=True)
class LBFGS(Method):
    """L-BFGS: θ ← θ − t B∇F(θ), with B ≈ H⁻¹ from the last m moves and gradient changes.

    Cost: about one value and gradient per step, plus O(m d) work and memory. CPU only.

    Parameters
    ----------
    memory : int, default=10
        Number of pairs of moves and gradient changes that are kept (m). Larger values approximate
        the Hessian better and need more memory. Must be at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Valley:
    ...     def value_and_gradient(self, x):
    ...         scale = np.array([1.0, 1000.0])
    ...         return float(x @ (scale * x)) / 2, scale * x
    >>> th.minimise(Valley(), th.optimizers.LBFGS(), np.ones(2)).outcome.success
    True
    """

    memory: int = whole(10, at_least=1)

    name = "lbfgs"
    aliases = ("l_bfgs",)

    def start(self, problem: Any, theta: Array) -> State:
        value, gradient = problem.value_and_gradient(theta)
        return State(theta, value, _gap(problem, theta, gradient))

    def advance(self, problem: Any, state: State) -> State:
        raise NotImplementedError("The steps are compiled; `run` reports them.")

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        evaluations = Evaluations(problem, theta)
        monitor.begin(evaluations.state(evaluations.theta))
        if monitor.goes_on:
            self._search(evaluations, monitor)
        if monitor.goes_on and monitor.best is not None:
            # Near the minimum F no longer decreases measurably, but the gradient is still accurate.
            evaluations.measure_from(monitor.best.theta)
            self._search(evaluations, monitor)
        if monitor.goes_on:
            monitor.outcome = Outcome.STALLED

    def _search(self, evaluations: Evaluations, monitor: Monitor) -> None:
        """Step until the monitor stops the run or no lower point is found."""

        def report(flat: Array) -> None:
            monitor.observe(evaluations.state(flat))
            if not monitor.goes_on:
                raise StopIteration

        def evaluate(flat: Array) -> tuple[float, Array]:
            found = evaluations(flat)
            if evaluations.is_as_low(monitor.tolerance):
                report(flat)
            return found

        bounds = getattr(evaluations.problem, "bounds", None)
        with one_blas_thread(), suppress(StopIteration):
            if bounds is None:
                _native.lbfgs(evaluate, report, evaluations.theta.copy(), self.memory)
            else:
                self._within(bounds, evaluate, report, evaluations.theta, monitor.max_steps)

    def _within(
        self,
        bounds: Any,
        evaluate: Callable[[Array], tuple[float, Array]],
        report: Callable[[Array], None],
        theta: Array,
        max_steps: int,
    ) -> None:
        """SciPy's L-BFGS-B, which knows bounds."""
        import scipy.optimize

        # The monitor alone decides when to stop, so SciPy's limits are set out of reach.
        options = {
            "maxcor": self.memory,
            "ftol": 0.0,
            "gtol": 0.0,
            "maxiter": max_steps + 1,
            "maxfun": 100 * (max_steps + 1),
            "maxls": 50,
        }
        minimize: Any = scipy.optimize.minimize
        minimize(
            evaluate,
            theta,
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            callback=report,
            options=options,
        )


class Evaluations:
    """F and ∇F of flat parameters; keeps the last evaluation, so that reporting a step is free.

    A line search compares values of F, whose rounding hides gradients below about √ε. Differences
    F(θ) − F(θ₀) ≈ ½⟨∇F(θ₀) + ∇F(θ), θ − θ₀⟩ from a nearby θ₀ have all the digits of the gradients.
    """

    def __init__(self, problem: Any, theta: Array) -> None:
        self.problem, self.shape = problem, theta.shape
        has_metric = hasattr(problem, "metric") and not hasattr(problem, "bounds")
        self.metric: Array | None = problem.metric() if has_metric else None
        self.theta = self._inside(theta)
        self.value, self.gap, self.gradient = float("nan"), float("nan"), self.theta
        self.evaluated: Array | None = None
        self.origin: tuple[Array, float, Array] | None = None
        self._evaluate(self.theta)
        self.reached = (self.theta, self.value, self.gradient)

    def __call__(self, flat: Array) -> tuple[float, Array]:
        self._evaluate(flat)
        replacement = self._if_too_far()
        if replacement is not None:
            return replacement
        if self.origin is None:
            return self.value, self.gradient
        theta, value, gradient = self.origin
        fall = self.value - value
        if abs(fall) < NEARBY * abs(value):
            fall = inner(gradient + self.gradient, self.theta - theta) / 2
        return fall, self.gradient

    def _if_too_far(self) -> tuple[float, Array] | None:
        """Replacement values that make the line search return to a quarter of a far too long step.

        They are F + |slope| at the end of the step; the parabola through this value and through F
        and its slope at the start has its minimum at a quarter. With the true values, such as
        e^700, cubic interpolation would fail and end the search.
        """
        theta, value, gradient = self.reached
        promised = abs(inner(gradient, self.theta - theta))
        rise = self.value - value
        if rise <= BEYOND * promised and np.isfinite(self.gradient).all():
            return None
        start = value if self.origin is None else value - self.origin[1]
        return start + promised, -3.0 * gradient

    def is_as_low(self, tolerance: float) -> bool:
        """Whether the last point is a minimum to this tolerance, and as low as the one before.

        Where the values differ by rounding errors only, the line search would refuse it, and
        evaluate F many times without finding a lower point.
        """
        value = self.reached[1]
        if not abs(self.value - value) <= NEARBY * abs(value):
            return False
        return self.gap <= tolerance

    def measure_from(self, theta: Array) -> None:
        """Use differences from F(θ) as values from now on."""
        self._evaluate(self._inside(theta))
        self.origin = self.reached = (self.theta, self.value, self.gradient)

    def state(self, flat: Array) -> State:
        """The state at these parameters."""
        if not np.array_equal(self.theta, flat):
            self._evaluate(flat)
        self.reached = (self.theta, self.value, self.gradient)
        return State(self._outside(self.theta), self.value, self.gap)

    def _evaluate(self, flat: Array) -> None:
        if self.evaluated is not None and np.array_equal(self.evaluated, flat):
            return
        self.theta = self.evaluated = flat.copy()
        theta = self._outside(self.theta)
        self.value, gradient = self.problem.value_and_gradient(theta)
        if self.metric is not None and self.metric.ndim == 1:
            gradient = self.metric * gradient.reshape(-1)
        self.gap = _gap(self.problem, theta.reshape(-1), gradient.reshape(-1))
        if self.metric is not None and self.metric.ndim == 2:
            gradient = self.metric.T @ gradient.reshape(len(self.metric), -1)
        self.gradient = gradient.reshape(-1)

    def _outside(self, flat: Array) -> Array:
        """θ of the problem from the parameters of the search: M times these."""
        if self.metric is not None and self.metric.ndim == 1:
            flat = self.metric * flat
        elif self.metric is not None:
            flat = self.metric @ flat.reshape(len(self.metric), -1)
        return flat.reshape(self.shape)

    def _inside(self, theta: Array) -> Array:
        """The parameters of the search from θ."""
        if self.metric is None or not theta.any():
            return theta.reshape(-1)
        if self.metric.ndim == 1:
            return theta.reshape(-1) / self.metric
        return np.linalg.solve(self.metric, theta.reshape(len(self.metric), -1)).reshape(-1)


def _gap(problem: Any, theta: Array, gradient: Array) -> float:
    """The largest gradient entry, of those that point into the bounds if there are any."""
    bounds = getattr(problem, "bounds", None)
    if bounds is None:
        return largest_entry(gradient)
    low, high = np.asarray(bounds, dtype=np.float64).T
    inside = np.clip(theta - gradient, low, high) - theta
    return largest_entry(np.where(inside != 0, gradient, 0.0))
