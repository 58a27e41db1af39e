"""The one loop. It owns counting, tolerance, time, interruption and failure; a method says how to
start and how to advance.

A problem is any object with the methods that the solver needs; `Objective` lists them. A method
names its needs, and `minimise` refuses with a way out before the first step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Protocol

import numpy as np

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.stuck import is_stuck
from thetahat.mathematics.parts import Part


class Objective(Protocol):
    """What a problem may offer; each method asks only for what it `needs`.

    The objective is F(θ) = S(θ) + R(θ). S takes all that has a gradient (or a subgradient, where a
    loss has kinks); R is what is left to a proximal step, and is 0 when all of F is smooth.
    """

    def start(self) -> Array:
        """Where to begin when nobody says."""

    def value(self, theta: Array) -> float:
        """F(θ)."""

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """F(θ) and ∇F(θ); only when F is smooth."""

    def hessian(self, theta: Array) -> Array:
        """∇²F(θ)."""

    def value_and_subgradient(self, theta: Array) -> tuple[float, Array]:
        """S(θ) and an element of ∂S(θ)."""

    def smooth_value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """S(θ) and ∇S(θ); only when S is smooth."""

    def nonsmooth_value(self, theta: Array) -> float:
        """R(θ)."""

    def prox(self, theta: Array, step: float) -> Array:
        """argmin_u ½‖u − θ‖² + step·R(u)."""

    def optimality_gap(self, theta: Array, smooth_gradient: Array) -> float:
        """Distance from −∇S(θ) to ∂R(θ); ‖∇F‖∞ when R is 0."""

    def majoriser(self, theta: Array) -> tuple[Array, Array]:
        """Gradient and Hessian at θ of a quadratic that touches F there and lies above it."""

    def separable_quadratic(self) -> Any:
        """F itself as a `SeparableQuadratic`."""

    def piecewise_linear(self) -> Any:
        """F itself as a `PiecewiseLinearSum`."""

    def l1_least_squares(self) -> Any:
        """F itself as an `L1LeastSquares`."""

    n_terms: int
    """How many terms S averages."""

    def sample_gradient(self, theta: Array, rows: Array) -> Array:
        """∇F from these terms only; over uniform rows its mean is ∇F(θ)."""

    def term_blocks(self) -> Any:
        """Blocks of terms, each with `n_terms` and `sample_gradient`; only for rows in files."""

    def compiled_epoch(self, theta: Array, rows: Array, rates: Array) -> tuple[Array, Array]:
        """θ after a step −η·∇F from each term in turn, and the mean of the iterates; optional."""

    def residuals(self, theta: Array) -> Array:
        """r(θ) with F(θ) = ½‖r(θ)‖²."""

    def jacobian(self, theta: Array) -> Array:
        """∂r/∂θ."""


NEED_IN_WORDS = {
    "value": "the value of the objective",
    "value_and_gradient": "a gradient",
    "hessian": "a Hessian",
    "value_and_subgradient": "a subgradient",
    "smooth_value_and_gradient": "the gradient of the smooth part",
    "nonsmooth_value": "the value of the penalty",
    "prox": "a proximal step",
    "optimality_gap": "an optimality gap",
    "majoriser": "a quadratic majoriser",
    "separable_quadratic": "a quadratic objective with separable terms",
    "multiplier_form": "a dual with one multiplier per row",
    "dual_rows": "a dual with one multiplier per row, and the rows in memory",
    "class_dual_rows": "a dual with one multiplier per row and class",
    "piecewise_linear": "an objective made of lines",
    "l1_least_squares": "least squares under |θ| and θ²",
    "task_least_squares": "least squares for several targets under the norms of rows",
    "n_terms": "a sum of terms",
    "sample_gradient": "gradients of single terms",
    "residuals": "residuals",
    "jacobian": "the Jacobian of the residuals",
    "partial_minimisers": "minimisers over parts of the parameters",
}


class MissingCapability(AttributeError):
    """Raised by a problem's attribute that its parts cannot give, so that ``hasattr`` is False.

    The message completes "<method> needs …": "a smooth penalty; L1 is not".
    """


@dataclass
class State:
    """Where a method stands: θ, F(θ), its gap, and whatever else the method carries along."""

    theta: Array
    value: float
    gap: float
    memory: dict[str, Any] = field(default_factory=dict)
    stalled: bool = False
    """True when the method can make no further step."""


class Method(Part, ABC):
    """A way to minimise: `start` once, `advance` until the loop says enough.

    Concrete methods are frozen dataclasses: parts like losses, named by ``solver="newton"``. They
    say what they need of a problem and how to step; counting, tolerance, time and interruption are
    the loop's. Cost: that of `advance`, per step.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> from thetahat.mathematics.optimizers.loop import State
    >>> class Halving(th.optimizers.Method):
    ...     name, needs = "halving", ("value",)
    ...     def start(self, problem, theta):
    ...         return State(theta, problem.value(theta), gap=float(np.abs(theta).max()))
    ...     def advance(self, problem, state):
    ...         return self.start(problem, state.theta / 2)
    >>> class Bowl:
    ...     def value(self, theta):
    ...         return float(theta @ theta)
    >>> th.minimise(Bowl(), Halving(), np.ones(2), tolerance=0.01).steps
    7
    """

    needs: ClassVar[tuple[str, ...]] = ("value_and_gradient",)
    """Attributes of `Objective` that the problem must have."""
    gap_kind: ClassVar[str] = "largest gradient entry"
    default_max_steps: ClassVar[int] = 1000
    reaches_optimum: ClassVar[bool] = True
    """False when it only comes near the optimum: the last that a refusal advises."""

    @abstractmethod
    def start(self, problem: Any, theta: Array) -> State:
        """The state before the first step."""

    @abstractmethod
    def advance(self, problem: Any, state: State) -> State:
        """The state after one more step; `state` itself is left as it was."""

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Advance until the monitor says enough. A library's own loop overrides this."""
        state = self.start(problem, theta)
        monitor.begin(state)
        while monitor.goes_on:
            state = self.advance(problem, state)
            monitor.observe(state)


