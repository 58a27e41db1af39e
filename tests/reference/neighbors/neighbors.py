"""Nearest rows, plainly: all distances, sorted by (distance, row)."""

import numpy as np

from thetahat.mathematics.distances.base import reduced_distances


def nearest(queries, rows, k, order=2.0):
    """Reduced distances and numbers of the k nearest rows of every query."""
    distance = reduced_distances(queries, rows, order)
    row = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distance, row, axis=1), row


def within(queries, rows, radius, order=2.0):
    """Counts, numbers and reduced distances of the rows within a radius, by row number."""
    distance = reduced_distances(queries, rows, order)
    near = distance <= radius
    return near.sum(axis=1), np.nonzero(near)[1], distance[near]


def moments(distances, widths, reach, kernel, weights, values, phi, squared=False):
    """A = Σ g φφᵀ and B = Σ g φvᵀ of every query, with φ of shape (n_queries, n_rows, p)."""
    scaled = np.where(distances == 0, 0.0, distances / widths[:, None])
    g = np.where(scaled <= reach, kernel.value(scaled), 0.0)
    g = weights * (g * g if squared else g)
    return (
        np.einsum("mn,mnk,mnl->mkl", g, phi, phi),
        np.einsum("mn,mnk,nt->mkt", g, phi, values),
    )


def log_density_sums(distances, kernel, width, weights):
    """log Σ_i w_i K(d_i/h) of every query, by adding all rows."""
    with np.errstate(divide="ignore"):
        return np.log((weights * kernel.value(distances / width)).sum(axis=1))
