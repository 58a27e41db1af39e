"""An approximate Hessian of the risk, factored once: the curvature of a sample of the rows.

With one score per row it is Σ wω x̃x̃ᵀ/Σw over every s-th row, with ω = ∂²ℓ/∂z². With several scores,
if the whole Hessian is too large, one such matrix is used for every class, with ω the mean
curvature of the row's scores. The softmax justifies this: its Hessian in z is diag(p) − ppᵀ, which
is ω(I − 11ᵀ/C) on average, and slopes sum to 0 over the classes (Böhning). If this is too rough
(more rows are requested than exist), the whole Hessian of some rows is formed.

Rows of weight 0 are not sampled. If a column is zero in the sample but not in the data, all rows
are used. The sample is not random, so that it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.base import Curved
from thetahat.objective.predictor import LinearInParameters
from thetahat.objective.sums import Sums, hessian_sums

LARGEST_JOINT = 500
"""Parameters of several scores up to which their whole Hessian is formed."""
LARGEST_RETRY = 1000
"""The same if one matrix for all classes was too rough."""
RETRY_ROWS = 10
"""Rows per parameter from which that Hessian is formed."""
SHARED_BY = 5
"""Factor by which fewer rows are used for the matrix of all classes, which is rough anyway."""
FIRST_ROWS = 64
"""Rows in which columns are searched for an entry first."""
RIDGE = 1e-10
"""Added to the unit diagonal of the scaled matrix, so that it is positive definite."""


def sketch_of(
    source: InMemory,
    predictor: LinearInParameters,
    loss: Curved,
    penalty_curvature: Array,
    theta: Array,
    n_rows: int,
) -> Callable[[Array], Array]:
    """slope ↦ H⁻¹·slope, with H the curvature at θ of about `n_rows` rows and the penalty's."""
    k = predictor.n_outputs
    if k and n_rows > source.n_rows and LARGEST_JOINT < predictor.n_parameters <= LARGEST_RETRY:
        n_rows = RETRY_ROWS * predictor.n_parameters
        k = 0
    if not k or predictor.n_parameters <= LARGEST_JOINT:
        sample = _sample(source, n_rows)
        (hessian,) = sample.reduce(hessian_sums, predictor, loss, theta).means()
        return _solver(hessian + np.diag(penalty_curvature))
    sample = _sample(source, min(n_rows, source.n_rows) // (SHARED_BY * k))
    (hessian,) = sample.reduce(_shared_sums, predictor, loss, theta).means()
    shared = penalty_curvature.reshape(-1, k).mean(axis=1)
    solve = _solver(hessian + np.diag(shared))
    return lambda slope: solve(slope.reshape(-1, k)).reshape(-1)


def _shared_sums(block: Block, predictor: LinearInParameters, loss: Curved, theta: Array) -> Sums:
    """Σ wω x̃x̃ᵀ, with ω the sum of the curvatures of the row's C scores, divided by C − 1."""
    z = predictor.raw(block.X, theta)
    curvature = loss.curvature(block.targets, z).sum(axis=1) / max(1, z.shape[1] - 1)
    weight = block.row_weights
    return Sums(float(weight.sum()), (predictor.gram(block.X, weight * curvature),))


def _sample(source: InMemory, n_rows: int) -> InMemory:
    counted = source.n_rows if source.weight is None else np.flatnonzero(source.weight > 0)
    total = counted if isinstance(counted, int) else len(counted)
    step = total // max(1, n_rows)
    if step < 2:
        return source
    rows: Any = (
        slice(step // 2, None, step) if isinstance(counted, int) else counted[step // 2 :: step]
    )
    sample = source.take(rows)
    missed = _empty_columns(sample.X)
    if missed.size and _empty_columns(source.X[:, missed]).size < missed.size:
        return source
    return sample


def _empty_columns(X: Matrix) -> Array:
    if isinstance(X, np.ndarray):
        empty = np.flatnonzero(~X[:FIRST_ROWS].any(axis=0))  # most columns end here
        return empty[~X[:, empty].any(axis=0)]
    return np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == 0)


def _solver(hessian: Array) -> Callable[[Array], Array]:
    """H⁻¹ by Cholesky of H scaled to a unit diagonal; columns of zeros are not scaled."""
    cho_factor, cho_solve = scipy_linalg().cho_factor, scipy_linalg().cho_solve

    size = np.sqrt(np.diagonal(hessian))
    scale = np.where(size > 0, size, size.max() or 1.0)
    scaled = hessian / scale / scale[:, None]
    with one_blas_thread():
        ridge = RIDGE
        while True:
            np.fill_diagonal(scaled, 1.0 + ridge)
            try:
                factor = cho_factor(scaled, lower=True, check_finite=False)
                break
            except np.linalg.LinAlgError:
                ridge *= 100.0

    def solve(slope: Array) -> Array:
        per = scale if slope.ndim == 1 else scale[:, None]
        with one_blas_thread():
            return cho_solve(factor, slope / per, check_finite=False) / per

    return solve
