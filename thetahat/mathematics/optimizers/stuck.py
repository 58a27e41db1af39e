"""Is a run that finds no lower point at the limit of rounding, or has it lost its way?

A gap above the tolerance says little by itself: where F is 10¹², its gradient is rounding at 10⁻³.
So the gap is asked what it promises. A duality gap is in the unit of F, and counts as a share of
it. A gradient promises at most ‖∇F‖ for each unit of length, so plain steps against it (proximal
ones, where F has kinks) are tried while they could lower F by more than its rounding: one that does
proves that the run was stuck.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thetahat.foundation.types import Array

LOWER = 1e-8
"""Of F: a fall by this share of it is no rounding."""
WIDE = 1e-4
"""Of F: a duality gap of this share of it is no rounding."""
SHORTER = 0.1
"""How much shorter each trial is than the one before."""


def is_stuck(problem: Any, theta: Array, value: float, gap: float, gap_kind: str) -> bool:
    """Whether F can surely be lowered from θ. Cost: none or some dozen values of F."""
    if not math.isfinite(value):
        return False
    if gap_kind == "duality gap":
        return gap > WIDE * abs(value)
    if type(theta) is not np.ndarray:
        return False
    if hasattr(problem, "value_and_gradient"):
        slope = problem.value_and_gradient(theta)[1]
    elif hasattr(problem, "smooth_value_and_gradient") and hasattr(problem, "prox"):
        slope = problem.smooth_value_and_gradient(theta)[1]
    else:
        return False
    largest = float(np.abs(slope).max(initial=0.0))
    steepness = largest * float(np.linalg.norm(slope / largest)) if largest > 0 else 0.0
    if not 0 < steepness < math.inf:
        return False
    fall = max(LOWER * abs(value), float(np.finfo(np.float64).tiny))
    length = max(1.0, float(np.linalg.norm(theta)))
    while steepness * length > fall:
        if _value_after(problem, theta, slope, length / steepness) < value - fall:
            return True
        length *= SHORTER
    return False


def _value_after(problem: Any, theta: Array, slope: Array, step: float) -> float:
    if hasattr(problem, "value_and_gradient"):
        return float(problem.value_and_gradient(theta - step * slope)[0])
    return float(problem.value(problem.prox(theta - step * slope, step)))
