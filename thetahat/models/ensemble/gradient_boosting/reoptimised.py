"""Refit the coefficients of all members of a boosted model at once.

    c = argmin Σ w·ℓ(y, b + Σ_m c_m·h_m(x)) + (λ/2)·‖c − 1‖²,    λ tiny

Boosting sets the coefficient of a member when it is added and never changes it. Here the members
are the columns of a linear model under the same loss, which starts from the solution of boosting, c
= 1 and b = f₀. A tiny penalty makes the solution unique for collinear members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.members import Member, outputs_of, times
from thetahat.models.ensemble.gradient_boosting.rounds import Boosting, scores_of

PULL = 1e-6


def reoptimised(boosting: Boosting, start: Array) -> tuple[Array, Sequence[Member]]:
    """Best intercepts, and the members multiplied by their best coefficients.

    Cost: O(n·M) memory, and time per step, for M members; a few dozen steps of L-BFGS.
    """
    from scipy.optimize import minimize

    rows, members, loss = boosting.rows, boosting.members, boosting.loss
    n, k, n_members = len(rows.y), boosting.plan.n_columns, len(members)
    require_memory(
        8 * n * n_members,
        f"Re-optimising {n_members} coefficients on {n} rows",
        "Use reoptimise='last', fewer iterations, or fewer rows.",
    )
    outputs = outputs_of(members, rows.X, n)
    # Columns of equal scale make the problem well conditioned.
    scale = np.sqrt(np.mean(outputs**2, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    outputs /= scale
    share = row_weights(rows.weight, n)
    share = share / share.sum()
    first = boosting.start - start  # 0 unless ``init`` is a model

    def risk(theta: Array) -> tuple[float, Array]:
        steps = theta[k:]
        raw = first + theta[:k] + _by_column(outputs * steps, k)
        value, slope = loss.value_and_gradient(rows.y, np.ascontiguousarray(scores_of(loss, raw)))
        slope = share[:, None] * slope.reshape(n, k)
        away = steps - scale
        by_member = np.einsum("nm,nm->m", outputs, slope[:, np.arange(n_members) % k])
        return (
            float(share @ value + PULL / 2 * away @ away),
            np.concatenate([slope.sum(axis=0), by_member + PULL * away]),
        )

    found: Any = minimize(
        risk,
        np.concatenate([start, scale]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 500, "maxcor": 20},
    )
    factors = found.x[k:] / scale
    return found.x[:k], [times(each, by) for each, by in zip(members, factors, strict=True)]


def _by_column(terms: Array, k: int) -> Array:
    """Sum of the terms of the members m of each column m mod k."""
    return np.column_stack([terms[:, column::k].sum(axis=1) for column in range(k)])
