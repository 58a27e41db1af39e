"""Many small weighted least-squares problems at once, solved for one prediction each.

A linear prediction is ŷ(x) = Σ_i l_i y_i with l_i = g_i zᵀφ_i and z = (A + Λ)⁺ e. Here
A = Σ_i g_i φ_i φ_iᵀ, Λ holds the penalties, and e = φ(x). Everything follows from z: the prediction
zᵀB, the weight of a row in its own prediction, and the variance. The intercept is eliminated first,
so that neither the penalty nor the minimum norm concerns it.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

WELL_CONDITIONED = 1e-6
"""Ratio of eigenvalues of A from which it is as good as the rows themselves, to ten digits."""
RANK = 1e-6
"""Ratio of singular values of the rows below which a direction is not determined."""
LEAST_SQUARE = 1e-280


def solve_moments(a: Array, penalty: Array, at: Array | None) -> tuple[Array, Array]:
    """z of every query from its moments, (m, p), and which of them are accurate.

    `a` has shape (m, p, p) with the constant first. `at` is e without its constant, (m, p − 1), for
    a model without intercept; None for one with intercept whose features are 0 at the query.
    """
    m, p = a.shape[:2]
    z, total = np.zeros((m, p)), a[:, 0, 0]
    if p == 1:
        z[:, 0] = 1 / total
        return z, np.ones(m, dtype=bool)
    gram, right = a[:, 1:, 1:], at
    raw = np.einsum("mii->mi", gram).copy()
    if right is None:
        mean = a[:, 0, 1:] / total[:, None]
        gram = gram - a[:, 0, 1:, None] * mean[:, None, :]
        right = -mean
    diagonal = np.einsum("mii->mi", gram)
    # Below, differences are rounding; squares of tiny numbers have few digits.
    kept = diagonal + penalty > np.maximum(WELL_CONDITIONED * raw, LEAST_SQUARE)
    scale = 1 / np.sqrt(np.where(kept, diagonal + penalty, 1.0))
    scaled = gram * scale[:, :, None] * scale[:, None, :]
    scaled[:, np.arange(p - 1), np.arange(p - 1)] += penalty * scale**2
    usable = np.isfinite(scaled).all(axis=(1, 2)) & kept.all(axis=1)
    scaled[~usable] = np.eye(p - 1)
    values, vectors = np.linalg.eigh(scaled)
    # What is lost by centring comes on top of what is lost by small eigenvalues.
    left = np.where(kept, (diagonal + penalty) / np.where(kept, raw + penalty, 1.0), 0.0).min(
        axis=1
    )
    accurate = usable & (values[:, 0] * left > WELL_CONDITIONED * values[:, -1])
    values = np.where(accurate[:, None], values, 1.0)
    found = np.einsum("mji,mj->mi", vectors, right * scale) / values
    z[:, 1:] = np.einsum("mij,mj->mi", vectors, found) * scale
    if at is None:
        z[:, 0] = 1 / total - np.einsum("mi,mi->m", mean, z[:, 1:])
    return z, accurate


def solve_rows(phi: Array, g: Array, penalty: Array, at: Array | None) -> tuple[Array, float]:
    """l of one query from its rows, by a singular value decomposition of minimum norm.

    Also returns l_i/g_i of a row at the query. The norm is that of slopes in units of the local
    deviation of their feature.
    """
    root, total = np.sqrt(g), g.sum()
    design, right = phi[:, 1:], at
    if right is None:
        # A row that outweighs all others lies next to the mean: differences from it are exact.
        heaviest = design[np.argmax(g)]
        design = design - heaviest
        offset = g @ design / total
        design, right = design - offset, -(heaviest + offset)
    design = root[:, None] * design
    size = np.sqrt((design**2).sum(axis=0) + penalty)
    # A feature that varies by rounding alone is a constant.
    floor = np.maximum(1e-14 * np.sqrt(g @ phi[:, 1:] ** 2), np.sqrt(LEAST_SQUARE))
    scale = np.where(size > floor, 1 / np.where(size > floor, size, 1.0), 0.0)
    design = np.vstack([design * scale, np.diag(np.sqrt(penalty) * scale)])
    left, singular, vectors = np.linalg.svd(design, full_matrices=False)
    few = singular > RANK * singular.max(initial=0.0)
    parts = (vectors[few] @ (scale * right)) / singular[few]
    weights, own = root * (left[: len(g), few] @ parts), float(parts @ parts)
    return (weights + g / total, own + 1 / float(total)) if at is None else (weights, own)
