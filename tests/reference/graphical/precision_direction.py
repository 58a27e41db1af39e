"""A plain twin of the Newton direction of the graphical lasso: coordinate descent, pair by pair."""

import numpy as np


def precision_direction(S, Q, W, alpha, sweeps=2000):
    """The minimum D of tr((S − W)D) + ½tr(WDWD) + α Σ_{i≠j} |q_ij + d_ij| over the free pairs."""
    D = np.zeros_like(Q)
    free = (Q != 0) | (np.abs(S - W) > alpha) | np.eye(len(Q), dtype=bool)
    for _ in range(sweeps):
        for i, j in np.argwhere(np.triu(free)):
            slope = S[i, j] - W[i, j] + W[i] @ D @ W[j]
            curvature = W[i, i] * W[j, j] + (W[i, j] ** 2 if i != j else 0.0)
            at = Q[i, j] + D[i, j]
            pull = at - slope / curvature
            threshold = alpha / curvature if i != j else 0.0
            D[i, j] = D[j, i] = np.sign(pull) * max(abs(pull) - threshold, 0.0) - Q[i, j]
    return D


def model_value(S, Q, W, alpha, D):
    """The model of the objective at a direction."""
    penalty = np.abs(Q + D).sum() - np.abs(np.diag(Q + D)).sum()
    return np.sum((S - W) * D) + np.trace(W @ D @ W @ D) / 2 + alpha * penalty
