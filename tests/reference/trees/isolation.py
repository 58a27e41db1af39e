"""Isolation trees in plain Python, with the random numbers of the compiled kernel."""

import math

import numpy as np

MASK = (1 << 64) - 1


class Random:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        bits = self.state
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
        return bits ^ (bits >> 31)

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32


def mean_path(n):
    if n <= 2:
        return float(n == 2)
    return 2 * (math.log(n - 1) + 0.57721566490153286) - 2 * (n - 1) / n


def splits(values):
    """Whether the values differ, or some are missing and some are not."""
    known = values[~np.isnan(values)]
    return len(known) > 0 and (known.min() < known.max() or len(known) < len(values))


def grow(x, names, seed, max_depth):
    """The nodes [column, threshold, missing_left, child], and per leaf its length and rows."""
    random = Random(seed)
    columns = [place for place, name in enumerate(names) if splits(x[:, name])]
    nodes, spans = [None], [(np.arange(len(x)), 0, 0)]
    stack = [0]
    while stack:
        node = stack.pop()
        rows, depth, constants = spans[node]
        found = None
        while depth < max_depth and len(rows) > 1 and constants < len(columns):
            place = constants + random.below(len(columns) - constants)
            values = x[rows, names[columns[place]]]
            if splits(values):
                known = values[~np.isnan(values)]
                found = place, values, known, len(values) - len(known)
                break
            columns[place], columns[constants] = columns[constants], columns[place]
            constants += 1
        if found is None:
            continue
        place, values, known, missing = found
        threshold, missing_left = known.min(), False
        if known.min() < known.max():
            u = random.uniform()
            drawn = known.min() * (1.0 - u) + known.max() * u
            threshold = drawn if known.min() <= drawn < known.max() else threshold
            missing_left = bool(missing and random.below(2))
        left = np.where(np.isnan(values), missing_left, values <= threshold)
        if not missing:
            missing_left = left.sum() > (~left).sum()
        nodes[node] = [int(names[columns[place]]), threshold, bool(missing_left), len(nodes)]
        stack += [len(nodes) + 1, len(nodes)]
        nodes += [None, None]
        spans += [(rows[left], depth + 1, constants), (rows[~left], depth + 1, constants)]
    leaves = [spans[node] for node, split in enumerate(nodes) if split is None]
    return nodes, [(depth + mean_path(len(rows)), len(rows)) for rows, depth, _ in leaves]
