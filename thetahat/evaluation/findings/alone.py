"""How well one column alone predicts the target, by any shape, without fitting a model.

Each row is predicted from other rows with the same value of the column or, where few have it, also
from those with the next smaller and the next larger value. The result is the share of variance of
the target (or of the indicators of its classes) that these predictions explain.
"""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.findings.table import CheckedColumn
from thetahat.foundation.types import Array

ENOUGH = 5
"""Rows with the same value from which values beside it are not used."""


def explained_alone(column: CheckedColumn, response: Array) -> float:
    """Share of variance explained, at most 1; negative where the column does not help."""
    codes, n_codes = column.coded
    return explained_by_codes(codes, n_codes, response, ordered=column.is_number)


def explained_by_codes(codes: Array, n_codes: int, response: Array, *, ordered: bool) -> float:
    """The same for codes of values; those beside each other are used if they are `ordered`."""
    n = len(codes)
    if n < 3 or n_codes < 2:
        return 0.0
    total = ((response - response.mean(axis=0)) ** 2).sum()
    if not total > 0 or not np.isfinite(total):
        return 0.0
    counts = np.bincount(codes, minlength=n_codes).astype(np.float64)
    off = 0.0
    for y in response.T:
        sums = np.bincount(codes, y, minlength=n_codes)
        other_counts, other_sums = counts[codes] - 1.0, sums[codes] - y
        if ordered:
            wide_counts, wide_sums = counts.copy(), sums.copy()
            for some, values in ((wide_counts, counts), (wide_sums, sums)):
                some[1:] += values[:-1]
                some[:-1] += values[1:]
            few = counts < ENOUGH
            other_counts += np.where(few, wide_counts - counts, 0.0)[codes]
            other_sums += np.where(few, wide_sums - sums, 0.0)[codes]
        mean = (y.sum() - y) / (n - 1)
        predicted = np.where(other_counts > 0, other_sums / np.maximum(other_counts, 1.0), mean)
        off += ((y - predicted) ** 2).sum()
    return float(1.0 - off / total)
