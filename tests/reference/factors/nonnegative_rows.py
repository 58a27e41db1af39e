"""Non-negative factors row by row, in plain NumPy."""

import numpy as np


def nonnegative_sweeps(gram, cross, order, sweeps, rows):
    """Sweeps over the coordinates of every row, and Σ |projected gradient| of the first."""
    rows, violation = rows.copy(), 0.0
    for w, c in zip(rows, cross, strict=True):
        for number in range(sweeps):
            for t in order:
                slope = gram[t] @ w - c[t]
                if number == 0:
                    violation += abs(slope if w[t] > 0 else min(slope, 0.0))
                if gram[t, t] > 0:
                    w[t] = max(w[t] - slope / gram[t, t], 0.0)
    return rows, violation


def sparse_divergence(X, left, right, beta, floor):
    """Σ_j x_j p_j^(β − 2) h_j of every row, and the part of the divergence where x > 0."""
    product = np.maximum(left @ right.T, floor)
    numerator = (X * product ** (beta - 2.0)) @ right
    x, p = X[X > 0], product[X > 0]
    if beta == 1:
        return numerator, (x * np.log(x / p)).sum()
    if beta == 0:
        return numerator, (x / p - np.log(x / p)).sum()
    return numerator, (x * p ** (beta - 1.0)).sum()


def divergence_slopes(x, w, H, beta, l1=0.0, l2=0.0):
    """The derivatives of the β-divergence of x from wH, plus l1·Σw + ½·l2·Σw²."""
    p = w @ H
    return H @ (p ** (beta - 1.0) - x * p ** (beta - 2.0)) + l1 + l2 * w
