"""Gradient descent: θ ← θ − η ∇F(θ).

−∇F/‖∇F‖ is the direction of steepest descent; with one parameter it is the sign of −F′. With
``step="backtracking"`` the step size is chosen at every step: it is halved until F decreases
enough, and doubled for the next step if the first trial succeeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import euclidean_norm, inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.steps.line_search import Point, backtrack
from thetahat.mathematics.optimizers.steps.step_rules import StepRule, as_rule

NORMS = {
    "max": (Method.gap_kind, largest_entry),
    "l2": ("Euclidean norm of the gradient", euclidean_norm),
}
"""What a gap is called, and how it is computed from a gradient."""


def require_norm(method: Any) -> None:
    """Raise an error unless the method's `norm` is known."""
    if method.norm not in NORMS:
        raise ParameterError(
            f"{type(method).__name__}(norm={method.norm!r}): norm must be 'max' or 'l2'."
        )


@dataclass(frozen=True)
class GradientDescent(Method):
    """Gradient descent, θ ← θ − η ∇F(θ), with η by backtracking, constant, or from a step rule.

    Cost: one value and gradient per step (a few with backtracking), O(d) memory. The number of
    steps grows with the condition number of the Hessian.

    Parameters
    ----------
    step : "backtracking", float or StepRule, default="backtracking"
        How the step size is chosen: by a search at every step ("backtracking"), the constant η (a
        number), or by a rule such as ``InverseTime(1.0)``.
    normalised : bool, default=False
        Whether to move along the unit vector −∇F/‖∇F‖₂ instead of −∇F. A constant η is then the
        length of each step.
    norm : {"max", "l2"}, default="max"
        The norm of the gradient that is compared with the tolerance: its largest entry ‖∇F‖∞, as in
        all other methods, or its length ‖∇F‖₂. The length can be √d times the largest entry, so
        "l2" stops later if there are many parameters.

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
    norm: str = "max"

    name = "gradient_descent"
    aliases = ("gd",)
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        if isinstance(self.step, str) and self.step != "backtracking":
            raise ParameterError(
                f"GradientDescent(step={self.step!r}): step must be 'backtracking', a number or a "
                "step rule such as InverseTime(1.0)."
            )
        require_norm(self)
        self._rule()

    @property
    def gap_kind(self) -> str:  # type: ignore[override]
        """What is compared with the tolerance."""
        return NORMS[self.norm][0]

    def start(self, problem: Any, theta: Array) -> State:
        here, rule = Point.at(problem, theta), self._rule()
        memory = {"step": 1.0} if rule is None else {"t": 0, "rule": rule.start(theta)}
        return self._state(here, memory)

    def advance(self, problem: Any, state: State) -> State:
        here, rule = state.memory["point"], self._rule()
        uphill = self._uphill(here.gradient)
        if rule is not None:
            t = state.memory["t"] + 1
            move, rule_memory = rule.move(t, uphill, state.memory["rule"])
            there = Point.at(problem, here.theta + move)
            return self._state(there, {"t": t, "rule": rule_memory})
        tried = state.memory["step"]
        found = backtrack(problem, here, -uphill, tried)
        if found is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        there, step = found
        return self._state(there, {"step": 2 * step if step == tried else step})

    def _rule(self) -> StepRule | None:
        """The rule that turns gradients into moves; None for backtracking."""
        return None if isinstance(self.step, str) else as_rule(self.step)

    def _uphill(self, gradient: Array) -> Array:
        return gradient / math.sqrt(inner(gradient, gradient)) if self.normalised else gradient

    def _state(self, point: Point, memory: dict[str, Any]) -> State:
        gap = NORMS[self.norm][1](point.gradient)
        return State(point.theta, point.value, gap, {"point": point, **memory})
