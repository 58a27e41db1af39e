"""Probabilities from the scores of support vector machines: Platt's sigmoid, and pairs of classes.

Platt: P(y = 1 | f) = 1/(1 + e^{A·f + B}), where A and B minimise the cross-entropy of scores that
were computed by cross-validation. More than two classes are coupled by the second method of Wu, Lin
and Weng (2004): argmin over p of Σ_i Σ_{j≠i} (r_ji·p_i − r_ij·p_j)² with Σp = 1.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

STEPS = 100
SMALLEST_PROBABILITY = 1e-7


def fit_sigmoid(scores: Array, positive: Array, weight: Array) -> tuple[float, float]:
    """A and B of Platt's sigmoid, by Newton's method with halved steps (Lin, Lin, Weng 2007).

    The targets are (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) instead of 1 and 0.
    """
    above, below = float(weight[positive].sum()), float(weight[~positive].sum())
    targets = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    A, B = 0.0, float(np.log((below + 1) / (above + 1)))
    value = _cross_entropy(A * scores + B, targets, weight)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(np.clip(A * scores + B, -700, 700)))
        slope = weight * (targets - p)
        bend = weight * p * (1 - p)
        g = np.array([slope @ scores, slope.sum()])
        if np.abs(g).max() < 1e-8 * max(1.0, weight.sum()):
            break
        cross = bend @ scores
        H = np.array([[bend @ scores**2 + 1e-12, cross], [cross, bend.sum() + 1e-12]])
        step = -np.linalg.solve(H, g)
        size = 1.0
        while size >= 1e-10:
            moved = A + size * step[0], B + size * step[1]
            new = _cross_entropy(moved[0] * scores + moved[1], targets, weight)
            if new < value + 1e-4 * size * float(g @ step):
                break
            size /= 2
        else:
            break
        (A, B), value = moved, new
    return float(A), float(B)


def _cross_entropy(z: Array, targets: Array, weight: Array) -> float:
    """Σ w·(t·z + log(1 + e^{−z})), for P = 1/(1 + e^z)."""
    return float(weight @ (targets * z + np.logaddexp(0.0, -z)))


def sigmoid(scores: Array, A: Array, B: Array) -> Array:
    """P(first class of the pair), away from 0 and 1."""
    found = 1 / (1 + np.exp(np.clip(scores * A + B, -700, 700)))
    return np.clip(found, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)


def coupled(pairs: Array, n_classes: int) -> Array:
    """Probabilities of the classes from those of all pairs, of shape (n, k·(k−1)/2).

    Column (i, j), i < j, has P(i | i or j). The minimum solves a linear system of k + 1 equations
    for each row.
    """
    n, k = len(pairs), n_classes
    r = np.zeros((n, k, k))
    first, second = np.triu_indices(k, 1)
    r[:, first, second] = pairs
    r[:, second, first] = 1 - pairs
    Q = -np.swapaxes(r, 1, 2) * r
    diagonal = np.einsum("nji,nji->ni", r, r)
    Q[:, np.arange(k), np.arange(k)] = diagonal
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k] = Q
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return found / found.sum(axis=1, keepdims=True)
