"""Plain versions of the compiled kernels of embeddings."""

import numpy as np


def shortest_paths(weights):
    """Floyd and Warshall; inf where there is no edge."""
    D = weights.copy()
    np.fill_diagonal(D, 0.0)
    for k in range(len(D)):
        D = np.minimum(D, D[:, k, None] + D[k])
    return D


def guttman_step(delta, z):
    gap = z[:, None] - z
    d = np.sqrt((gap**2).sum(axis=2))
    ratio = np.divide(delta, d, out=np.zeros_like(d), where=d > 0)
    moved = (ratio[:, :, None] * gap).sum(axis=1) / len(z)
    upper = np.triu_indices(len(z), 1)
    return ((delta - d)[upper] ** 2).sum(), (d[upper] ** 2).sum(), moved


def squared_stress(delta, z):
    gap = z[:, None] - z
    off = delta**2 - (gap**2).sum(axis=2)
    np.fill_diagonal(off, 0.0)
    return (off**2).sum(), -8 * (off[:, :, None] * gap).sum(axis=1)


def isotonic(values, weights):
    """f_i = max over a ≤ i of min over b ≥ i of the mean of the values a…b."""
    n = len(values)
    mean = np.array([[np.average(values[a : b + 1], weights=weights[a : b + 1]) if a <= b else 0
                      for b in range(n)] for a in range(n)])  # fmt: skip
    return np.array([max(mean[a, i:].min() for a in range(i + 1)) for i in range(n)])
