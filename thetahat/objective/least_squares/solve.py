"""Least squares by a named solver: direct, from matrix-vector products, or by descent."""

from __future__ import annotations

from functools import partial
from typing import Any

from thetahat.data.on_device import OnDevice
from thetahat.data.source import Source
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.loop import Method
from thetahat.objective.least_squares.augmented import PREFIX, augmented_least_squares
from thetahat.objective.least_squares.by_products import BY_PRODUCTS
from thetahat.objective.least_squares.direct import DIRECT, LeastSquares, direct_least_squares
from thetahat.objective.least_squares.heaviest_row import (
    about_heaviest_row,
    outweighs,
    warn_of_lost_rows,
)
from thetahat.objective.least_squares.iterative import ITERATIVE, iterative

SOLVERS = (*DIRECT, *BY_PRODUCTS, *ITERATIVE)
AUGMENTED = tuple(PREFIX + solver for solver in SOLVERS)
"""The same on the augmented rows of ridge regression."""


def least_squares(
    source: Source,
    *,
    solver: str | Method = "auto",
    ridge: float = 0.0,
    intercept: bool = True,
    positive: bool = False,
    tolerance: float = 1e-10,
    max_steps: int | None = None,
    random_state: RandomState = None,
    watch: Watch | None = None,
) -> LeastSquares:
    """Minimise Σ wᵢ(yᵢ − xᵢᵀβ − b)² + τ‖β‖² over the rows of a source, β ≥ 0 if `positive`."""

    def on_rows(rows: Source, inner: Watch | None, **changed: Any) -> LeastSquares:
        """The same problem on other rows, with these arguments changed."""
        return least_squares(
            rows,
            positive=positive,
            tolerance=tolerance,
            max_steps=max_steps,
            random_state=random_state,
            watch=inner,
            **changed,
        )

    if isinstance(solver, str) and solver in AUGMENTED:
        solve = partial(on_rows, solver=solver.removeprefix(PREFIX), intercept=False)
        return augmented_least_squares(source, solve, ridge=ridge, intercept=intercept, watch=watch)
    if intercept and outweighs(source):
        return about_heaviest_row(source, partial(on_rows, solver=solver, ridge=ridge), watch=watch)
    by_descent = isinstance(solver, Method) or solver in ITERATIVE
    if not by_descent or positive or isinstance(source, OnDevice):
        solver = solver.name if isinstance(solver, Method) else solver
        found = direct_least_squares(
            source,
            solver=solver,
            ridge=ridge,
            intercept=intercept,
            positive=positive,
            tolerance=tolerance,
            max_steps=max_steps,
            watch=watch,
        )
        if not intercept:
            warn_of_lost_rows(source, found)
        return found
    fit, solution = iterative(
        source,
        solver,
        ridge=ridge,
        intercept=intercept,
        tolerance=tolerance,
        max_steps=max_steps,
        random_state=random_state,
        watch=watch,
    )
    return LeastSquares(fit, solution)
