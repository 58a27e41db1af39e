"""Gradient descent that adds past moves: the base class of momentum and Nesterov's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent, require_norm
from thetahat.mathematics.optimizers.steps.step_rules import HeavyBall, LookAhead
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class MomentumDescent(Method):
    """Gradient descent with a step rule that keeps a memory; subclasses name the rule."""

    alpha: float = number(0.9, at_least=0, below=1)
    eta: float = number(0.1, above=0)
    norm: str = "max"

    rule: ClassVar[type[HeavyBall] | type[LookAhead]]
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        require_norm(self)

    @property
    def gap_kind(self) -> str:  # type: ignore[override]
        """What is compared with the tolerance."""
        return self._descent.gap_kind

    def start(self, problem: Any, theta: Array) -> State:
        return self._descent.start(problem, theta)

    def advance(self, problem: Any, state: State) -> State:
        return self._descent.advance(problem, state)

    @property
    def _descent(self) -> GradientDescent:
        return GradientDescent(step=self.rule(self.alpha, self.eta), norm=self.norm)
