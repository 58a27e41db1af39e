"""The optimality gap: one measure for all methods, so that a tolerance has one meaning.

For a smooth F the gap is ‖∇F(θ)‖∞, the largest gradient entry; ‖∇F‖₂ is at most √d times that. For
F = S + R with a proximable R it is the distance from −∇S(θ) to ∂R(θ), which the problem computes.
If F has other kinks, the gap is unknown and counts as infinite.
"""

from __future__ import annotations

import math
from typing import Any

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array


def largest_entry(gradient: Array) -> float:
    """‖gradient‖∞; 0 for an empty gradient."""
    xp = namespace(gradient)
    return float(xp.max(xp.abs(gradient))) if math.prod(gradient.shape) else 0.0


def euclidean_norm(gradient: Array) -> float:
    """‖gradient‖₂, without overflow of its squares."""
    largest = largest_entry(gradient)
    if not 0 < largest < math.inf:
        return largest
    scaled = gradient / largest
    return largest * math.sqrt(inner(scaled, scaled))


def inner(left: Array, right: Array) -> float:
    """The inner product ⟨left, right⟩ of two arrays of the same shape."""
    return float(namespace(left).sum(left * right))


def value_and_gap(problem: Any, theta: Array) -> tuple[float, float]:
    """F(θ) and its gap, by the most accurate measure that the problem provides."""
    if hasattr(problem, "value_and_gradient"):
        value, gradient = problem.value_and_gradient(theta)
        return value, largest_entry(gradient)
    return problem.value(theta), math.inf
