"""Plain versions of the compiled kernels of t-SNE."""

import numpy as np
from scipy.optimize import brentq


def perplexity_weights(distance, perplexity):
    """The width of every row by a root search over log β."""
    out = np.empty_like(distance)
    for row, d in zip(out, distance**2, strict=True):

        def weights(log_beta, d=d):
            w = np.exp(-np.exp(log_beta) * (d - d.min()))
            return w / w.sum()

        def off(log_beta, weights=weights):
            p = weights(log_beta)
            p = p[p > 0]
            return -(p @ np.log(p)) - np.log(perplexity)

        row[:] = weights(brentq(off, -30, 30, xtol=1e-14))
    return out


def divergence(P, z, freedom):
    """Σ p log(p/q) over all pairs with p > 0, and its gradient by the formula."""
    gap = z[:, None] - z
    w = 1 / (1 + (gap**2).sum(axis=2) / freedom)
    s = w ** ((freedom + 1) / 2)
    np.fill_diagonal(s, 0.0)
    Q = s / s.sum()
    known = P > 0
    value = float((P[known] * np.log(P[known] / Q[known])).sum())
    factor = 2 * (freedom + 1) / freedom
    return value, factor * (((P - Q) * w)[:, :, None] * gap).sum(axis=1)