class Monitor:
    """Counts steps, keeps the best parameters, and decides when a run ends."""

    def __init__(
        self, tolerance: float, max_steps: int, watch: Watch | None, keep_trace: bool
    ) -> None:
        self.tolerance, self.max_steps = tolerance, max_steps
        self.watch = watch if watch is not None else Watch()
        self.steps = 0
        self.best: State | None = None
        self._first = math.nan
        self.outcome: Outcome | None = None
        self.trace: list[float] | None = [] if keep_trace else None

    @property
    def goes_on(self) -> bool:
        return self.outcome is None

    @property
    def unobserved(self) -> bool:
        """Whether nobody asks after each step: no trace, no callback, no clock."""
        return self.trace is None and self.watch.is_idle

    def begin(self, state: State) -> None:
        """The starting point counts as a result, but not as a step."""
        self._judge(state)
        if self.outcome is None and self.max_steps <= 0:
            self.outcome = Outcome.STEPS_EXHAUSTED

    def observe(self, state: State) -> None:
        """Take note of a step; sets the outcome when the run is over."""
        self.steps += 1
        self._judge(state)
        verdict = self.watch(self.steps, state.theta, state.value)
        if self.outcome is not None:
            return
        if verdict is Verdict.OUT_OF_TIME:
            self.outcome = Outcome.OUT_OF_TIME
        elif verdict is Verdict.STOPPED:
            self.outcome = Outcome.INTERRUPTED
        elif self.steps >= self.max_steps:
            self.outcome = Outcome.STEPS_EXHAUSTED

    def _judge(self, state: State) -> None:
        if self.trace is not None:
            self.trace.append(state.value)
        if not math.isfinite(state.value):
            self.outcome = Outcome.DIVERGED
            if self.best is None:
                self.best = state
            return
        if self.best is None:
            self.best, self._first = state, state.value
        if state.value <= self.best.value:
            self.best = state
        if state.gap <= self.tolerance:
            if state.value <= self.best.value + self._slack(self.best.value):
                self.best, self.outcome = state, Outcome.CONVERGED
            else:  # stationary, but higher than where it has been: a plateau
                self.outcome = Outcome.STALLED
        elif state.stalled:
            self.outcome = Outcome.STALLED

    def _slack(self, best: float) -> float:
        """How much above the best value a converged one may lie: its own last digits."""
        return 1e-6 * abs(self._first - best) + 1e-12 * abs(best)


