"""Paths of an elastic net, compiled: what `WorkingSets` does, for all penalties in one call.

On a Gram matrix by jumps on the active set (native/gram_path.cpp), and on few numbers by
sweeps over their columns (native/sweep_path.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.column_designs import DenseDesign, GramDesign, Swept
from thetahat.mathematics.optimizers.coordinate.gram_descent import Limits
from thetahat.mathematics.optimizers.coordinate.working_sets import (
    FIRST_SWEEPS,
    L1LeastSquares,
    WorkingSets,
    limits_of,
    sweeps_suit,
)
from thetahat.mathematics.optimizers.solution import Outcome, Solution

MOST_STEPS = 50
"""Steps on a Gram matrix at one penalty after which the path ends there: it is a hard one."""


def is_compiled(problem: L1LeastSquares, tolerance: float) -> bool:
    """Whether there is a compiled path for it."""
    return isinstance(problem.design, GramDesign) or sweeps_suit(problem, tolerance)


def compiled_path(
    problem: L1LeastSquares,
    alphas: Array,
    *,
    l1_ratio: float,
    positive: bool,
    tolerance: float,
    max_iter: int,
    beta: Array,
    once: bool,
) -> Iterator[Solution]:
    """The solutions at falling penalties, up to the first that is hard; none without a tolerance.

    Cost: on a Gram matrix O(s²) for each column that joins or leaves s others, and O(d s) for each
    penalty; else O(n s) for each sweep over s columns, and O(n d) for each penalty.
    """
    if not tolerance > 0:
        return
    design, total = problem.design, problem.total
    l1, l2 = total * alphas * l1_ratio, total * alphas * (1 - l1_ratio)
    lower = np.full(design.n_columns, 0.0 if positive else -np.inf)
    beta = np.ascontiguousarray(beta)
    if isinstance(design, GramDesign):
        limits = limits_of(problem, tolerance, min(max_iter, MOST_STEPS), settles=True)
        found = _on_gram(design, l1, l2, lower, beta, limits, once)
    else:
        assert isinstance(design, DenseDesign)
        limits = limits_of(
            problem, tolerance, min(max_iter, FIRST_SWEEPS), over_all=True, settles=True
        )
        each = np.ones(design.n_columns)
        found = design.sweep(np.outer(l1, each), np.outer(l2, each), lower, beta, limits, once)
    for at in range(found.solved):
        yield Solution(
            theta=problem.pack(found.betas[at]),
            outcome=Outcome.CONVERGED,
            solver=WorkingSets.name,
            steps=int(found.sweeps[at]),
            value=float(found.values[at]) / total,
            gap=float(found.gaps[at]) / total,
            gap_kind=WorkingSets.gap_kind,
            message=Outcome.CONVERGED.value,
        )


def _on_gram(
    design: GramDesign, l1: Array, l2: Array, lower: Array, beta: Array, limits: Limits, once: bool
) -> Swept:
    found = Swept.room(len(l1), len(beta))
    solved = _native.gram_path(
        design.gram, design.start, design.target_squared, l1, l2, float(lower[0]), beta,
        *limits, once, *found[1:-1],
    )  # fmt: skip
    return found._replace(solved=solved)
