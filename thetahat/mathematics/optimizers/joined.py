"""Combine several solutions of one model into one, with the worst outcome among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from thetahat.mathematics.optimizers.solution import Outcome, Solution

_WORST_LAST = (
    Outcome.EXACT,
    Outcome.CONVERGED,
    Outcome.LOCAL,
    Outcome.STALLED,
    Outcome.STUCK,
    Outcome.STEPS_EXHAUSTED,
    Outcome.OUT_OF_TIME,
    Outcome.INTERRUPTED,
    Outcome.DIVERGED,
)


class Ended(Protocol):
    """How a solver stopped, and the distance from the optimum."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def gap(self) -> float: ...


End = TypeVar("End", bound=Ended)


def worst(solutions: Sequence[End]) -> End:
    """The solution of the worst outcome, and of the largest gap among several of them."""
    return max(solutions, key=lambda one: (_WORST_LAST.index(one.outcome), one.gap))


def joined(solutions: Sequence[Solution]) -> Solution:
    """θ stacked, the worst outcome, the most steps, the sum of the values and the largest gap."""
    if len(solutions) == 1:
        return solutions[0]
    return replace(
        worst(solutions),
        theta=np.stack([solution.theta for solution in solutions]),
        steps=max(solution.steps for solution in solutions),
        value=sum(solution.value for solution in solutions),
        gap=max(solution.gap for solution in solutions),
        multipliers=None,
    )
