"""Checks that two fits can be compared by their likelihoods: same rows, one nested in the other.

A fitted model keeps no rows, but sums over them: Σwx, Σwxy and Σwx² of every column, the ones of
the intercept included. Equal columns have equal sums, and other columns, targets, weights or orders
of rows have others, except by accident.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.linear.inference.likelihood_evidence import LikelihoodEvidence

ROUNDING = 1e-7
"""Share of its size up to which two sums are equal."""


def require_same_rows_and_targets(
    ours: LikelihoodEvidence, theirs: LikelihoodEvidence, who: str
) -> None:
    """Raise an error if the models were fitted to other rows, weights or targets."""
    if ours.n_rows != theirs.n_rows or not np.isclose(ours.n, theirs.n, rtol=1e-9):
        raise DataError(
            f"{who}: a likelihood-ratio test needs two models with the same rows and weights, but "
            f"this model was fitted to {ours.n_rows} rows of total weight {ours.n:.10g}, the other "
            f"one to {theirs.n_rows} rows of total weight {theirs.n:.10g}. Fit both models to the "
            "same data."
        )
    same, products = _equal_columns(ours, theirs)
    if ((same & ~products).any(axis=1) & ~(same & products).any(axis=1)).any():
        raise DataError(
            f"{who}: a likelihood-ratio test needs two models with the same rows, weights and "
            "targets, but the sums Σwxy of columns that both models have differ. Fit both models "
            "to the same X, y and sample_weight, with the rows in the same order."
        )


def warn_of_other_columns(ours: LikelihoodEvidence, theirs: LikelihoodEvidence, who: str) -> None:
    """Warn of columns of the smaller model (theirs) that this model does not have."""
    same, products = _equal_columns(ours, theirs)
    unknown = int((~(same & products).any(axis=1)).sum())
    if unknown:
        warn(
            f"{who}: {unknown} column(s) of the smaller model (the intercept included) are not "
            "among the columns of this one. Unless they are linear combinations of them, the "
            "models are not nested and the p-value is not valid. Fit the smaller model to some of "
            "the columns of the larger one."
        )


def _equal_columns(ours: LikelihoodEvidence, theirs: LikelihoodEvidence) -> tuple[Array, Array]:
    """For each column of theirs and ours, whether Σwx and Σwx² are equal, and whether Σwxy is."""
    if ours.marks is None or theirs.marks is None:  # saved by an earlier version
        return np.ones((1, 1), dtype=bool), np.ones((1, 1), dtype=bool)
    small, large = theirs.marks[:, None, :], ours.marks[None, :, :]
    apart = np.abs(small - large)
    size = np.sqrt(np.maximum(small[..., 2], 0.0))
    same = (apart[..., 0] <= ROUNDING * size * np.sqrt(ours.n)) & (
        apart[..., 2] <= ROUNDING * small[..., 2]
    )
    return same, apart[..., 1] <= ROUNDING * size * np.sqrt(ours.squares)
