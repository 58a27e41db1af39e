"""Gradient descent that carries past moves along: what momentum and Nesterov's method share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent
from thetahat.mathematics.optimizers.steps.step_rules import HeavyBall, LookAhead
from thetahat.mathematics.parts import require_number


@dataclass(frozen=True)
class MomentumDescent(Method):
    """Gradient descent whose moves follow a rule with a memory; concrete methods name the rule."""

    alpha: float = 0.9
    eta: float = 0.1

    rule: ClassVar[type[HeavyBall] | type[LookAhead]]
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0, below=1)
        require_number(self, "eta", above=0)

    def start(self, problem: Any, theta: Array) -> State:
        return self._descent.start(problem, theta)

    def advance(self, problem: Any, state: State) -> State:
        return self._descent.advance(problem, state)

    @property
    def _descent(self) -> GradientDescent:
        return GradientDescent(step=self.rule(self.alpha, self.eta))
