"""The constrained form of ridge: find the penalty τ with ‖β(τ)‖² = t.

β(τ) minimises ‖y − Xβ‖² + τ‖β‖², over all β or over β ≥ 0. In both cases ‖β(τ)‖² decreases with τ,
so τ is the root of a function of one variable. Over all β this function is Σⱼ cⱼ²/(λⱼ + τ)², with
λ and c from the eigendecomposition of the normal equations; over β ≥ 0 each τ is solved by active
sets, in O(d³).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thetahat.data.summaries.moments import Moments
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

WEAKEST = 80.0
"""The smallest penalty tried is the largest eigenvalue times exp(−this)."""


def ridge_with_norm(about: Moments, bound: float, *, positive: bool = False) -> float:
    """The multiplier τ at which ‖β(τ)‖² = bound; 0 if least squares satisfies the bound."""
    from scipy.optimize import brentq

    d, unit = about.n_features, about.unit
    with one_blas_thread():
        scatter = about.scatter * unit * unit[:, None]
        values, vectors = np.linalg.eigh(scatter[:d, :d])
        inner = vectors.T @ scatter[:d, d:]
    alive = values > d * EPSILON * values[-1]
    values, vectors, inner = values[alive], vectors[:, alive], inner[alive]
    squared_norm = (_non_negative if positive else _free)(values, vectors, inner)
    if squared_norm(0.0) <= bound:
        return 0.0
    low, high = np.log(values[-1]) - WEAKEST, 0.5 * float(np.log((inner**2).sum() / bound))

    def excess(log_ridge: float) -> float:
        return squared_norm(float(np.exp(log_ridge))) - bound

    if excess(low) <= 0:  # the shortest of several solutions satisfies the bound
        return 0.0
    return float(np.exp(brentq(excess, low, high + 1e-9, xtol=1e-14)))


def _free(values: Array, vectors: Array, inner: Array) -> Callable[[float], float]:
    c2 = (inner**2).sum(axis=1)
    return lambda ridge: float((c2 / (values + ridge) ** 2).sum())


def _non_negative(values: Array, vectors: Array, inner: Array) -> Callable[[float], float]:
    from scipy.optimize import nnls

    root = np.sqrt(values)
    triangle, target = root[:, None] * vectors.T, inner / root[:, None]
    d = len(vectors)

    def squared_norm(ridge: float) -> float:
        rows = np.vstack([triangle, np.sqrt(ridge) * np.eye(d)])
        with one_blas_thread():
            return float(
                sum(
                    (nnls(rows, np.concatenate([column, np.zeros(d)]))[0] ** 2).sum()
                    for column in target.T
                )
            )

    return squared_norm
