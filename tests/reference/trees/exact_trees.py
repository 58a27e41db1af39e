"""The plain twin of exact trees: impurities by their definitions, the best split by trying all."""

import itertools

import numpy as np


def best_constant(criterion, y, w):
    """What a leaf answers, per output: a mean, a median, or class proportions (codes in y)."""
    if criterion == "absolute_error":
        return np.array([weighted_median(column, w) for column in y.T])
    return w @ y / w.sum()


def weighted_median(y, w):
    """The middle of all m with weight ≤ half on either side."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(w[order])
    low = y[order][np.searchsorted(below, 0.5 * below[-1], side="left")]
    high = y[order][min(np.searchsorted(below, 0.5 * below[-1], side="right"), len(y) - 1)]
    return 0.5 * (low + high)


def impurity(criterion, y, w):
    """φ of some rows, averaged over outputs; y (n, outputs) numbers, or (n, outputs, C) 0/1."""
    if y.ndim == 3:
        shares = np.tensordot(w, y, axes=(0, 0)) / w.sum()
        if criterion == "gini":
            return np.mean(1.0 - (shares**2).sum(axis=1))
        if criterion == "error":
            return np.mean(1.0 - shares.max(axis=1))
        logs = np.log2(np.where(shares > 0, shares, 1.0))
        return np.mean(-(shares * logs).sum(axis=1))
    middle = best_constant(criterion, y, w)
    if criterion == "poisson":
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(y > 0, y * np.log(y / middle), 0.0)
    elif criterion == "absolute_error":
        loss = np.abs(y - middle)
    else:
        loss = (y - middle) ** 2
    return np.mean(w @ loss / w.sum())


def gain(criterion, y, w, left):
    """w·φ − w_L·φ_L − w_R·φ_R of a split (Booleans); −∞ if the criterion refuses it."""
    if criterion == "friedman_mse":
        parts = [w[side].sum() for side in (left, ~left)]
        means = [w[side] @ y[side] / w[side].sum() for side in (left, ~left)]
        return parts[0] * parts[1] / w.sum() * np.mean((means[0] - means[1]) ** 2)
    if (
        criterion == "poisson"
        and min((w[side] @ y[side]).min() for side in (left, ~left)) <= 1e-15 * (w @ y).max()
    ):
        return -np.inf
    children = sum(w[side].sum() * impurity(criterion, y[side], w[side]) for side in (left, ~left))
    return w.sum() * impurity(criterion, y, w) - children


def splits(column, categorical, subsets):
    """Every way to divide a column: thresholds or categories, missing values on either side."""
    missing = np.isnan(column)
    values = np.unique(column[~missing])
    if not categorical:
        parts = [column <= value for value in values]
    elif subsets:
        chosen = itertools.chain.from_iterable(
            itertools.combinations(values, size) for size in range(1, len(values) + 1)
        )
        parts = [np.isin(column, some) for some in chosen]
    else:
        parts = [column == value for value in values]
    sides = [missing, np.zeros_like(missing)] if missing.any() else [np.zeros_like(missing)]
    for part, side in itertools.product(parts, sides):
        left = part | side
        if 0 < left.sum() < left.size:
            yield left


def real_share(x, y, w):
    """The share of the differences between the categories of a column that exceeds chance."""
    present = ~np.isnan(x)
    levels = [x[present] == level for level in np.unique(x[present])]
    if len(levels) <= 3:
        return 1.0
    y, w = (y[:, 0, 1] if y.ndim == 3 else y[:, 0])[present], w[present]
    row, mean = (w**2).sum() / w.sum(), np.average(y, weights=w)
    between = sum(w[at].sum() * (np.average(y[at], weights=w[at]) - mean) ** 2 for at in levels)
    total = (w * (y - mean) ** 2).sum()
    k = sum((w[at] ** 2).sum() / w[at].sum() for at in levels) / row  # categories, in rows
    if k <= 3 or between <= 0:
        return 1.0 if k <= 3 else 0.0
    variance = (total - between + k * row * total / (w.sum() - row)) / w.sum()
    return max(0.0, 1 - (k - 3 + np.sqrt(2 * (k - 1))) * row * variance / between)


def best_gain(criterion, X, y, w, categorical, subsets=True, min_leaf=1, min_weight=0.0):
    """The most that any split of these rows gains."""
    found = -np.inf
    for j in range(X.shape[1]):
        share = real_share(X[:, j], y, w) if categorical[j] and subsets else 1.0
        for left in splits(X[:, j], categorical[j], subsets):
            enough = min(left.sum(), (~left).sum()) >= min_leaf
            heavy = min(w[left].sum(), w[~left].sum()) >= min_weight
            if enough and heavy:
                found = max(found, share * gain(criterion, y, w, left))
    return found


def goes_left(tree, node, X):
    """Which rows a node of a grown tree sends left."""
    column = X[:, tree.feature[node]]
    if tree.category_set[node] >= 0:
        words = tree.category_sets[tree.category_set[node]]
        codes = np.where(np.isnan(column), 0, column).astype(int)
        known = codes < 32 * len(words)
        codes = np.where(known, codes, 0)
        left = known & ((words[codes // 32] >> (codes % 32).astype(np.uint32)) & 1).astype(bool)
    else:
        left = column <= tree.threshold[node]
    return np.where(np.isnan(column), bool(tree.missing_left[node]), left)
