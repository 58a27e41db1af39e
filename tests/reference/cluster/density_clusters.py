"""DBSCAN in a few lines of NumPy."""

import numpy as np


def density_clusters(distances, radius, least, weight=None):
    """Labels and core rows, by walks from one core row to the next."""
    n = len(distances)
    weight = np.ones(n) if weight is None else weight
    near = distances <= radius
    core = (near @ weight >= least) & (weight > 0)
    labels, count = np.full(n, -1), 0
    for first in range(n):
        if not core[first] or labels[first] >= 0:
            continue
        open_rows = [first]
        while open_rows:
            row = open_rows.pop()
            if labels[row] < 0:
                labels[row] = count
                open_rows.extend(np.flatnonzero(near[row]) if core[row] else [])
        count += 1
    return labels, core
