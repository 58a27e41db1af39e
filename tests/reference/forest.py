"""Plain twins of the kernels that grow forests."""

from itertools import pairwise

import numpy as np

MASK = (1 << 64) - 1


def drawn_counts(seed, draws, weight, n):
    """How often each row is drawn: the first whose cumulative weight exceeds u·W."""
    counter = seed ^ 0xD1B54A32D192ED03
    cumulative = np.cumsum(np.ones(n) if weight is None else weight)
    counts = np.zeros(n, dtype=np.uint32)
    for _ in range(draws):
        counter = (counter + 0x9E3779B97F4A7C15) & MASK
        bits = counter
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
        bits ^= bits >> 31
        place = (bits >> 11) * 2.0**-53 * cumulative[-1]
        counts[np.searchsorted(cumulative, place, side="right")] += 1
    return counts


def grow(X, y, weight, min_leaf, depth):
    """The best tree of squared errors, as nested pairs: (column, threshold, left, right) or a mean.

    Every column and every midpoint is tried; the least Σ w·(y − mean)² wins.
    """
    mean = np.average(y, weights=weight)
    if depth == 0 or np.ptp(y) == 0.0:
        return mean
    best = (np.inf, None, None)
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in pairwise(values):
            left = X[:, j] <= low
            if min(left.sum(), (~left).sum()) < min_leaf:
                continue
            cost = sum(
                np.sum(weight[side] * (y[side] - np.average(y[side], weights=weight[side])) ** 2)
                for side in (left, ~left)
            )
            best = min(best, (cost, j, low + (high / 2 - low / 2)))
    cost, column, threshold = best
    if column is None:
        return mean
    left = X[:, column] <= threshold
    return (
        column,
        threshold,
        grow(X[left], y[left], weight[left], min_leaf, depth - 1),
        grow(X[~left], y[~left], weight[~left], min_leaf, depth - 1),
    )


def answer(tree, row):
    """What a tree of `grow` says of a row."""
    while isinstance(tree, tuple):
        column, threshold, left, right = tree
        tree = left if row[column] <= threshold else right
    return tree
