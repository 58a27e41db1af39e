"""Paths of an elastic net on a Gram matrix, compiled: from face to face of the penalty.

What `WorkingSets` does at each penalty, for all of them in one call; see native/gram_path.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.mathematics.optimizers.column_designs import GramDesign
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.working_sets import INNER_SHARE, L1LeastSquares, WorkingSets

Array = Any

MOST_STEPS = 50
"""Steps at one penalty after which the path ends there: it is a hard one."""


def gram_path(
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

    Cost: O(s²) for each column that joins or leaves s others, and O(d s) for each penalty.
    """
    design, total, count = problem.design, problem.total, len(alphas)
    assert isinstance(design, GramDesign)
    if not tolerance > 0:
        return
    betas, steps = np.empty((count, design.n_columns)), np.empty(count, dtype=np.int64)
    values, gaps = np.empty((2, count))
    solved = _native.gram_path(
        design.gram, design.start, design.target_squared,
        total * alphas * l1_ratio, total * alphas * (1 - l1_ratio), 0.0 if positive else -np.inf,
        np.ascontiguousarray(beta), INNER_SHARE * tolerance * total, min(max_iter, MOST_STEPS),
        once, betas, values, gaps, steps,
    )  # fmt: skip
    for at in range(solved):
        yield Solution(
            theta=problem.pack(betas[at]),
            outcome=Outcome.CONVERGED,
            solver=WorkingSets.name,
            steps=int(steps[at]),
            value=float(values[at]) / total,
            gap=float(gaps[at]) / total,
            gap_kind=WorkingSets.gap_kind,
            message=Outcome.CONVERGED.value,
        )
