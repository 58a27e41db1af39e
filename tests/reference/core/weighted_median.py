"""The plain twin of the weighted median: short, slow and easy to believe."""

import numpy as np


def weighted_median(values, weight, out):
    """The least value of a row with half the weight at or below it."""
    for i, row in enumerate(values[:, : len(weight)]):
        for value in np.sort(row):
            if weight[row <= value].sum() >= 0.5 * weight.sum() or np.isnan(value):
                out[i] = value
                break


def ranked_median(ranks, weight, values, out):
    """As `weighted_median`, of the values that have these ranks."""
    weighted_median(values[ranks.astype(int)], weight, out)
