"""All coefficients of a boosted model at once: "feature regression" on the outputs of its trees.

    c = argmin Σ w·ℓ(y, b + Σ_m c_m·tree_m(x)) + (λ/2)·‖c − 1‖²,    λ tiny

Boosting sets each tree's coefficient when the tree is new and never looks back. Here the trees are
columns of a linear model under the same loss, started from boosting's own answer c = 1, b = f₀. A
tiny pull towards it makes the answer unique where trees are collinear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.foundation.memory import require_memory
from thetahat.mathematics.losses.base import Subdifferentiable
from thetahat.models.ensemble.boosting import Boosting
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.structure import Tree

Array = Any

PULL = 1e-6


def reoptimised(boosting: Boosting, start: Array) -> tuple[Array, Sequence[Tree]]:
    """The best intercepts, and the trees times their best coefficients.

    Cost: O(n·M) memory and per step, for M trees; a few dozen steps of L-BFGS.
    """
    from scipy.optimize import minimize

    rows, trees, loss = boosting.rows, boosting.trees, boosting.loss
    n, k, n_trees = len(rows.y), boosting.plan.n_columns, len(trees)
    require_memory(
        8 * n * n_trees,
        f"Re-optimising {n_trees} coefficients on {n} rows",
        "Use reoptimise='last', fewer rounds, or fewer rows.",
    )
    packed = PackedTrees.pack(trees)
    leaves = packed.leaves(rows.X)
    outputs = np.column_stack([tree.values[leaves[m], 0] for m, tree in enumerate(trees)])
    # One scale for all columns, so that a step of the solver means the same in each.
    scale = np.sqrt(np.mean(outputs**2, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    outputs /= scale
    share = np.ones(n) / n if rows.weight is None else rows.weight / rows.weight.sum()
    first = boosting.start - start  # 0, unless another model gave the first predictions

    def risk(theta: Array) -> tuple[float, Array]:
        steps = theta[k:]
        raw = first + theta[:k] + _by_column(outputs * steps, k)
        z = raw if loss.columns == "per class" else raw[:, 0]
        value, slope = _value_and_gradient(loss, rows.y, z)
        slope = share[:, None] * slope.reshape(n, k)
        away = steps - scale
        by_tree = np.einsum("nm,nm->m", outputs, slope[:, np.arange(n_trees) % k])
        return (
            float(share @ value + PULL / 2 * away @ away),
            np.concatenate([slope.sum(axis=0), by_tree + PULL * away]),
        )

    found: Any = minimize(
        risk,
        np.concatenate([start, scale]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 500, "maxcor": 20},
    )
    factors = found.x[k:] / scale
    changed = [
        replace(tree, values=tree.values * factor)
        for tree, factor in zip(trees, factors, strict=True)
    ]
    return found.x[:k], changed


def _by_column(terms: Array, k: int) -> Array:
    """Σ of the terms of the trees m of each column m mod k."""
    return np.column_stack([terms[:, column::k].sum(axis=1) for column in range(k)])


def _value_and_gradient(loss: Subdifferentiable, y: Array, z: Array) -> tuple[Array, Array]:
    return loss.value_and_gradient(y, np.ascontiguousarray(z))
