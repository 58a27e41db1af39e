"""Walking trees, plainly: one row, one node at a time."""

import itertools

import numpy as np

MISSING_LEFT, CATEGORICAL = 1 << 30, 1 << 29


def leaf(nodes, sets, row):
    """The node at which `row` ends."""
    at = 0
    while nodes["feature"][at] >= 0:
        flags = int(nodes["feature"][at])
        x, threshold = float(row[flags & (CATEGORICAL - 1)]), float(nodes["threshold"][at])
        if np.isnan(x):
            left = bool(flags & MISSING_LEFT)
        elif flags & CATEGORICAL:
            words = sets[int(threshold)]
            seen = 0 <= x < 32 * len(words)
            left = seen and bool(int(words[int(x) // 32]) >> int(x) % 32 & 1)
        else:
            left = x <= threshold
        at = int(nodes["child"][at]) + (not left)
    return at


def sum_of_trees(x, nodes, roots, sets, values, n_columns):
    out = np.zeros((len(x), n_columns))
    for i, row in enumerate(x):
        for t, (start, end) in enumerate(itertools.pairwise(roots)):
            tree = nodes[start:end]
            value = values[tree["child"][leaf(tree, sets, row)]]
            if values.shape[1] == n_columns:
                out[i] += value
            else:
                out[i, t % n_columns] += value[0]
    return out
