"""Plain twins of the density kernels: cells as lists of rows, gains as their formulas say."""

import numpy as np


def log_volume(low, high):
    return float(np.log(high - low).sum())


def entropy(rows, weight, prior, full=True):
    """½ log det Σ of standardised rows, Σ = (scatter + prior·I) / (N + prior)."""
    mean = np.average(rows, axis=0, weights=weight)
    scatter = ((rows - mean) * weight[:, None]).T @ (rows - mean)
    sigma = (scatter + prior * np.eye(rows.shape[1])) / (weight.sum() + prior)
    return 0.5 * np.linalg.slogdet(sigma if full else np.diag(np.diag(sigma)))[1]


def gain(criterion, x, standard, weight, total, low, high, feature, threshold, prior, full=True):
    """g of one split of a cell, as in its formula, and what it counts for in the whole."""
    left = x[:, feature] <= threshold
    n, n_left = weight.sum(), weight[left].sum()
    if criterion == "entropy":
        h = [entropy(standard[side], weight[side], prior, full) for side in (left, ~left)]
        whole = entropy(standard, weight, prior, full)
        g = whole - n_left / n * h[0] - (1 - n_left / n) * h[1]
        return g, g * n / total
    volume = np.exp(log_volume(low, high))
    part = (threshold - low[feature]) / (high[feature] - low[feature])
    if criterion == "uniformity":
        g = abs(n_left / n - part)
        return g, g * n / total
    p = n / total / volume
    p_left = n_left / total / (volume * part)
    p_right = (n - n_left) / total / (volume * (1 - part))
    g = p_left**2 * volume * part + p_right**2 * volume * (1 - part) - p**2 * volume
    return g, g


def thresholds(values, low, high):
    """Middles between neighbouring values, the borders among them, where both sides have width."""
    points = np.unique(np.concatenate([[low], values, [high]]))
    return [t for t in (points[1:] + points[:-1]) / 2 if low < t < high]


def grow_density(x, weight, low, high, criterion, min_weight, max_leaves, prior=1.0, full=True):
    """Best-first growth by trying everything: [(feature, threshold, g)] in the order of splits."""
    mean = np.average(x, axis=0, weights=weight)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight))
    standard, total = (x - mean) / scale, weight.sum()

    def best(rows, low, high):
        found = None
        for feature in range(x.shape[1]):
            if criterion == "entropy":
                values = np.unique(x[rows, feature])
                candidates = list((values[1:] + values[:-1]) / 2)
            else:
                candidates = thresholds(x[rows, feature], low[feature], high[feature])
            for t in candidates:
                left = weight[rows][x[rows, feature] <= t].sum()
                if min(left, weight[rows].sum() - left) < min_weight:
                    continue
                cell = x[rows], standard[rows], weight[rows], total, low, high
                g, order = gain(criterion, *cell, feature, t, prior, full)
                if g > 0.0 and (found is None or order > found[0] + 1e-12):
                    found = (order, feature, t, g)
        return found

    everything = np.arange(x.shape[0])
    leaves = [(everything, low, high, best(everything, low, high))]
    splits = []
    while len(leaves) < max_leaves:
        open_leaves = [leaf for leaf in leaves if leaf[3] is not None]
        if not open_leaves:
            break
        rows, low, high, (_, feature, t, g) = max(open_leaves, key=lambda leaf: leaf[3][0])
        leaves = [leaf for leaf in leaves if leaf[0] is not rows]
        splits.append((feature, t, g))
        goes_left = x[rows, feature] <= t
        below, above = high.copy(), low.copy()
        below[feature] = above[feature] = t
        for side, a, b in ((rows[goes_left], low, below), (rows[~goes_left], above, high)):
            leaves.append((side, a, b, best(side, a, b) if side.size else None))
    return splits


def gaussian_leaves(x, leaf, means, factors, log_scale):
    """log_scale − ½ (x − μ)ᵀ(LLᵀ)⁻¹(x − μ) of each row's leaf."""
    out = np.full(len(x), -np.inf)
    for i, k in enumerate(leaf):
        if k >= 0:
            y = np.linalg.solve(factors[k], x[i].astype(float) - means[k])
            out[i] = log_scale[k] - 0.5 * y @ y
    return out
