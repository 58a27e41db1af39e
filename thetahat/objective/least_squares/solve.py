"""Least squares by a named solver: direct, from matrix-vector products, or by descent."""

from __future__ import annotations

from thetahat.data.on_device import OnDevice
from thetahat.data.source import Source
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.watch import Watch
from thetahat.objective.least_squares.direct import DIRECT, LeastSquares, direct_least_squares
from thetahat.objective.least_squares.iterative import ITERATIVE, iterative

SOLVERS = (*DIRECT, "lsqr", *ITERATIVE)


def least_squares(
    source: Source,
    *,
    solver: str = "auto",
    ridge: float = 0.0,
    intercept: bool = True,
    positive: bool = False,
    tolerance: float = 1e-10,
    max_steps: int | None = None,
    random_state: RandomState = None,
    watch: Watch | None = None,
) -> LeastSquares:
    """Minimise Σ wᵢ(yᵢ − xᵢᵀβ − b)² + τ‖β‖² over the rows of a source, β ≥ 0 if `positive`."""
    by_descent = solver in ITERATIVE and not positive and not isinstance(source, OnDevice)
    if not by_descent:
        return direct_least_squares(
            source,
            solver=solver,
            ridge=ridge,
            intercept=intercept,
            positive=positive,
            tolerance=tolerance,
            max_steps=max_steps,
            watch=watch,
        )
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
