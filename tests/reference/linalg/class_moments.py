"""Sums of the rows of every class, and densities of diagonal Gaussians, in plain NumPy."""

import numpy as np


def class_moments(x, code, weight, n_classes):
    mean, scatter = np.zeros((2, n_classes, x.shape[1]))
    total = np.zeros(n_classes)
    for c in range(n_classes):
        rows, w = x[code == c].astype(float), weight[code == c]
        total[c] = w.sum()
        if total[c] > 0:
            mean[c] = np.average(rows, axis=0, weights=w)
            scatter[c] = w @ np.square(rows - mean[c])
    return total, mean, scatter


def class_sums(x, code, weight, n_classes):
    return np.array([weight[code == c] @ x[code == c] for c in range(n_classes)])


def diagonal_gaussians(x, mean, factor, constant):
    return constant - np.einsum("ncj,cj->nc", np.square(x[:, None] - mean), factor)
