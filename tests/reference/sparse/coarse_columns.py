"""Plain twins of the kernels that keep columns in a byte per entry."""

import numpy as np


def survey_columns(x, mean, weight, r):
    """Squares, slopes, steps and levels of columns that are finite."""
    centred = x.astype(float) - mean
    steps = np.abs(centred).max(axis=0, initial=0.0) / 127
    levels = np.rint(centred / np.where(steps > 0, steps, 1.0)).astype(np.int8)
    return weight @ centred**2, centred.T @ r, steps, np.ascontiguousarray(levels.T)


def slopes_near(x, mean, levels, steps, r, near):
    """Slopes and slack; exact where the coarse ones leave doubt."""
    unit = np.abs(r).max() / 32767
    fine = np.rint(r / unit)
    slopes = steps * unit * (levels.astype(float) @ fine)
    slack = steps * (np.abs(r).sum() + 127 * len(r) * unit) / 2
    open_ = np.abs(slopes) + slack >= near
    exact = (x.astype(float) - mean).T @ r
    return np.where(open_, exact, slopes), np.where(open_, 0.0, slack)
