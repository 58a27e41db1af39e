"""Combine several solutions of one model into one, with the worst outcome among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thetahat.mathematics.optimizers.solution import Outcome, Solution

_WORST_LAST = (
    Outcome.EXACT,
    Outcome.CONVERGED,
    Outcome.STALLED,
    Outcome.STUCK,
    Outcome.STEPS_EXHAUSTED,
    Outcome.OUT_OF_TIME,
    Outcome.INTERRUPTED,
    Outcome.DIVERGED,
)


def joined(solutions: Sequence[Solution]) -> Solution:
    """θ stacked, the worst outcome, the most steps, the sum of the values and the largest gap."""
    worst = max(solutions, key=lambda solution: _WORST_LAST.index(solution.outcome))
    if len(solutions) == 1:
        return worst
    return replace(
        worst,
        theta=np.stack([solution.theta for solution in solutions]),
        steps=max(solution.steps for solution in solutions),
        value=sum(solution.value for solution in solutions),
        gap=max(solution.gap for solution in solutions),
        multipliers=None,
    )
