"""Whether a run that finds no lower point is limited by rounding or has failed.

A gap above the tolerance is not conclusive: if F is 10¹², a gradient of 10⁻³ is rounding error. So
the possible decrease of F is estimated from the gap. A duality gap has the unit of F and is
compared with F. A gradient allows a decrease of at most ‖∇F‖ per unit of length, so plain gradient
steps (proximal steps, if F has kinks) are tried as long as they could lower F by more than its
rounding error. If one of them succeeds, the run was stuck.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thetahat.foundation.types import Array

LOWER = 1e-8
"""A decrease by more than this share of F is not rounding error."""
WIDE = 1e-4
"""A duality gap of more than this share of F is not rounding error."""
SHORTER = 0.1
"""Ratio of the length of each trial step to the previous one."""


def is_stuck(problem: Any, theta: Array, value: float, gap: float, gap_kind: str) -> bool:
    """Whether F can certainly be lowered from θ. Cost: at most some dozen values of F."""
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