def minimise(
    problem: Any,
    method: Method,
    start: Array | None = None,
    *,
    tolerance: float = 1e-8,
    max_steps: int | None = None,
    watch: Watch | None = None,
    reason: str = "",
    keep_trace: bool = False,
) -> Solution:
    """Minimise `problem` with `method`; says how it stopped and how far it got.

    Formula: θ̂ ≈ argmin_θ F(θ), stopped when the method's gap ≤ tolerance. Cost: that of the
    method's step, times the steps taken. On Ctrl-C the solution so far travels on the exception as
    ``KeyboardInterrupt.solution``, so that an estimator can keep it before re-raising.

    Parameters
    ----------
    problem : object
        Anything with the methods that `method` needs (see `Objective`).
    method : Method
        How to step: ``th.optimizers.Newton()``, ...
    start : array, optional
        Where to begin; by default where ``problem.start()`` says.
    tolerance : float
        The gap at which the run has converged.
    max_steps : int, optional
        The most steps to take; by default the method's own limit.
    watch : Watch, optional
        Called after each step; ends the run for time or on a callback's word.
    reason : str
        Why this method, kept in the solution.
    keep_trace : bool
        Keep the objective at the start and after each step.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Bowl:
    ...     def value_and_gradient(self, theta):
    ...         return float(theta @ theta), 2 * theta
    >>> th.minimise(Bowl(), th.optimizers.GradientDescent(), np.ones(2)).outcome.success
    True
    """
    for need in method.needs:
        if not hasattr(problem, need):
            raise CapabilityError(_refusal(problem, method, need))
    steps = method.default_max_steps if max_steps is None else max_steps
    monitor = Monitor(tolerance, steps, watch, keep_trace)
    try:
        # A step that overflows is judged by the monitor; NumPy need not warn of it as well.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            method.run(problem, _starting_point(problem, start), monitor)
            best = monitor.best
            if monitor.outcome is Outcome.STALLED and best is not None:
                if is_stuck(problem, best.theta, best.value, best.gap, method.gap_kind):
                    monitor.outcome = Outcome.STUCK
    except KeyboardInterrupt as interrupt:
        if monitor.best is not None:
            monitor.outcome = Outcome.INTERRUPTED
            interrupt.solution = _solution(monitor, method, reason)  # type: ignore[attr-defined]
        raise
    return _solution(monitor, method, reason)


def _starting_point(problem: Any, start: Array | None) -> Array:
    if start is None:
        if not hasattr(problem, "start"):
            raise ParameterError(
                f"minimise: {_describe(problem)} has no start() to say where to begin. "
                "Pass start=..., for example zeros."
            )
        start = problem.start()
    if hasattr(start, "__array_namespace__") and not isinstance(start, np.ndarray):
        return start
    return np.asarray(start, dtype=np.float64)


def _refusal(problem: Any, method: Method, need: str) -> str:
    """What is missing, which part is at fault, and which methods would do."""
    try:
        getattr(problem, need)
    except MissingCapability as missing:
        lack = str(missing)
    except AttributeError:
        lack = f"{NEED_IN_WORDS.get(need, need)}; {_describe(problem)} has no {need!r}"
    able = [other for other in methods() if all(hasattr(problem, each) for each in other.needs)]
    able = [other for other in able if other.reaches_optimum] or able
    names = sorted(other.__name__ for other in able)
    return f"{type(method).__name__} needs {lack}. " + (
        f"Use {_listed(names)}." if names else "No method here can minimise it."
    )


def methods() -> Iterator[type[Method]]:
    """Every concrete method of this folder."""
    folder = import_module(__package__)
    for name in folder.__all__:
        getattr(folder, name)  # loads its file
    yield from _kinds_of(Method)  # type: ignore[type-abstract]


def _kinds_of(base: type[Method]) -> Iterator[type[Method]]:
    for kind in base.__subclasses__():
        yield from _kinds_of(kind)
        if hasattr(kind, "name") and kind.__module__.startswith(__package__):
            yield kind


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _describe(problem: Any) -> str:
    return str(getattr(problem, "description", type(problem).__name__))


def _solution(monitor: Monitor, method: Method, reason: str) -> Solution:
    best, outcome = monitor.best, monitor.outcome
    assert best is not None
    assert outcome is not None
    return Solution(
        theta=best.theta,
        outcome=outcome,
        solver=method.name,
        reason=reason,
        steps=monitor.steps,
        value=best.value,
        gap=best.gap,
        gap_kind=method.gap_kind,
        message=outcome.value,
        trace=tuple(monitor.trace or ()),
        multipliers=best.memory.get("multipliers"),
    )
