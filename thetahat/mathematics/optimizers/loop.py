"""The one loop. It owns counting, tolerance, time, interruption and failure; a method says how to
start and how to step.

A problem is any object with the methods that the solver needs; `Objective` lists them. A method
names its needs, and `minimise` refuses with a way out before the first step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution

Array = Any


class Objective(Protocol):
    """What a problem may offer; each method asks only for what it `needs`.

    The objective is F(θ) = smooth(θ) + R(θ). ``value`` is all of F. ``gradient`` and ``hessian`` are of
    all of F and exist only when F is smooth; ``smooth_gradient`` is without the proximable R.
    """

    def value(self, theta: Array) -> float: ...

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]: ...

    def hessian(self, theta: Array) -> Array: ...

    def smooth_value_and_gradient(self, theta: Array) -> tuple[float, Array]: ...

    def prox(self, theta: Array, step: float) -> Array: ...

    def optimality_gap(self, theta: Array, smooth_gradient: Array) -> float: ...

    n_terms: int

    def sample_gradient(self, theta: Array, rows: Array) -> Array: ...

    def residuals(self, theta: Array) -> Array: ...

    def jacobian(self, theta: Array) -> Array: ...


@dataclass
class State:
    """Where a method stands: θ, F(θ), its gap, and whatever else the method carries along."""

    theta: Array
    value: float
    gap: float
    memory: dict[str, Any] = field(default_factory=dict)
    stalled: bool = False
    """True when the method can make no further step."""


class Method(ABC):
    """A way to minimise: `start` once, `step` until the loop says enough."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("value_and_gradient",)
    """Methods of `Objective` that the problem must have."""
    way_out: ClassVar[str] = ""
    """What to use when the problem lacks them."""
    gap_kind: ClassVar[str] = "largest gradient entry"
    default_max_steps: ClassVar[int] = 1000

    @abstractmethod
    def start(self, problem: Any, theta: Array) -> State:
        """The state before the first step."""

    @abstractmethod
    def step(self, problem: Any, state: State) -> State:
        """The state after one more step; never worse-defined than the one before."""

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Step until the monitor says enough. A library's own loop overrides this."""
        state = self.start(problem, theta)
        monitor.begin(state)
        while monitor.goes_on:
            state = self.step(problem, state)
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
        self.outcome: Outcome | None = None
        self.trace: list[float] | None = [] if keep_trace else None

    @property
    def goes_on(self) -> bool:
        return self.outcome is None

    def begin(self, state: State) -> None:
        """The starting point counts as a result, but not as a step."""
        self._judge(state)
        if self.outcome is None and self.max_steps <= 0:
            self.outcome = Outcome.STEPS_EXHAUSTED

    def observe(self, state: State) -> None:
        """Take note of a step; sets the outcome when the run is over."""
        self.steps += 1
        self._judge(state)
        if self.outcome is not None:
            return
        verdict = self.watch(self.steps, state.theta, state.value)
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
        if self.best is None or state.value <= self.best.value:
            self.best = state
        if state.gap <= self.tolerance:
            self.best, self.outcome = state, Outcome.CONVERGED
        elif state.stalled:
            self.outcome = Outcome.STALLED


def minimise(
    problem: Any,
    method: Method,
    start: Array,
    *,
    tolerance: float = 1e-8,
    max_steps: int | None = None,
    watch: Watch | None = None,
    reason: str = "",
    keep_trace: bool = False,
) -> Solution:
    """Minimise `problem` from `start` with `method`; says how it stopped and how far it got.

    Formula: θ̂ ≈ argmin_θ F(θ), stopped when the method's gap ≤ tolerance. Cost: that of the
    method's step, times the steps taken. On Ctrl-C the solution so far travels on the exception as
    ``KeyboardInterrupt.solution``, so that an estimator can keep it before re-raising.

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
            raise CapabilityError(
                f"{type(method).__name__} needs {need.replace('_', ' ')}, which "
                f"{getattr(problem, 'description', type(problem).__name__)} does not have."
                + (f" {method.way_out}" if method.way_out else "")
            )
    steps = method.default_max_steps if max_steps is None else max_steps
    monitor = Monitor(tolerance, steps, watch, keep_trace)
    try:
        method.run(problem, start, monitor)
    except KeyboardInterrupt as interrupt:
        if monitor.best is not None:
            monitor.outcome = Outcome.INTERRUPTED
            interrupt.solution = _solution(monitor, method, reason)  # type: ignore[attr-defined]
        raise
    return _solution(monitor, method, reason)


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
    )
