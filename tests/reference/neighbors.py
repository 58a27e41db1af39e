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
