"""Several targets under one penalty: from the rows of a source to a `TaskLeastSquares`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import require_squares
from thetahat.foundation.threads import one_blas_thread, ordered_map
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.column_designs import FEW_NUMBERS
from thetahat.mathematics.optimizers.coordinate.column_slopes import COLUMNS_PER_BLOCK
from thetahat.mathematics.optimizers.coordinate.task_descent import TaskDescent, TaskLeastSquares
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.lasso.l1_path import (
    SMALLEST_ALPHA,
    VANISHING,
    alpha_grid,
    alpha_max,
    given_alphas,
)


def task_problem(source: InMemory, *, intercept: bool) -> TaskLeastSquares:
    """The rows of a source, centred and weighted, its penalty still to be set."""
    assert source.y is not None
    source.require_finite()
    at, d = means(source), source.n_features
    outputs = max(1, source.n_outputs)
    x_mean = at.mean[:d] if intercept else np.zeros(d)
    y_mean = at.mean[d:] if intercept else np.zeros(outputs)
    root = np.sqrt(source.row_weights)
    few = not source.is_sparse and source.X.size <= FEW_NUMBERS
    columns, slopes, squares = (_packed if few else _in_place)(source, x_mean, root)
    targets = root[:, None] * (np.asarray(source.y, np.float64).reshape(-1, outputs) - y_mean)
    with np.errstate(over="ignore"):
        sizes = np.concatenate([squares, np.sum(targets**2, axis=0)])
    require_squares(np.sqrt(sizes), d, may_vanish=True)
    squares[squares <= 1e-26 * at.weight * x_mean**2] = 0.0  # constant columns
    centres = (x_mean, y_mean) if intercept else (None, None)
    return TaskLeastSquares(
        columns, slopes, squares, targets, at.weight, x_mean=centres[0], y_mean=centres[1]
    )


Columns = tuple[Callable[[Array], Array], Callable[[Array], Array], Array]
"""Columns by their numbers, the slopes of a residual, and ‖x_j‖²."""


def _packed(source: InMemory, x_mean: Array, root: Array) -> Columns:
    """Of few numbers, which are centred and weighted once."""
    packed = np.array(source.X.T, dtype=np.float64, order="C")
    packed -= x_mean[:, None]
    packed *= root
    with np.errstate(over="ignore"):
        squares = np.sum(packed * packed, axis=1)

    def slopes(residual: Array) -> Array:
        with one_blas_thread():
            found = packed @ residual
        found[squares == 0] = 0.0
        return found

    return packed.__getitem__, slopes, squares


def _in_place(source: InMemory, x_mean: Array, root: Array) -> Columns:
    """Of rows that are read where they are."""
    d = source.n_features
    X: Any = source.sparse_X.tocsc() if source.is_sparse else source.X

    def columns(which: Array) -> Array:
        taken = X[:, which].toarray().T if source.is_sparse else X.T[which]
        packed = np.array(taken, dtype=np.float64, order="C")
        packed -= x_mean[which, None]
        packed *= root
        return packed

    blocks = [
        np.arange(at, min(d, at + COLUMNS_PER_BLOCK)) for at in range(0, d, COLUMNS_PER_BLOCK)
    ]

    def slopes(residual: Array) -> Array:
        rooted = root[:, None] * residual
        level = np.sum(rooted, axis=0)

        def work(block: Array) -> Array:
            part = X[:, block[0] : block[-1] + 1]
            return (rooted.T @ part).T - x_mean[block, None] * level

        found = np.concatenate(list(ordered_map(work, blocks)))
        found[squares == 0] = 0.0
        return np.ascontiguousarray(found)

    def sums_of_squares(block: Array) -> Array:
        if source.is_sparse:
            with np.errstate(over="ignore"):
                return np.sum(columns(block) ** 2, axis=1)
        found, part = np.empty(len(block)), X[:, block[0] : block[-1] + 1]
        _native.column_squares(part, x_mean[block], source.row_weights, found, 0)
        return found

    squares = np.concatenate(list(ordered_map(sums_of_squares, blocks)))
    return columns, slopes, squares


def task_tolerance(problem: TaskLeastSquares, tol: float) -> float:
    """scikit-learn's: `tol` times ‖Y‖²/n."""
    return tol * float(np.sum(problem.targets**2)) / problem.total


def solve_tasks(
    problem: TaskLeastSquares,
    alpha: float,
    l1_ratio: float,
    *,
    start: Array | None = None,
    tol: float,
    max_iter: int,
    **options: Any,
) -> Solution:
    """One penalty; α = 0 is taken as the limit from above."""
    if alpha == 0:
        with one_blas_thread():
            largest = np.sqrt(np.sum(problem.slopes(problem.targets) ** 2, axis=1).max(initial=0.0))
        vanishing = max(VANISHING * float(largest) / problem.total, SMALLEST_ALPHA)
    else:
        vanishing = alpha * l1_ratio
    penalised = replace(problem, l1=vanishing, l2=alpha * (1 - l1_ratio))
    return minimise(
        penalised,
        TaskDescent(),
        penalised.start() if start is None else start,
        tolerance=task_tolerance(problem, tol),
        max_steps=max_iter,
        reason="squared loss with a norm per column: coordinate descent to a duality gap",
        **options,
    )


def task_path(
    source: InMemory,
    wanted: Any,
    eps: float,
    *,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    start: Array | None = None,
) -> tuple[Array, Array, list[Solution]]:
    """Falling penalties, coefficients of shape (n_targets, d, n_alphas), and the solutions."""
    problem = task_problem(source, intercept=False)
    if isinstance(wanted, Integral):
        slopes = np.sqrt(np.sum(problem.slopes(problem.targets) ** 2, axis=1))
        alphas = alpha_grid(alpha_max(slopes, problem.total, l1_ratio), eps, int(wanted))
    else:
        alphas = given_alphas(wanted, "enet_path")
    theta = None if start is None else problem.pack(np.asarray(start, dtype=np.float64).T)
    coefs, solutions = [], []
    for alpha in alphas:
        solution = solve_tasks(problem, alpha, l1_ratio, start=theta, tol=tol, max_iter=max_iter)
        theta = solution.theta
        coefs.append(problem.unpack(theta).T)
        solutions.append(solution)
    return alphas, np.stack(coefs, axis=-1), solutions
