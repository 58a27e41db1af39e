"""Least squares from products with X alone: LSQR or conjugate gradients on centred, weighted rows.

Centring is implicit, so sparse rows stay sparse.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.means import means
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.conjugate_gradient import conjugate_gradient
from thetahat.mathematics.linalg.least_squares import LinearFit
from thetahat.mathematics.linalg.lsqr import lsqr
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.conditioning import watch_through
from thetahat.objective.least_squares.compiled_lsqr import compiled_lsqr
from thetahat.objective.sums import Sums

BY_PRODUCTS = {"lsqr": lsqr, "conjugate_gradient": conjugate_gradient}
"""Solvers that need products with X alone."""


def least_squares_by_products(
    source: Source,
    solver: str,
    *,
    ridge: float,
    intercept: bool,
    tolerance: float,
    max_steps: int | None,
    watch: Watch | None,
) -> tuple[LinearFit, Solution]:
    """The fit of one target after the other, of unknown rank, and the report of the solver."""
    source.require_finite()
    about = means(source)
    d = source.n_features
    x_mean = about.mean[:d] if intercept else np.zeros(d)
    y_mean = about.mean[d:] if intercept else np.zeros(len(about.mean) - d)
    y = source.map_rows(lambda block: _root(block)[:, None] * (_columns(block) - y_mean))
    limits = (float(np.sqrt(ridge)), tolerance, max_steps)
    with one_blas_thread():  # the length of a vector would have bits of the number of threads
        if solver == "lsqr" and _is_compiled(source, watch):
            assert isinstance(source, InMemory)
            found = compiled_lsqr(
                source, x_mean, y, *limits, lambda theta: _with_level(theta, x_mean, y_mean)
            )
        else:
            found = _one_by_one(solver, source, x_mean, y, y_mean, *limits, watch)
        coef = np.column_stack([solution.theta for solution in found])
        free = y_mean - x_mean @ coef
    fit = LinearFit(
        coef=coef,
        intercept=free,
        solver=solver,
        rank=None,
        condition=float("nan"),
        residual=np.array([solution.value for solution in found]),
    )
    solution = replace(
        worst(found),
        theta=np.vstack([coef, free]),
        steps=max(one.steps for one in found),
        value=float(fit.residual.sum()),
    )
    return fit, solution


def _one_by_one(
    solver: str,
    source: Source,
    x_mean: Array,
    y: Array,
    y_mean: Array,
    damp: float,
    tolerance: float,
    max_steps: int | None,
    watch: Watch | None,
) -> list[Solution]:
    """The solution for each column of y, whose steps the watch follows."""

    def product(u: Array) -> Array:
        return source.map_rows(lambda block: _root(block) * (block.X @ u - x_mean @ u))

    def adjoint(v: Array) -> Array:
        def pull_back(block: Block) -> Sums:
            part = v[block.start : block.start + block.n_rows] * _root(block)
            return Sums(parts=(block.X.T @ part - x_mean * part.sum(),))

        return source.reduce(pull_back).parts[0]

    def solve(column: Array, level: float) -> Solution:
        with watch_through(watch, lambda theta: _with_level(theta, x_mean, level)) as inner:
            return BY_PRODUCTS[solver](
                product,
                adjoint,
                column,
                source.n_features,
                damp=damp,
                tolerance=tolerance,
                max_steps=max_steps,
                watch=inner,
            )

    return [solve(column, level) for column, level in zip(y.T, y_mean, strict=True)]


def _is_compiled(source: Source, watch: Watch | None) -> bool:
    """Whether the rows are sparse and in memory, and nothing follows single steps."""
    idle = watch is None or watch.is_idle
    return idle and isinstance(source, InMemory) and source.is_sparse


def _with_level(theta: Array, x_mean: Array, level: Array | float) -> Array:
    """[β; b] of the rows as they are, from β of the centred rows."""
    coef = theta if theta.ndim == 2 else theta[:, None]
    return np.vstack([coef, np.atleast_1d(level - x_mean @ coef)])


def _root(block: Block) -> Array:
    return np.sqrt(block.row_weights)


def _columns(block: Block) -> Array:
    return block.targets if block.targets.ndim == 2 else block.targets[:, None]
