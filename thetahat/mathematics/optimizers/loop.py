"""The loop that all methods share: counting, tolerance, time limit, interruption and failure.

A method defines only how to start and how to advance. A problem is any object with the methods that
the solver needs; `Objective` lists them. `minimise` checks that the problem has them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.precision import ROUNDING
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.problem import NEED_IN_WORDS, MissingCapability
from thetahat.mathematics.optimizers.resumable import begin_run, end_run
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.stuck import is_stuck
from thetahat.mathematics.parts import Part

FALLEN = 1e-8
"""A gap of the size of rounding errors in F is one if it is at most this share of the gap at the
start, which has the same units."""


class UnmetNeed(CapabilityError):
    """The problem lacks what the method needs."""


@dataclass
class State:
    """The current θ, F(θ), its gap, and other values that the method keeps between steps."""

    theta: Array
    value: float
    gap: float
    memory: dict[str, Any] = field(default_factory=dict)
    stalled: bool = False
    """True if the method cannot make another step."""
    settled: bool = True
    """False while further steps would change θ by more than it may, however small the gap."""


class Method(Part, ABC):
    """Base class of optimisation methods: `start` once, then `advance` until the loop stops.

    Concrete methods are frozen dataclasses and can be selected by name, as in ``solver="newton"``.
    They declare what they need from a problem and compute one step. Counting, tolerance, time
    limit and interruption belong to `minimise`. Cost: that of one `advance` per step.

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
    """The attributes of `Objective` that the problem must have."""
    gap_kind: ClassVar[str] = "largest gradient entry"
    default_max_steps: ClassVar[int] = 1000
    reaches_optimum: ClassVar[bool] = True
    """False if the method only approaches the optimum; error messages suggest such methods last."""

    @abstractmethod
    def start(self, problem: Any, theta: Array) -> State:
        """Return the state before the first step."""

    @abstractmethod
    def advance(self, problem: Any, state: State) -> State:
        """Return the state after one more step; `state` is not changed."""

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Advance until the monitor stops the run; methods with their own loop override this."""
        state = self.start(problem, theta)
        monitor.begin(state)
        while monitor.goes_on:
            state = self.advance(problem, state)
            monitor.observe(state)


class Monitor:
    """Counts steps, keeps the best parameters, and decides when a run ends."""

    def __init__(
        self,
        tolerance: float,
        max_steps: int,
        watch: Watch | None,
        keep_trace: bool,
        gap_bounds_value: bool = False,
    ) -> None:
        self.tolerance, self.max_steps = tolerance, max_steps
        self.gap_bounds_value = gap_bounds_value
        self.watch = watch if watch is not None else Watch()
        self.steps = 0
        self.best: State | None = None
        self._first = self._first_gap = math.nan
        self.outcome: Outcome | None = None
        self.trace: list[float] | None = [] if keep_trace else None
        self.solution: Solution | None = None

    @property
    def goes_on(self) -> bool:
        return self.outcome is None

    @property
    def unobserved(self) -> bool:
        """Whether single steps need not be reported: no trace, no callback, no time limit."""
        return self.trace is None and self.watch.is_idle

    def take(self, solution: Solution) -> None:
        """Record the solution of a method without steps."""
        self.solution, self.outcome, self.steps = solution, solution.outcome, solution.steps

    def begin(self, state: State) -> None:
        """Record the starting point. It counts as a result, but not as a step."""
        self._judge(state)
        if self.outcome is None and self.steps >= self.max_steps:
            self.outcome = Outcome.STEPS_EXHAUSTED

    def observe(self, state: State) -> None:
        """Record a step; sets the outcome when the run is over."""
        self.steps += 1
        self._judge(state)
        verdict = self.watch(self.steps, state.theta, state.value)
        if self.outcome is not None:
            return
        if state.gap <= self.tolerance and self.steps >= self.max_steps:
            self.outcome = Outcome.CONVERGED
        elif verdict is Verdict.OUT_OF_TIME:
            self.outcome = Outcome.OUT_OF_TIME
        elif verdict is Verdict.STOPPED:
            self.outcome = Outcome.INTERRUPTED
        elif self.steps >= self.max_steps:
            self.outcome = Outcome.STALLED if self._is_rounding(state) else Outcome.STEPS_EXHAUSTED

    def _is_rounding(self, state: State) -> bool:
        """Whether a gap fell so far that it consists of rounding errors; it is 0 at best then."""
        return (
            state is self.best
            and state.gap <= ROUNDING * abs(state.value)
            and state.gap <= FALLEN * self._first_gap
        )

    def _judge(self, state: State) -> None:
        if self.trace is not None:
            self.trace.append(state.value)
        if not math.isfinite(state.value):
            self.outcome = Outcome.DIVERGED
            if self.best is None:
                self.best = state
            return
        if self.best is None:
            self.best, self._first, self._first_gap = state, state.value, state.gap
        if state.value <= self.best.value:
            self.best = state
        if state.gap <= self.tolerance and (state.settled or state.stalled):
            best = self.best.value
            slack = 1e-6 * abs(self._first - best) + 1e-12 * abs(best)  # for rounding
            if self.gap_bounds_value or state.value <= best + slack:
                self.best, self.outcome = state, Outcome.CONVERGED
            else:  # stationary, but higher than an earlier point: a plateau
                self.outcome = Outcome.STALLED
        elif state.stalled:
            self.outcome = Outcome.STALLED


def run(
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
    """Run a method, as `minimise` does, which describes the parameters.

    A method that is fixed in the code of this package is called so, because `minimise` lies above
    all methods: it names those that a problem can use instead.
    """
    for need in method.needs:
        if not hasattr(problem, need):
            raise UnmetNeed(f"{type(method).__name__} needs {_lack(problem, need)}.")
    steps = method.default_max_steps if max_steps is None else max_steps
    run, token = begin_run(f"{_describe(problem)} by {method.name}")
    monitor = Monitor(tolerance, steps, watch, keep_trace, method.gap_kind == "duality gap")
    try:
        if run is not None:
            start = run.start(_starting_point(problem, start))
            monitor.steps = run.steps
            if monitor.trace is not None:
                monitor.trace += run.trace
            monitor.watch = run.watching(monitor.watch, start, monitor.trace)
        # The monitor detects steps that overflow, so NumPy's warnings are not needed.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            method.run(problem, _starting_point(problem, start), monitor)
            best = monitor.best
            if monitor.outcome is Outcome.STALLED and best is not None:
                if is_stuck(problem, best.theta, best.value, best.gap, method.gap_kind):
                    monitor.outcome = Outcome.STUCK
            if monitor.outcome is Outcome.CONVERGED and not getattr(problem, "convex", True):
                monitor.outcome = Outcome.LOCAL
    except KeyboardInterrupt as interrupt:
        if monitor.best is not None:
            monitor.outcome = Outcome.INTERRUPTED
            interrupt.solution = _solution(monitor, method, reason)  # type: ignore[attr-defined]
        raise
    finally:
        end_run(token)
    return _solution(monitor, method, reason)


def _starting_point(problem: Any, start: Array | None) -> Array:
    if start is None:
        if not hasattr(problem, "start"):
            raise ParameterError(
                f"minimise: {_describe(problem)} has no start() that returns a starting point. "
                "Pass start=..., for example zeros."
            )
        start = problem.start()
    if hasattr(start, "__array_namespace__") and not isinstance(start, np.ndarray):
        return start
    return np.asarray(start, dtype=np.float64)


def _lack(problem: Any, need: str) -> str:
    """What is missing, and the part that lacks it."""
    try:
        getattr(problem, need)
    except MissingCapability as missing:
        return str(missing)
    except AttributeError:
        pass
    return f"{NEED_IN_WORDS.get(need, need)}; {_describe(problem)} has no {need!r}"


def _describe(problem: Any) -> str:
    return str(getattr(problem, "description", type(problem).__name__))


def _solution(monitor: Monitor, method: Method, reason: str) -> Solution:
    if monitor.solution is not None:
        return monitor.solution
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
