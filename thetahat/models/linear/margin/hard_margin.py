"""The hard margin: min ½‖θ‖² subject to yᵢ f(xᵢ) ≥ 1 for every row, by soft margins that need none.

A soft margin whose solution leaves no slack is the hard one, since its multipliers αᵢ < C then
satisfy the same conditions. So C grows until no row needs slack; data that are not separable are
told from those with a narrow margin by a linear program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import AugmentedLagrangian
from thetahat.mathematics.optimizers.dual.dual_coordinate_descent import DualCoordinateDescent
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.programs.linear_program import linear_program
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.choose import LARGEST_MULTIPLIER_HESSIAN
from thetahat.objective.empirical_risk import EmpiricalRisk

SLACK = 1e-7
"""What is left of a margin of 1 by rounding."""
LARGEST_COST = 1e13
DOUBTFUL = 1e3
"""Costs from which on it is worth asking whether the rows can be separated at all."""


def hard_margin(
    risk: EmpiricalRisk, label: str, *, tolerance: float, watch: Watch | None = None
) -> Solution:
    """The widest margin with every row on its right side; multipliers in the unit of β = Σ mᵢxᵢ."""
    source = risk.source
    if not isinstance(source, InMemory):
        raise CapabilityError(
            "LinearSVC: a hard margin (C=inf) needs its rows in memory, and these are read block "
            "by block. Use a large finite C."
        )
    weight = np.ones(source.n_rows) if source.weight is None else np.asarray(source.weight, float)
    asked, cost = False, 1.0
    while cost <= LARGEST_COST:
        strength = 1.0 / (cost * weight.sum())
        found, margin = _soft(risk, source, weight, strength, tolerance, watch)
        if margin >= 1 - SLACK:
            assert found.multipliers is not None
            # Rows count by their presence: any weight on the same constraint means the same.
            shares = np.where(weight > 0, 1.0 / (strength * weight.sum()), 0.0)
            return replace(found, multipliers=found.multipliers * shares)
        if cost >= DOUBTFUL and not asked:
            asked = True
            _require_separable(risk, source, weight > 0, label)
        cost *= 10.0
    raise DataError(
        f"LinearSVC: class {label} can be separated from the rest, but by a margin too narrow for "
        "this precision. Scale the columns, or use a finite C."
    )


def without_slack(
    risk: EmpiricalRisk, found: Solution, *, tolerance: float, watch: Watch | None = None
) -> Solution:
    """The soft margin whose cost is so high that it needs no slack: that of a lower cost.

    The rows on the margin balance one another to the last digit there, which Newton's steps may
    miss: where `found` is short of the optimum, lower costs are tried until one needs no slack.
    `found` itself where none does. `tolerance` is that of the gap of `risk`.
    """
    source = risk.source
    if not isinstance(source, InMemory):
        return found
    weight = np.ones(source.n_rows) if source.weight is None else np.asarray(source.weight, float)
    strength = float(risk.penalty.get_params()["alpha"])
    lower = 1.0 / weight.sum()
    while lower > strength:
        soft, margin = _soft(risk, source, weight, lower, 1e-4, watch)
        if margin >= 1 - SLACK:
            assert soft.multipliers is not None
            # Stretched until no row needs slack, so that all of F is the penalty.
            theta = soft.theta / min(1.0, margin)
            value, share = risk.value(theta), strength / lower
            hinge = soft.value - lower / 2 * float((soft.theta**2).sum())
            bound = strength / 2 * float((soft.theta**2).sum()) + share * (hinge - soft.gap)
            gap = max(0.0, value - bound)
            if value > found.value:
                return found
            outcome = Outcome.CONVERGED if gap <= tolerance else Outcome.STALLED
            return replace(
                soft, theta=theta, value=value, gap=gap, outcome=outcome, message=outcome.value,
                steps=found.steps + soft.steps, multipliers=soft.multipliers * share,
                reason="a margin that needs no slack is that of a lower cost",
            )  # fmt: skip
        lower /= 10.0
    return found


def _soft(
    risk: EmpiricalRisk,
    source: InMemory,
    weight: Array,
    strength: float,
    tolerance: float,
    watch: Watch | None,
) -> tuple[Solution, float]:
    """The soft margin under that penalty, and the least margin of a row that counts."""
    method = (
        AugmentedLagrangian()
        if risk.predictor.n_parameters <= LARGEST_MULTIPLIER_HESSIAN
        else DualCoordinateDescent()
    )
    # A margin without slack is worth ½‖θ‖² alone: solve to a fraction of that.
    found = minimise(
        replace(risk, penalty=L2(strength)), method,
        tolerance=1e-3 * min(tolerance, 1e-4) * strength, watch=watch,
        reason="a soft margin that leaves no slack is the hard one",
    )  # fmt: skip
    margins = np.asarray(source.y) * source.map_rows(
        lambda block: risk.predictor.raw(block.X, found.theta)
    )
    return found, float(np.min(margins[weight > 0]))


def _require_separable(risk: EmpiricalRisk, source: InMemory, counts: Array, label: str) -> None:
    import scipy.sparse as sp

    X = source.X[counts]
    y = np.asarray(source.y, dtype=np.float64)[counts]
    scaling = getattr(risk.predictor, "scaling", None)
    if source.is_sparse:
        rows = sp.csr_array(X).astype(np.float64)
        if scaling is not None:
            rows = sp.hstack([rows, np.full((len(y), 1), scaling)], format="csr")
        signed = -rows.multiply(y[:, None]).tocsr()
    else:
        rows = np.asarray(X, dtype=np.float64)
        if scaling is not None:
            rows = np.column_stack([rows, np.full(len(y), scaling)])
        signed = -rows * y[:, None]
    if not linear_program(inequalities=(signed, -np.ones(len(y)))).feasible:
        raise DataError(
            f"LinearSVC: a hard margin (C=inf) needs a hyperplane with every row on its right "
            f"side, and for class {label} there is none among these {len(y)} rows. Allow slack "
            "with a finite C, or give features that separate the classes."
        )
