"""Subgradient descent for objectives with kinks: θ ← prox(θ − η_t g_t, η_t) with g_t ∈ ∂S(θ).

A step along a subgradient may increase F, so the steps must shrink and the best θ is kept. Here
η_t = τ₀/√(‖g₁‖² + … + ‖g_t‖²), which does not depend on the scale of F. The error falls like 1/√t.
This is enough for a rough fit; use the method only if no method with an optimality gap applies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class SubgradientDescent(Method):
    """Subgradient descent: θ ← prox(θ − η_t g_t, η_t) with g_t ∈ ∂S(θ), η_t = τ₀/√(Σ_{s≤t} ‖g_s‖²).

    The optimality gap is unknown at a kink, so a run usually ends after the maximum number of
    steps, with the best θ found, unless it reaches a point with ∂S ∋ 0. Cost: one value and
    subgradient per step, O(d) memory. The error is O(1/√t).

    Parameters
    ----------
    tau0 : float, default=1.0
        Length of the first step (τ₀). It should be about the distance from the start to the
        optimum. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Distance:
    ...     def value_and_subgradient(self, x):
    ...         return float(np.abs(x - 2.0).sum()), np.sign(x - 2.0)
    >>> solution = th.minimise(Distance(), th.optimizers.SubgradientDescent(), np.zeros(2))
    >>> solution.value < 0.1
    True
    """

    tau0: float = number(1.0, above=0)

    name = "subgradient_descent"
    aliases = ("subgradient",)
    needs = ("value_and_subgradient",)
    gap_kind = "gap to the optimum"
    reaches_optimum = False

    def start(self, problem: Any, theta: Array) -> State:
        return _state(problem, theta, 0.0)

    def advance(self, problem: Any, state: State) -> State:
        subgradient = state.memory["subgradient"]
        squares = state.memory["squares"] + inner(subgradient, subgradient)
        if squares == 0.0:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        step = self.tau0 / math.sqrt(squares)
        theta = state.theta - step * subgradient
        if hasattr(problem, "prox"):
            theta = problem.prox(theta, step)
        return _state(problem, theta, squares)


def _state(problem: Any, theta: Array, squares: float) -> State:
    value, subgradient = problem.value_and_subgradient(theta)
    gap = math.inf
    if hasattr(problem, "prox"):
        value += problem.nonsmooth_value(theta)
    elif inner(subgradient, subgradient) == 0.0:
        gap = 0.0
    return State(theta, value, gap, {"subgradient": subgradient, "squares": squares})
