"""Pairwise ascent on the dual of cutting planes, in plain NumPy."""

import numpy as np


def pairwise_ascent(psi, delta, a, starts, shares, alpha, w, passes):
    """Move weight from the worst plane with weight to the best one, term by term."""
    a, w = a.copy(), w.copy()
    for _ in range(passes):
        gap = 0.0
        for term, share in enumerate(shares):
            rows = np.arange(starts[term], starts[term + 1])
            values = delta[rows] - psi[rows] @ w
            gap += share * (values.max() - a[rows] @ values)
            to, away = rows[values.argmax()], rows[np.where(a[rows] > 0, values, np.inf).argmin()]
            gain = values.max() - (delta[away] - psi[away] @ w)
            if to == away or gain <= 1e-15 * (1 + abs(values.max())):
                continue
            direction = psi[to] - psi[away]
            step = min(alpha * gain / (share * direction @ direction), a[away])
            a[to], a[away] = a[to] + step, a[away] - step
            w += share * step / alpha * direction
    return a, w, gap
