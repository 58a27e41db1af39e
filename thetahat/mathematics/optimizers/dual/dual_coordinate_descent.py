"""Dual coordinate ascent (compiled) for linear support vector machines.

    D(m) = Σ sᵢ (mᵢyᵢ − kink|mᵢ| − curvature·mᵢ²/2) − λ/2‖β(m)‖²,   β(m) = Σ sᵢ mᵢ xᵢ/λ

As a function of one dual variable, D is a parabola with a kink in a box, whose maximum has a closed
form. Changing it affects only the columns in which its row is not zero. So a sweep costs as much as
reading the rows, for any number of columns. Between its bounds and kinks D is quadratic. There
conjugate gradients, some hundred products with the rows, do what would need thousands of sweeps.

An intercept without a penalty requires Σ sᵢ mᵢ = 0. It is found by the method of multipliers: a
constant column represents it like a coefficient, and after every step the value of that coefficient
is moved into the offset b, until it is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.precision import ROUNDING
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.parts import number, whole


@dataclass(frozen=True)
class DualCoordinateDescent(Method):
    """Dual coordinate ascent: mᵢ ← argmax over mᵢ of D with all other dual variables fixed.

    Formula: mᵢ ← clip(soft(rᵢ + hᵢmᵢ, kink)/(hᵢ + curvature), box) with rᵢ = yᵢ − zᵢ and
    hᵢ = sᵢ‖xᵢ‖²/λ, over the rows in random order. Rows that stay at their bounds are skipped for a
    while, and between some sweeps conjugate gradients improve all others together. For the
    hinge and ε-insensitive losses and their squares with an L2 penalty. CPU only. The gap is the
    duality gap. Cost: O(n d) per sweep, or O(nnz) for sparse rows; O(n + d) memory.

    Parameters
    ----------
    sweeps : int, default=10
        Number of sweeps in the first step of the loop. Each step makes twice as many sweeps as the
        one before, up to 16 times this number. Rows are skipped within a step, so longer steps are
        more efficient, but the gap is computed only after each step. Several steps are
        made at once if no callback and no time limit needs them one by one. Must be at least 1.
    seed : int, default=0
        Seed of the random order of the rows. Must be non-negative.
    share : float, default=1.0
        Largest duality gap at the end as a share of the objective there, besides the tolerance.
        Smaller values matter where the objective falls to a tiny share of its value at the start.
        Must be above 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> model = th.LinearModel(
    ...     loss="hinge", penalty=th.penalties.L2(alpha=0.01), solver="dual_coordinate_descent"
    ... ).fit(X, y)
    >>> model.coef_.round(4), round(float(model.intercept_), 4)
    (array([1.]), -2.0)
    """

    sweeps: int = whole(10, at_least=1)
    seed: int = whole(0, at_least=0)
    share: float = number(1.0, above=0, at_most=1)

    name = "dual_coordinate_descent"
    aliases = ("dcd",)
    needs = ("dual_rows", "value")
    gap_kind = "duality gap"
    default_max_steps = 1000

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Advance as usual, but by several steps at once if single steps are not reported."""
        state = self.start(problem, theta)
        state.memory["tolerance"] = monitor.tolerance
        monitor.begin(state)
        while monitor.goes_on:
            if monitor.unobserved and not state.memory["dual"].free_intercept:
                state.memory["at_once"] = min(AT_ONCE, monitor.max_steps - monitor.steps)
            before, state = state, self.advance(problem, state)
            monitor.steps += state.memory["step"] - before.memory["step"] - 1
            monitor.observe(state)

    def start(self, problem: Any, theta: Array) -> State:
        dual = problem.dual_rows()
        multipliers, inside = np.zeros(len(dual.y)), np.zeros(dual.n_features + 1)
        return _state(problem, dual, multipliers, inside, offset=0.0, step=0)

    def advance(self, problem: Any, state: State) -> State:
        dual, step = state.memory["dual"], state.memory["step"]
        multipliers, inside = state.memory["multipliers"].copy(), state.memory["inside"].copy()
        offset, tolerance = state.memory["offset"], state.memory.get("tolerance", 0.0)
        box, made = dual.box, sweeps_in_steps(self.sweeps, step)
        enough = ENOUGH * min(tolerance, self.share * state.value)
        if dual.free_intercept:  # it changes only between the steps
            enough = max(enough, ENOUGH * state.gap)
        sweeps = sweeps_in_steps(self.sweeps, step + state.memory.get("at_once", 1)) - made
        violation, used = _native.dual_epochs(
            *dual.rows, dual.y, dual.share, box.lower, box.upper, box.kink, box.curvature,
            dual.strength, dual.constant, offset, multipliers, inside,
            self.seed + step + 1, sweeps, enough,
        )  # fmt: skip
        if dual.free_intercept:
            offset += dual.constant * float(inside[-1])
        step = max(step + 1, steps_for_sweeps(self.sweeps, made + used))
        reached = _state(problem, dual, multipliers, inside, offset, step, violation == 0.0)
        reached.memory["tolerance"] = tolerance
        return settled(reached, state, self.share)


ENOUGH = 0.1
"""A step ends early if the rows together lack at most this share of the gap that the run needs (or,
while an intercept without a penalty changes, of the gap before)."""
AT_ONCE = 5
"""Steps without a report that are made in one call, so that skipped rows stay skipped."""


def sweeps_in_step(first: int, step: int) -> int:
    """first, 2·first, 4·first, …, 16·first, 16·first, …"""
    return first << min(step - 1, 4)


def steps_for_sweeps(first: int, sweeps: int) -> int:
    """The smallest number of steps that make this many sweeps."""
    step = total = 0
    while total < sweeps:
        step += 1
        total += sweeps_in_step(first, step)
    return step


def sweeps_in_steps(first: int, steps: int) -> int:
    """The largest number of sweeps in this many steps."""
    return sum(sweeps_in_step(first, step) for step in range(1, steps + 1))


def _state(
    problem: Any,
    dual: Any,
    multipliers: Array,
    inside: Array,
    offset: float,
    step: int,
    stalled: bool = False,
) -> State:
    theta = dual.pack(inside, offset)
    value = problem.value(theta)
    shrunk = inside[:-1] if dual.free_intercept else inside
    bound = dual.terms(multipliers, offset) - dual.strength / 2 * float(np.sum(shrunk * shrunk))
    gap = max(0.0, value - bound)
    if dual.free_intercept:
        # If Σ s·m is not exactly 0, D is a bound for this intercept only; add what that can cost.
        gap += abs(float(np.sum(dual.share * multipliers))) * (1.0 + abs(offset))
        stalled = stalled and inside[-1] == 0.0
    memory = {
        "dual": dual,
        "multipliers": multipliers,
        "inside": inside,
        "offset": offset,
        "step": step,
    }
    return State(theta, value, gap if math.isfinite(gap) else math.inf, memory, stalled)


def settled(state: State, before: State, share: float) -> State:
    """The state, settled if its gap is at most this share of F, or rounding in F at the start."""
    state.memory["first"] = before.memory.get("first", before.value)
    state.settled = state.gap <= max(share * state.value, ROUNDING * state.memory["first"])
    return state
