"""Least squares from products with X alone: LSQR or conjugate gradients on centred, weighted rows.

Centring is implicit, so sparse rows stay sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import means
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.conjugate_gradient import conjugate_gradient
from thetahat.mathematics.linalg.least_squares import LinearFit
from thetahat.mathematics.linalg.lsqr import lsqr
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.conditioning import watch_through
from thetahat.objective.sums import Sums

BY_PRODUCTS = {"lsqr": lsqr, "conjugate_gradient": conjugate_gradient}
"""Solvers that need products with X alone."""
LSQR_FACTOR = 1e-6
"""Factor of the tolerance of LSQR, whose residual has an error up to κ times smaller than β."""
FEW_ENTRIES = 1 << 22
"""Stored entries of sparse rows up to which one thread multiplies all of them at once: dividing
such a product among threads takes as long as the product."""

Products = tuple[Callable[[Array], Array], Callable[[Array], Array]]


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
    product, adjoint = _products(source, x_mean)

    def solve(column: Array, level: float) -> Solution:
        def back(theta: Array) -> Array:
            return np.append(theta, level - x_mean @ theta)[:, None]

        with watch_through(watch, back) as inner:
            return BY_PRODUCTS[solver](
                product,
                adjoint,
                column,
                d,
                damp=float(np.sqrt(ridge)),
                tolerance=tolerance * LSQR_FACTOR,
                max_steps=max_steps,
                watch=inner,
            )

    y = source.map_rows(lambda block: _root(block)[:, None] * (_columns(block) - y_mean))
    with one_blas_thread():  # lengths of vectors as well have bits that depend on no thread count
        found = [solve(column, level) for column, level in zip(y.T, y_mean, strict=True)]
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


def _products(source: Source, x_mean: Array) -> Products:
    """u ↦ Xu and v ↦ Xᵀv of the weighted rows, centred at `x_mean`."""
    if isinstance(source, InMemory) and source.is_sparse and source.X.nnz <= FEW_ENTRIES:
        return _of_few_entries(source, x_mean)

    def product(u: Array) -> Array:
        return source.map_rows(lambda block: _root(block) * (block.X @ u - x_mean @ u))

    def adjoint(v: Array) -> Array:
        def pull_back(block: Block) -> Sums:
            part = v[block.start : block.start + block.n_rows] * _root(block)
            return Sums(parts=(block.X.T @ part - x_mean * part.sum(),))

        return source.reduce(pull_back).parts[0]

    return product, adjoint


def _of_few_entries(source: InMemory, x_mean: Array) -> Products:
    rows = source.X.astype(np.float64, copy=False)  # else every product would convert them
    columns = rows.T
    if source.weight is None:
        return (
            lambda u: rows @ u - x_mean @ u,
            lambda v: columns @ v - x_mean * v.sum(),
        )
    root = np.sqrt(source.weight)

    def adjoint(v: Array) -> Array:
        part = root * v
        return columns @ part - x_mean * part.sum()

    return lambda u: root * (rows @ u - x_mean @ u), adjoint


def _root(block: Block) -> Array:
    return np.sqrt(block.row_weights)


def _columns(block: Block) -> Array:
    return block.targets if block.targets.ndim == 2 else block.targets[:, None]
