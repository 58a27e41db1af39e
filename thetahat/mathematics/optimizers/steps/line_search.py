"""Backtracking: halve the step until it lowers F by a fair share of what the slope promises.

Armijo's rule, F(θ + t p) ≤ F(θ) + c·t·⟨∇F, p⟩, cannot be tested once the promised change is below
the rounding of F itself. There a step is fair when it lowers the gradient and keeps F to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry

SHARE = 1e-4
"""c: the share of the promised decrease that is enough."""
MOST_HALVINGS = 60
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


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
    """The first fair point among θ + step·p, θ + step·p/2, …, and its step; None if none is."""
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
    rounding = _ROUNDING * abs(here.value)
    return (
        abs(promised) <= rounding
        and there.value <= here.value + rounding
        and largest_entry(there.gradient) < largest_entry(here.gradient)
    )
