"""Gradient descent: θ ← θ − η ∇F(θ).

−∇F/‖∇F‖ is the direction in which F falls fastest; on a line it is just the sign of −F′. With
``step="backtracking"`` the step size is found anew at every step: doubled after a success at first
try, halved until F falls enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.steps.line_search import Point, backtrack
from thetahat.mathematics.optimizers.steps.step_rules import StepRule, as_rule


@dataclass(frozen=True)
class GradientDescent(Method):
    """θ ← θ − η ∇F(θ), with η found by backtracking, constant, or from a step rule.

    Cost: one value and gradient per step (a few with backtracking), O(d) memory. The number of
    steps grows with the condition number of the Hessian.

    Parameters
    ----------
    step : "backtracking", float or StepRule
        How far to go: found at every step, η itself, or a rule such as ``InverseTime(1.0)``.
    normalised : bool
        Go along the unit vector −∇F/‖∇F‖₂ instead of −∇F: a constant η is then a length.

    Examples
    --------
    >>> import thetahat as th
    >>> class Parabola:
    ...     def value_and_gradient(self, x):
    ...         return float((x - 3.0) ** 2), 2.0 * (x - 3.0)
    >>> solution = th.minimise(Parabola(), th.optimizers.GradientDescent(step=0.25), 0.0)
    >>> round(float(solution.theta), 6)
    3.0
    """

    step: str | float | StepRule = "backtracking"
    normalised: bool = False

    name = "gradient_descent"
    aliases = ("gd",)
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        if isinstance(self.step, str) and self.step != "backtracking":
            raise ParameterError(
                f"GradientDescent(step={self.step!r}): step must be 'backtracking', a number or a "
                "step rule such as InverseTime(1.0)."
            )
        self._rule()

    def start(self, problem: Any, theta: Array) -> State:
        here, rule = Point.at(problem, theta), self._rule()
        memory = {"step": 1.0} if rule is None else {"t": 0, "rule": rule.start(theta)}
        return _state(here, memory)

    def advance(self, problem: Any, state: State) -> State:
        here, rule = state.memory["point"], self._rule()
        uphill = self._uphill(here.gradient)
        if rule is not None:
            t = state.memory["t"] + 1
            move, rule_memory = rule.move(t, uphill, state.memory["rule"])
            return _state(Point.at(problem, here.theta + move), {"t": t, "rule": rule_memory})
        tried = state.memory["step"]
        found = backtrack(problem, here, -uphill, tried)
        if found is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        there, step = found
        return _state(there, {"step": 2 * step if step == tried else step})

    def _rule(self) -> StepRule | None:
        """What turns gradients into moves; None for backtracking."""
        return None if isinstance(self.step, str) else as_rule(self.step)

    def _uphill(self, gradient: Array) -> Array:
        return gradient / math.sqrt(inner(gradient, gradient)) if self.normalised else gradient


def _state(point: Point, memory: dict[str, Any]) -> State:
    return State(
        point.theta, point.value, largest_entry(point.gradient), {"point": point, **memory}
    )
