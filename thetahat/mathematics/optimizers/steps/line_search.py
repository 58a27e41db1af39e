"""Backtracking line search: halve the step until F decreases by a share of the predicted decrease.

Armijo's rule, F(θ + t p) ≤ F(θ) + c·t·⟨∇F, p⟩, cannot be tested when the predicted change is below
the rounding error of F. Then a step is accepted if it decreases the gradient and does not increase
F by more than rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from thetahat.foundation.precision import ROUNDING
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry

SHARE = 1e-4
"""Share of the predicted decrease that a step must reach (c)."""
MOST_HALVINGS = 60


@dataclass(frozen=True)
class Point:
    """θ with F(θ) and ∇F(θ)."""

    theta: Array
    value: float
    gradient: Array

    @classmethod
    def at(cls, problem: Any, theta: Array) -> Point:
        """Evaluate the problem at θ."""
        return cls(theta, *problem.value_and_gradient(theta))


def backtrack(
    problem: Any, here: Point, direction: Array, step: float
) -> tuple[Point, float] | None:
    """The first acceptable of the points θ + step·p, θ + step·p/2, …, and its step; else None."""
    slope = inner(here.gradient, direction)
    if not slope < 0:
        return None
    for _ in range(MOST_HALVINGS):
        there = Point.at(problem, here.theta + step * direction)
        if _is_fair(here, there, step * slope):
            return there, step
        step /= 2
    return None


def _is_fair(here: Point, there: Point, promised: float) -> bool:
    if not math.isfinite(there.value):
        return False
    if there.value <= here.value + SHARE * promised and there.value < here.value:
        return True
    rounding = ROUNDING * abs(here.value)
    return (
        abs(promised) <= rounding
        and there.value <= here.value + rounding
        and largest_entry(there.gradient) < largest_entry(here.gradient)
    )
