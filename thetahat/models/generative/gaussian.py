"""Gaussians with a covariance of any rank: whitening, distances and marginals.

    log N(x; μ, Σ) = −½‖Aᵀ(x − μ)‖² − ½ log det Σ − ½ r log 2π,    AᵀΣA = I

A is d × r for a covariance of rank r. Σ is first divided by the spreads of its columns, so that the
units of the columns have no effect on its rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.products import product
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array

LOG_2PI = float(np.log(2.0 * np.pi))
PANEL = 64
"""Columns of a triangular product that are computed at once."""


@dataclass(frozen=True)
class Whitening:
    """A (d × r), log det Σ over the directions it keeps, the rank of Σ, and the spreads used."""

    root: Array
    log_det: float
    rank: int
    spread: Array | None = None


def least_variance(tol: float, d: int) -> float:
    """Relative variances up to this count as none: tol², but not less than rounding errors."""
    return max(tol * tol, 10.0 * d * EPSILON)


def whitening(covariance: Array, spread: Array, tol: float, *, raised: bool) -> Whitening:
    """Whiten a covariance; directions of relative variance up to tol² are raised or left out.

    A Cholesky factorisation certifies that there are none; otherwise the eigenvalues are computed.
    Cost: O(d³).
    """
    d = covariance.shape[0]
    least = least_variance(tol, d)
    scaled = covariance / spread
    scaled /= spread[:, None]
    lapack = scipy_linalg().lapack
    log_spread = 2.0 * float(np.log(spread).sum())
    factor, failed = lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed:
        inverse, failed = lapack.dtrtri(factor, lower=1)
        # ‖L⁻¹‖² is the sum of the inverse eigenvalues, so it bounds the smallest one.
        if not failed and np.vdot(inverse, inverse) * least <= 1.0:
            root = np.ascontiguousarray(inverse.T / spread[:, None])
            return Whitening(root, 2.0 * float(np.log(factor.diagonal()).sum()) + log_spread, d)
    values, vectors = np.linalg.eigh(scaled)
    kept = values > least
    rank = int(kept.sum())
    if raised:
        values = np.maximum(values, least)
    else:
        values, vectors = values[kept], vectors[:, kept]
    root = vectors / np.sqrt(values) / spread[:, None]
    return Whitening(root, float(np.log(values).sum()) + log_spread, rank, spread)


def diagonal_whitening(variance: Array, spread: Array, tol: float, *, raised: bool) -> Whitening:
    """The same for a diagonal covariance; A is stored as its diagonal (0 where left out)."""
    scaled = variance / spread**2
    kept = scaled > least_variance(tol, 1)
    rank = int(kept.sum())
    if raised:
        scaled = np.maximum(scaled, least_variance(tol, 1))
        kept = np.ones_like(kept)
    root = np.zeros_like(spread)
    root[kept] = 1.0 / (np.sqrt(scaled[kept]) * spread[kept])
    logs = np.log(scaled[kept]).sum() + 2.0 * np.log(spread[kept]).sum()
    return Whitening(root, float(logs), rank)


def whitened(centred: Array, root: Array) -> Array:
    """centred @ root; a diagonal or an upper triangular root saves the products with 0."""
    if root.ndim == 1:
        return centred * root
    d, r = root.shape
    if d < 2 * PANEL or d != r or root[-1, 0] != 0.0 or np.tril(root, -1).any():
        return product(centred, root)
    result = np.empty((centred.shape[0], r))
    for start in range(0, r, PANEL):
        stop = min(r, start + PANEL)
        result[:, start:stop] = product(centred[:, :stop], root[:stop, start:stop])
    return result


def joint_of(
    centred: Array, root: Array, places: Array, weights: Array, priors: Array, log_det: float
) -> Array:
    """log π_c + log N(x; μ_c, Σ), exact also where the means are far apart.

    The distance to the best class is computed directly, and the others from the linear scores.
    """
    scores = product(centred, weights)
    scores += priors - 0.5 * np.einsum("ij,ij->i", places, places)
    lost = np.isnan(scores[:, 0])
    best = np.where(lost, 0, scores.argmax(axis=1))
    rank = int(np.count_nonzero(root)) if root.ndim == 1 else root.shape[1]
    away = whitened(centred, root) - places[best]
    distance = np.einsum("ij,ij->i", away, away)
    own = priors[best] - 0.5 * (distance + log_det + rank * LOG_2PI)
    # Large scores cancel before the density, which is small beside them, is added.
    scores -= scores[np.arange(len(scores)), best][:, None]
    scores += own[:, None]
    return scores


def are_finite(scores: Array) -> bool:
    """Whether all scores are finite; False also if their squares overflow."""
    return isfinite(np.vdot(scores, scores))


def rows_beyond(scores: Array) -> Array:
    """The rows so far from every class that all squared distances overflow, as numbers."""
    return np.flatnonzero(np.isneginf(scores).all(axis=1))


def scores_beyond(squares: Array, size: Array, levels: Array) -> Array:
    """Scores of such rows up to a constant for each, from the squares of rows divided by size."""
    least = np.where(np.isneginf(levels), np.inf, squares).min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        return levels - 0.5 * (squares - least) * size[:, None] * size[:, None]


def unwhitening(root: Array, spread: Array | None = None) -> Array:
    """B (r × d) with Σ = BᵀB, from A and the spreads; a singular Σ needs the latter."""
    if root.shape[0] == root.shape[1]:
        return np.linalg.inv(root)
    if spread is None:
        return np.linalg.pinv(root)
    return np.linalg.pinv(root * spread[:, None]) * spread


def restored(root: Array, spread: Array | None = None) -> Array:
    """Σ = (AAᵀ)⁺, the covariance that A whitens; the variances if A is diagonal."""
    if root.ndim == 1:
        return np.divide(1.0, root**2, out=np.zeros_like(root), where=root > 0)
    with one_blas_thread():
        inverse = unwhitening(root, spread)
        return inverse.T @ inverse


def spread_of(variance: Array) -> Array:
    """√variance, and 1 for columns without variance."""
    spread = np.sqrt(np.maximum(variance, 0.0))
    return np.where(spread > 0, spread, 1.0)


def missing_patterns(rows: Array) -> list[tuple[Array, Array]]:
    """The rows that have the same columns, and these columns, for every set of columns."""
    known = ~np.isnan(rows)
    kinds, which = np.unique(known, axis=0, return_inverse=True)
    which = which.reshape(-1)
    return [(np.flatnonzero(which == k), np.flatnonzero(kind)) for k, kind in enumerate(kinds)]
