"""How far from optimal: one measure for every method, so that a tolerance means one thing.

For a smooth F the gap is ‖∇F(θ)‖∞, the largest gradient entry; ‖∇F‖₂ is at most √d times that. For
F = S + R with a proximable R it is the problem's own distance from −∇S(θ) to ∂R(θ). Where F has
kinks that neither describes, the gap is unknown and counts as infinite.
"""

from __future__ import annotations

import math
from typing import Any

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array


def largest_entry(gradient: Array) -> float:
    """‖gradient‖∞; 0 for an empty one."""
    xp = namespace(gradient)
    return float(xp.max(xp.abs(gradient))) if math.prod(gradient.shape) else 0.0


def inner(left: Array, right: Array) -> float:
    """⟨left, right⟩, whatever their common shape."""
    return float(namespace(left).sum(left * right))


def value_and_gap(problem: Any, theta: Array) -> tuple[float, float]:
    """F(θ) and its gap, by the best means the problem has."""
    if hasattr(problem, "value_and_gradient"):
        value, gradient = problem.value_and_gradient(theta)
        return value, largest_entry(gradient)
    return problem.value(theta), math.inf
