"""Proximal gradient with acceleration (FISTA), for F = S + R with a smooth S and a proximable R.

Each step is a gradient step on S and the proximal operator of R, from an extrapolated point:

    θ⁺ = prox(v − ∇S(v)/L, 1/L),    v⁺ = θ⁺ + β_t (θ⁺ − θ).

L is found by backtracking on S(θ⁺) ≤ S(v) + ⟨∇S(v), θ⁺ − v⟩ + L/2·‖θ⁺ − v‖² and decreased slightly
at every step. When the extrapolation points uphill, the momentum is reset to zero. This makes the
method fast on strongly convex problems, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner
from thetahat.mathematics.optimizers.loop import Method, State

GROWTH = 2.0
"""Factor by which L grows when a step was too long."""
RELIEF = 0.9
"""Factor by which L shrinks at the start of a step, so that it follows the local curvature."""
BLUNT = 1e-10
"""Differences of S below this share of |S| are mostly rounding errors."""
MOST_TRIALS = 200


@dataclass(frozen=True)
class ProximalGradient(Method):
    """Accelerated proximal gradient (FISTA): θ⁺ = prox(v − ∇S(v)/L, 1/L) from an extrapolated v.

    The step size 1/L is found by backtracking, and the momentum is restarted when it points uphill.
    Cost: two values and gradients of S per step (a few more while L is searched), O(d) memory. The
    error is O(1/t²), and convergence is linear if F is strongly convex.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class SoftThreshold:
    ...     target = np.array([3.0, 0.2])
    ...     def smooth_value_and_gradient(self, theta):
    ...         error = theta - self.target
    ...         return float(error @ error) / 2, error
    ...     def nonsmooth_value(self, theta):
    ...         return float(np.abs(theta).sum())
    ...     def prox(self, theta, step):
    ...         return np.sign(theta) * np.maximum(np.abs(theta) - step, 0.0)
    ...     def optimality_gap(self, theta, gradient):
    ...         inside = np.maximum(np.abs(gradient) - 1.0, 0.0)
    ...         return float(np.where(theta == 0, inside, np.abs(gradient + np.sign(theta))).max())
    >>> th.minimise(SoftThreshold(), th.optimizers.ProximalGradient(), np.zeros(2)).theta.round(6)
    array([2., 0.])
    """

    name = "proximal_gradient"
    aliases = ("fista",)
    needs = ("smooth_value_and_gradient", "nonsmooth_value", "prox", "optimality_gap")
    gap_kind = "distance from −∇S to the subdifferential of R"
    default_max_steps = 10_000

    def start(self, problem: Any, theta: Array) -> State:
        # A proximal step of length 0 projects θ onto the domain of R.
        theta = problem.prox(theta, 0.0)
        at_ahead = (theta, *problem.smooth_value_and_gradient(theta))
        state = _state(problem, *at_ahead, ahead=at_ahead, lipschitz=1.0, time=1.0)
        # If R is not convex, 0 may be stationary without being a fixed point, so take one step.
        state.gap = math.inf
        return state

    def advance(self, problem: Any, state: State) -> State:
        ahead, smooth_ahead, slope = state.memory["ahead"]
        lipschitz = RELIEF * state.memory["lipschitz"]
        for _ in range(MOST_TRIALS):
            theta = problem.prox(ahead - slope / lipschitz, 1.0 / lipschitz)
            smooth, gradient = problem.smooth_value_and_gradient(theta)
            move = theta - ahead
            bend = lipschitz / 2 * inner(move, move)
            if _is_below(smooth_ahead, inner(slope, move), bend, smooth, inner(gradient, move)):
                break
            lipschitz *= GROWTH
        else:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)

        time = state.memory["time"]
        progress = theta - state.theta
        if inner(ahead - theta, progress) > 0:  # the extrapolation overshot: reset the momentum
            time, at_ahead = 1.0, (theta, smooth, gradient)
        else:
            later = (1 + math.sqrt(1 + 4 * time * time)) / 2
            ahead = theta + ((time - 1) / later) * progress
            time, at_ahead = later, (ahead, *problem.smooth_value_and_gradient(ahead))
        return _state(
            problem, theta, smooth, gradient, ahead=at_ahead, lipschitz=lipschitz, time=time
        )


def _is_below(
    smooth_ahead: float, promised: float, bend: float, smooth: float, promised_there: float
) -> bool:
    """Whether S at the new point lies below the parabola at the old point."""
    if not math.isfinite(smooth):
        return False
    if bend > BLUNT * abs(smooth_ahead):
        return smooth <= smooth_ahead + promised + bend
    # Differences of values are rounding errors here; the change of the gradient is accurate.
    return promised_there - promised <= 2 * bend


def _state(problem: Any, theta: Array, smooth: float, gradient: Array, **memory: Any) -> State:
    value = smooth + problem.nonsmooth_value(theta)
    return State(theta, value, problem.optimality_gap(theta, gradient), memory)
