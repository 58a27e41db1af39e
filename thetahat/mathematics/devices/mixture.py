"""One pass of expectation-maximisation over rows on a device, for all components at once.

Differences x − μ_k, their products with the factors P_k and the weighted sums of squares are
batched products of shape (k, rows, d), in blocks of rows that fit into the memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import like, to_host
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.memory import row_blocks

ROWS = 1024
"""Rows of one of the products that sum up covariances."""
Terms = tuple[Array, Array, Array]
"""Log-scales (k,), means (k, d) and factors (k·d, d) or, for diagonals, (k, d), on the host."""


def log_joint(X: Array, terms: Terms) -> Iterator[tuple[slice, Array, Array]]:
    """For blocks of rows: their place, x − μ_k as (k, rows, d), and log π_k N(x | μ_k, Σ_k)."""
    scale, means, factors = terms
    k, d = means.shape
    xp, diagonal = array_namespace(X), len(factors) == k
    centres = like(means[:, None, :], X)
    roots = like(factors[:, None, :] if diagonal else factors.reshape(k, d, d), X)
    level = like(np.maximum(scale, -1e30)[:, None], X)
    for rows in row_blocks(X, 24 * k * d):
        away = X[rows, :][None, :, :] - centres
        whitened = away * roots if diagonal else xp.matmul(away, roots)
        yield rows, away, level - 0.5 * xp.sum(whitened * whitened, axis=2)


def log_sum(joint: Array) -> Array:
    """log Σ_k exp of every column of (k, rows)."""
    xp = array_namespace(joint)
    top = xp.max(joint, axis=0)
    return top + xp.log(xp.sum(xp.exp(joint - top[None, :]), axis=0))


def mixture_sums(
    X: Array, weight: Array | None, terms: Terms
) -> tuple[float, float, Array, Array, Array]:
    """Log-likelihood, Σ w, Σ wγ, Σ wγ(x − μ) and Σ wγ(x − μ)(x − μ)ᵀ, in float64 on the host.

    Cost: O(n k d²), or O(n k d) for diagonals.
    """
    xp, wide = array_namespace(X), array_namespace(X).float64
    k, d = terms[1].shape
    diagonal = len(terms[2]) == k
    value = xp.zeros((), dtype=wide, device=device(X))
    count = xp.zeros((k,), dtype=wide, device=device(X))
    first = xp.zeros((k, d), dtype=wide, device=device(X))
    second = xp.zeros((k, d) if diagonal else (k, d, d), dtype=wide, device=device(X))
    for rows, away, joint in log_joint(X, terms):
        logs = log_sum(joint)
        shares = xp.exp(joint - logs[None, :])
        logs = xp.astype(logs, wide)
        if weight is not None:
            shares = shares * weight[rows][None, :]
            logs = logs * xp.astype(weight[rows], wide)
        value = value + xp.sum(logs)
        count += xp.astype(xp.sum(shares, axis=1), wide)
        heavy = away * shares[:, :, None]
        first += xp.astype(xp.sum(heavy, axis=1), wide)
        if diagonal:
            second += xp.astype(xp.sum(heavy * away, axis=1), wide)
        else:
            second += xp.astype(_products(heavy, away), wide)
    total = float(X.shape[0]) if weight is None else float(xp.sum(xp.astype(weight, wide)))
    sums = (np.array(to_host(each), dtype=np.float64) for each in (count, first, second))
    return (float(value), total, *sums)  # type: ignore[return-value]


def _products(heavy: Array, away: Array) -> Array:
    """Σ heavyᵀ·away of every component, (k, d, d), as a sum of products of few rows.

    A GPU computes many small products faster than a few of many rows.
    """
    xp, (k, n, d) = array_namespace(away), away.shape
    whole = n // ROWS * ROWS
    left, right = (xp.reshape(each[:, :whole, :], (-1, ROWS, d)) for each in (heavy, away))
    found = xp.matmul(xp.matrix_transpose(left), right)
    found = xp.sum(xp.reshape(found, (k, -1, d, d)), axis=1)
    if whole < n:
        rest = xp.matrix_transpose(heavy[:, whole:, :])
        found = found + xp.matmul(rest, away[:, whole:, :])
    return found
