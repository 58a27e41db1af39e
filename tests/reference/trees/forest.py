"""Plain twins of the kernels that grow forests."""

from itertools import pairwise

import numpy as np

MASK = (1 << 64) - 1


def uniforms(seed):
    """The uniform numbers that decide which rows a tree draws."""
    counter = seed ^ 0xD1B54A32D192ED03
    while True:
        counter = (counter + 0x9E3779B97F4A7C15) & MASK
        bits = counter
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
        bits ^= bits >> 31
        yield (bits >> 11) * 2.0**-53


def drawn_counts(seed, draws, weight, n):
    """How often each row is drawn: the first whose cumulative weight exceeds u·W."""
    cumulative = np.cumsum(np.ones(n) if weight is None else weight)
    counts = np.zeros(n, dtype=np.uint32)
    for _, u in zip(range(draws), uniforms(seed), strict=False):
        counts[np.searchsorted(cumulative, u * cumulative[-1], side="right")] += 1
    return counts


def distinct_rows(seed, draws, weight, n):
    """1 for the rows that are drawn without replacement among those of positive weight."""
    rows = np.arange(n) if weight is None else np.flatnonzero(weight)
    counts = np.zeros(n, dtype=np.uint32)
    for left, row, u in zip(range(len(rows), 0, -1), rows, uniforms(seed), strict=False):
        counts[row] = u < (draws - counts.sum()) / left
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
