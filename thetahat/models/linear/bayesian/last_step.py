"""The report of a fixed point whose last step is made after the run of the solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome, Solution


def with_last_step(
    solution: Solution,
    theta: Array,
    value: float,
    coefficients: tuple[Array, Array],
    tolerance: float,
) -> Solution:
    """The solution after one more step, which counts and whose change of the coefficients is known.

    `coefficients` are those before and after the step.
    """
    before, after = coefficients
    outcome, change = solution.outcome, float(np.abs(after - before).sum())
    if outcome is Outcome.STEPS_EXHAUSTED and change <= tolerance:
        outcome = Outcome.CONVERGED
    return replace(
        solution,
        theta=theta,
        value=value,
        gap=change,
        steps=solution.steps + 1,
        outcome=outcome,
        message=outcome.value,
    )
