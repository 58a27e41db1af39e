"""Plain twins of the bins of native/trees/bins.cpp."""

import numpy as np


def quantile_cuts(values, weight, max_bins):
    """Heavy values alone, the others by equal shares from below; few values each alone."""
    distinct = np.unique(values)
    weights = np.array([weight[values == value].sum() for value in distinct])
    heavy = np.zeros(len(distinct), dtype=bool)
    bins = max_bins  # for the others
    while bins > 1:
        found = np.flatnonzero(~heavy & (weights > weights[~heavy].sum() / bins))[: bins - 1]
        if not len(found):
            break
        heavy[found] = True
        bins -= len(found)
    cuts, start = [], 0
    for left in range(max_bins, 1, -1):
        rest = weights[start:]
        if len(rest) <= 1:
            break
        end = 1
        if not heavy[start]:
            if len(rest) > left:
                stop = np.flatnonzero(heavy[start:])
                stop = min(stop[0] if len(stop) else len(rest), len(rest) - 1)
                off = np.abs(np.cumsum(rest[:stop]) - rest[~heavy[start:]].sum() / bins)
                end = stop - int(np.argmin(off[::-1]))  # of two as near, the wider bin
            bins = max(1, bins - 1)
        low, high = distinct[start + end - 1], distinct[start + end]
        middle = low + (high / 2 - low / 2)
        cuts.append(middle if low <= middle < high else low)
        start += end
    return np.array(cuts)


def codes(column, cuts):
    """Number of cuts < x; missing: one more than the cuts can count."""
    found = (cuts[None, :] < column[:, None]).sum(axis=1)
    return np.where(np.isnan(column), len(cuts) + 1, found)
