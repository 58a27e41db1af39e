"""Validation of a single row for learners that take one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_ranges
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def single_row(learner: Any, x: Any) -> Array:
    """x as numbers of shape (d,); before the first row, the parameters are validated too."""
    who = type(learner).__name__
    try:
        row = np.asarray(x, dtype=float)
    except (TypeError, ValueError) as failure:
        raise DataError(
            f"{who}: x={x!r} must be a row of numbers. Encode other values."
        ) from failure
    if row.ndim != 1 or not row.size:
        raise DataError(f"{who}: One row at a time: x has shape {row.shape}, but must have (d,).")
    if not np.isfinite(row).all():
        column = int(np.argmin(np.isfinite(row)))
        raise DataError(
            f"{who}: column {column} of x is {row[column]}; rows must contain finite numbers. "
            "Impute it, or leave the row out."
        )
    if not hasattr(learner, "classes_"):
        check_ranges(learner)
    elif row.size != learner.n_features_in_:
        raise DataError(
            f"{who}: x has {row.size} columns, but earlier rows had {learner.n_features_in_}. "
            "Use the same columns in every row."
        )
    return row
