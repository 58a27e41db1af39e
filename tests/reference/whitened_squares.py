"""Squared whitened distances, class by class."""

import numpy as np


def whitened_squares(x, centre, scale, roots, offsets):
    moved = (x - centre) * scale
    pairs = zip(roots, offsets, strict=True)
    squares = [((moved @ root - offset) ** 2).sum(axis=1) for root, offset in pairs]
    return np.column_stack([*squares, (moved**2).sum(axis=1)])
