"""The hard margin: min ½‖θ‖² subject to yᵢ f(xᵢ) ≥ 1 for every row, solved by soft margins.

A soft margin whose solution has no slack is also the hard margin, because its multipliers αᵢ < C
satisfy the same optimality conditions. So C is increased until no row needs slack. A linear program
decides whether the data are separable at all or only have a narrow margin.
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
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.programs.linear_program import linear_program
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.choose import LARGEST_DUAL_HESSIAN
from thetahat.objective.empirical_risk import EmpiricalRisk

SLACK = 1e-7
"""Violation of a margin of 1 that is attributed to rounding."""
LARGEST_COST = 1e13
DOUBTFUL = 1e3
"""Cost from which a linear program checks whether the rows are separable."""


def hard_margin(
    risk: EmpiricalRisk, label: str, *, tolerance: float, watch: Watch | None = None
) -> Solution:
    """The widest margin without slack; multipliers in units of β = Σ mᵢxᵢ."""
    source = risk.source
    if not isinstance(source, InMemory):
        raise CapabilityError(
            "LinearSVC: a hard margin (C=inf) needs the rows in memory, but these are read block "
            "by block. Use a large finite C."
        )
    weight = np.asarray(source.row_weights, float)
    checked, cost = False, 1.0
    while cost <= LARGEST_COST:
        strength = 1.0 / (cost * weight.sum())
        found, margin = _soft(risk, source, weight, strength, tolerance, watch)
        if margin >= 1 - SLACK:
            assert found.multipliers is not None
            # Weights have no effect here: a constraint holds for every row of positive weight.
            shares = np.where(weight > 0, 1.0 / (strength * weight.sum()), 0.0)
            return replace(found, multipliers=found.multipliers * shares)
        if cost >= DOUBTFUL and not checked:
            checked = True
            _require_separable(risk, source, weight > 0, label)
        cost *= 10.0
    raise DataError(
        f"LinearSVC: class {label} can be separated from the rest, but the margin is too narrow "
        "for double precision. Scale the columns, or use a finite C."
    )


def without_slack(
    risk: EmpiricalRisk, found: Solution, *, tolerance: float, watch: Watch | None = None
) -> Solution:
    """Solve a soft margin with very large cost through a smaller cost that needs no slack either.

    If no row needs slack, the solution does not depend on the cost, but Newton's steps may fail for
    very large costs. If `found` is not optimal, smaller costs are tried until one needs no slack;
    otherwise `found` is returned. `tolerance` is that of the gap of `risk`.
    """
    source = risk.source
    if not isinstance(source, InMemory):
        return found
    weight = np.asarray(source.row_weights, float)
    strength = float(risk.penalty.get_params()["alpha"])
    lower = 1.0 / weight.sum()
    while lower > strength:
        soft, margin = _soft(risk, source, weight, lower, 1e-4, watch)
        if margin >= 1 - SLACK:
            assert soft.multipliers is not None
            # Scaled until no row needs slack, so that F consists of the penalty only.
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
                reason="no row needs slack: solved with a smaller C, which has the same optimum",
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
    """The soft margin with this penalty, and the smallest margin of a row of positive weight."""
    method = (
        AugmentedLagrangian()
        if risk.predictor.n_parameters <= LARGEST_DUAL_HESSIAN
        else DualCoordinateDescent()
    )
    # Without slack the objective is ½‖θ‖² only, so the tolerance is a fraction of that.
    found = minimise(
        replace(risk, penalty=L2(strength)), method,
        tolerance=1e-3 * min(tolerance, 1e-4) * strength, watch=watch,
        reason="a soft margin without slack equals the hard margin",
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
            f"LinearSVC: a hard margin (C=inf) needs a hyperplane that separates all rows, but for "
            f"class {label} there is none for these {len(y)} rows. Allow slack with a finite C, or "
            "add columns that separate the classes."
        )
