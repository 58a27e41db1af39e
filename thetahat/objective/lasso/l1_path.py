"""The path of an elastic net: one solution per α, each the start of the next.

    F(β) = ½ mean (y − Xβ − b)² + α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²)

Above α_max = max_j |x_jᵀy|/(n·l1_ratio) all coefficients are zero; below, one after another leaves
zero, so the solution at one α is nearly that at the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.column_designs import ResidualState
from thetahat.mathematics.optimizers.coordinate.gram_descent import Terms
from thetahat.mathematics.optimizers.coordinate.working_sets import L1LeastSquares, WorkingSets
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.lasso.compiled_path import compiled_path, is_compiled
from thetahat.objective.lasso.path_interpolation import (
    MISSED,
    Milestone,
    between,
    next_length,
    slopes_ahead,
)

SMALLEST_ALPHA = float(np.finfo(np.float64).resolution)
VANISHING = 1e-10
"""The share of the largest α that stands for α = 0, whose lasso is a limit."""


class Path(NamedTuple):
    """The solutions along a path."""

    alphas: Array
    coefs: Array
    """(d, n_alphas)"""
    intercepts: Array
    solutions: list[Solution]


def elastic_net_terms(d: int, alpha: float, l1_ratio: float, positive: bool) -> Terms:
    """α·l1_ratio and α·(1 − l1_ratio) for each of d columns, and their bound."""
    return Terms(
        np.full(d, alpha * l1_ratio),
        np.full(d, alpha * (1 - l1_ratio)),
        np.full(d, 0.0 if positive else -np.inf),
    )


def tolerance_of(problem: L1LeastSquares, tol: float) -> float:
    """scikit-learn's: the gap may be `tol` times the mean square of the centred target."""
    return tol * problem.design.target_squared / problem.total


def alpha_max(slopes: Array, total: float, l1_ratio: float, positive: bool = False) -> float:
    """The smallest α at which all coefficients are zero."""
    if l1_ratio == 0:
        raise ParameterError(
            "Automatic alpha grid generation is not supported for l1_ratio=0: no finite α sets a "
            "coefficient to zero. Give alphas=[...]."
        )
    largest = slopes.max(initial=0.0) if positive else np.abs(slopes).max(initial=0.0)
    return float(largest) / (total * l1_ratio)


def alpha_grid(largest: float, eps: float, n_alphas: int) -> Array:
    """n_alphas values from `largest` down to eps·largest, evenly spaced in their logarithm."""
    if largest <= SMALLEST_ALPHA:
        return np.full(n_alphas, SMALLEST_ALPHA)
    return np.geomspace(largest, largest * eps, num=n_alphas)


def given_alphas(alphas: Iterable[float], who: str) -> Array:
    """A caller's own values, largest first."""
    if np.asarray(alphas).dtype.kind in "US":
        raise ParameterError(f"{who}: alphas={alphas!r} holds text; penalties must be numbers ≥ 0.")
    found = np.sort(np.asarray(alphas, dtype=np.float64).ravel())[::-1]
    if not found.size:
        raise ParameterError(f"{who}: alphas is empty. Give at least one penalty.")
    if not (np.isfinite(found).all() and (found >= 0).all()):
        wrong = found[~(found >= 0) | ~np.isfinite(found)][0]
        raise ParameterError(f"{who}: alphas holds {wrong:g}; penalties must be numbers ≥ 0.")
    return found


def path(
    problem: L1LeastSquares,
    alphas: Array,
    *,
    l1_ratio: float,
    positive: bool,
    tol: float,
    max_iter: int,
    start: Array | None = None,
    once: bool = False,
) -> Path:
    """Solve at each of some falling penalties; `once` keeps no solution for two of them.

    On a Gram matrix and on few numbers the path is compiled (`compiled_path`). Where a pass over
    the columns is expensive, the path is solved in segments: first the end of a segment, then the
    penalties between, each from the point on the line through the two ends.
    """
    d = problem.design.n_columns
    method = WorkingSets(once=once, first_sweeps=0, polish=problem.design.is_small)
    theta = problem.start()
    if start is not None:
        theta[:d] = start
    tolerance = tolerance_of(problem, tol)
    applied = np.where(alphas > 0, alphas, _vanishing(problem))
    found: Array = np.empty((len(alphas), len(theta)))
    solutions: dict[int, Solution] = {}

    def solve(
        at: int, beta: Array, residual_state: ResidualState | None, expected: Array | None = None
    ) -> Milestone:
        penalised = problem.with_terms(elastic_net_terms(d, applied[at], l1_ratio, positive))
        penalised.expected = expected
        if residual_state is not None:
            penalised.remember(beta, residual_state)
        solutions[at] = minimise(
            penalised,
            method,
            penalised.pack(beta),
            tolerance=tolerance,
            max_steps=max_iter,
        )
        found[at] = solutions[at].theta
        return Milestone(at, applied[at], found[at, :d], penalised.stand(found[at, :d]))

    def in_one_call() -> None:
        at, beta = 0, theta[:d]
        while at < len(alphas):
            for solution in compiled_path(
                problem, applied[at:], l1_ratio=l1_ratio, positive=positive, tolerance=tolerance,
                max_iter=max_iter, beta=beta, once=once,
            ):  # fmt: skip
                solutions[at], found[at], at = solution, solution.theta, at + 1
                beta = solution.theta[:d]
            if at < len(alphas):
                beta, at = solve(at, beta, None).beta, at + 1

    def in_legs() -> None:
        here, before, length = solve(0, theta[:d], None), None, 1
        while here.place + 1 < len(alphas):
            end, shares = min(here.place + length, len(alphas) - 1), []
            expected = None if before is None else slopes_ahead(before, here, applied[end])
            before, there = here, solve(end, here.beta, here.residual_state, expected)
            for at in range(here.place + 1, end):
                beta, residual_state = between(here, there, applied[at])
                here = solve(at, beta, residual_state, residual_state.slopes)
                held = not solutions[at].steps and tolerance > 0
                shares.append(solutions[at].gap / tolerance if held else MISSED)
            here, length = there, 1 if once else next_length(length, shares)

    with one_blas_thread():  # once for all of it
        if is_compiled(problem, tolerance):
            in_one_call()
        else:
            in_legs()
    has_intercept = problem.x_mean is not None
    intercepts = found[:, d] if has_intercept else np.zeros(len(alphas))
    return Path(alphas, found[:, :d].T, intercepts, [solutions[at] for at in range(len(alphas))])


def _vanishing(problem: L1LeastSquares) -> float:
    largest = np.abs(problem.design.start).max(initial=0.0) / problem.total
    return max(float(largest) * VANISHING, SMALLEST_ALPHA)
