"""Dual block coordinate ascent (compiled) for Crammer and Singer's multi-class hinge loss.

All dual variables of one row are set at once, to the exact maximum of the dual over them. This is a
projection: the classes are sorted by their slopes, and the first ones share the weight of the row.
Where no dual variable meets its bound, the dual is quadratic, and between some sweeps conjugate
gradients improve all of them together.

Intercepts without a penalty require that the dual variables of each class sum to 0. They are found
by the method of multipliers, as in `dual_coordinate_descent`: a constant column represents them
like coefficients, and after every step the values of these are moved into the intercepts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.dual.dual_coordinate_descent import (
    ENOUGH,
    settled,
    sweeps_in_step,
)
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.parts import number, whole


@dataclass(frozen=True)
class ClassDualDescent(Method):
    """Dual block coordinate ascent: αᵢ ← argmax of the dual over all dual variables of row i.

    Formula: αᵢₘ ← min(Cᵢ·1[m = yᵢ], (β − Bₘ)/‖xᵢ‖²) with β such that Σ_m αᵢₘ = 0, over the rows in
    random order. For `CrammerSinger` with an L2 penalty. CPU only. The gap is the duality gap.
    Cost: O(n·C·(d + log C)) per sweep; O((n + d)·C) memory.

    Parameters
    ----------
    sweeps : int, default=10
        Number of sweeps in the first step of the loop. Each step makes twice as many sweeps as the
        one before, up to 16 times this number; the gap is computed only after each step. Must be at
        least 1.
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
    >>> model = th.LinearModel(
    ...     loss="crammer_singer", penalty=th.penalties.L2(alpha=0.1)
    ... ).fit(np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([0, 1, 2]))
    >>> model.solution_.solver, model.predict([[3.0, 0.5], [-1.0, 2.0]])
    ('class_dual_descent', array([0, 1]))
    """

    sweeps: int = whole(10, at_least=1)
    seed: int = whole(0, at_least=0)
    share: float = number(1.0, above=0, at_most=1)

    name = "class_dual_descent"
    needs = ("class_dual_rows", "value")
    gap_kind = "duality gap"
    default_max_steps = 1000

    def start(self, problem: Any, theta: Array) -> State:
        dual = problem.class_dual_rows()
        multipliers = np.zeros((len(dual.y), dual.n_classes))
        weights = np.zeros((dual.n_features + 1, dual.n_classes))
        return _state(problem, dual, multipliers, weights, np.zeros(dual.n_classes))

    def advance(self, problem: Any, state: State) -> State:
        dual, step = state.memory["dual"], state.memory["step"] + 1
        multipliers, weights = state.memory["multipliers"].copy(), state.memory["weights"].copy()
        violation = _native.class_dual_epochs(
            *dual.rows, dual.y, dual.cost, dual.constant, multipliers, weights,
            self.seed + step, sweeps_in_step(self.sweeps, step),
            ENOUGH * state.gap if dual.free_intercept else 0.0,
        )  # fmt: skip
        intercept = dual.constant * weights[-1]
        if dual.free_intercept:
            weights[-1] += dual.constant * multipliers.sum(axis=0)
        reached = _state(problem, dual, multipliers, weights, intercept, step, violation == 0.0)
        return settled(reached, state, self.share)


def _state(
    problem: Any,
    dual: Any,
    multipliers: Array,
    weights: Array,
    intercept: Array,
    step: int = 0,
    stalled: bool = False,
) -> State:
    theta = dual.pack(weights, intercept)
    value = problem.value(theta)
    gap = max(0.0, value - dual.value(multipliers, weights, intercept))
    if dual.free_intercept:
        # If Σ α is not exactly 0, the dual is a bound for these intercepts only; add what that can
        # cost.
        sums = np.abs(multipliers.sum(axis=0))
        gap += dual.strength * float(np.sum(sums * (1.0 + np.abs(intercept))))
        stalled = stalled and not sums.any()
    memory = {"dual": dual, "multipliers": multipliers, "weights": weights, "step": step}
    return State(theta, value, gap, memory, stalled)
