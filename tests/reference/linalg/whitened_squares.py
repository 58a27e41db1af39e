"""Squared whitened distances and quadratic forms, class by class."""

import numpy as np


def whitened_squares(x, centre, scale, roots, offsets):
    moved = (x - centre) * scale
    pairs = zip(roots, offsets, strict=True)
    squares = [((moved @ root - offset) ** 2).sum(axis=1) for root, offset in pairs]
    return np.column_stack([*squares, (moved**2).sum(axis=1)])


def quadratic_forms(x, centre, scale, matrices, slopes):
    moved = (x - centre) * scale
    pairs = zip(matrices, slopes, strict=True)
    forms = [((moved @ matrix - slope) * moved).sum(axis=1) for matrix, slope in pairs]
    return np.column_stack([*forms, (moved**2).sum(axis=1)])
