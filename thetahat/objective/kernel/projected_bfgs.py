"""Quasi-Newton steps within bounds, which begin with the curvature of a smaller problem.

Each likelihood of a Gaussian process costs O(n³), and most iterations of L-BFGS only learn how the
hyper-parameters depend on each other. A fit to some of the rows learns this at little cost: its
optimum is the start, and its Hessian the first B. Variables at a bound that the gradient pushes
outwards are held; the others take the step −B⁻¹∇F, clipped to the bounds and shortened until F
decreases. B is then corrected by the change of the gradient (BFGS with Powell's damping).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, State

DIFFERENCE = 1e-4
"""Distance of the gradients from whose difference curvature is computed."""
LEAST_CURVATURE = 1e-3
"""Smaller curvatures, as a share of the largest one, are raised to it: steps stay bounded."""
LONGEST = 2.0
"""Largest change of a logarithm in one step."""
DECREASE = 1e-4
"""Share of the predicted decrease that a step must reach."""
NEARBY = 1e-9
"""Differences of F below this share of |F| are computed from the gradients, more accurately."""


def curvature(problem: Any, theta: Array) -> Array:
    """The Hessian from differences of gradients, made positive definite. Cost: 2p gradients."""
    rows = []
    for move in DIFFERENCE * np.eye(len(theta)):
        above, below = (problem.value_and_gradient(theta + sign * move)[1] for sign in (1, -1))
        rows.append((above - below) / (2 * DIFFERENCE))
    H = np.array(rows)
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    sizes = np.abs(values)
    sizes = np.maximum(sizes, LEAST_CURVATURE * float(sizes.max()))
    found: Array = (vectors * sizes) @ vectors.T
    return found


@dataclass(frozen=True)
class ProjectedBFGS(Method):
    """BFGS within bounds from a given Hessian. Cost: about one value and gradient per step."""

    hessian: Any = field(default=None, repr=False, compare=False)

    name = "projected_bfgs"

    def start(self, problem: Any, theta: Array) -> State:
        value, gradient = problem.value_and_gradient(theta)
        return _state(problem, theta, value, gradient, self.hessian)

    def advance(self, problem: Any, state: State) -> State:
        theta, gradient, B = state.theta, state.memory["gradient"], state.memory["hessian"]
        low, high = problem.bounds.T
        free = ~_held(problem, theta, gradient)
        step = np.zeros(len(theta))
        step[free] = -np.linalg.solve(B[np.ix_(free, free)], gradient[free])
        step *= min(1.0, LONGEST / max(largest_entry(step), 1e-300))
        for _ in range(20):
            place = np.clip(theta + step, low, high)
            move = place - theta
            value, slope = problem.value_and_gradient(place)
            fall = value - state.value
            if abs(fall) < NEARBY * abs(state.value):
                fall = inner(gradient + slope, move) / 2
            if np.isfinite(slope).all() and fall <= DECREASE * inner(gradient, move):
                corrected = _corrected(B, move, slope - gradient)
                return _state(problem, place, value, slope, corrected)
            step = step / 3
        return State(theta, state.value, state.gap, state.memory, stalled=True)


def _state(problem: Any, theta: Array, value: float, gradient: Array, B: Array) -> State:
    gap = largest_entry(np.where(_held(problem, theta, gradient), 0.0, gradient))
    return State(theta, value, gap, {"gradient": gradient, "hessian": B})


def _held(problem: Any, theta: Array, gradient: Array) -> Array:
    """Which variables are at a bound beyond which F would decrease."""
    low, high = problem.bounds.T
    return ((theta <= low) & (gradient > 0)) | ((theta >= high) & (gradient < 0))


def _corrected(B: Array, move: Array, change: Array) -> Array:
    """B with the curvature change/move along the move, damped so that it stays positive."""
    image = B @ move
    own, found = inner(move, image), inner(move, change)
    if not own > 0:
        return B
    if found < 0.2 * own:
        share = 0.8 * own / (own - found)
        change = share * change + (1 - share) * image
        found = inner(move, change)
    corrected: Array = B - np.outer(image, image) / own + np.outer(change, change) / found
    return corrected
