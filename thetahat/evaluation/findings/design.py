"""A plain matrix of the columns, for the quick models that some finders fit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from thetahat.evaluation.findings.table import CheckedColumn
from thetahat.foundation.types import Array

MOST_LEVELS = 20
MOST_COLUMNS = 200


def plain_matrix(columns: Iterable[CheckedColumn], rows: Array) -> Array:
    """Numbers in units of their spread, indicators of the most frequent values, and of gaps."""
    parts: list[Array] = []
    for column in columns:
        if len(parts) >= MOST_COLUMNS:
            break
        values = column.values[rows]
        if column.is_number:
            finite = np.isfinite(values)
            if not finite.any():
                continue
            present = np.clip(values[finite], -1e150, 1e150)
            filled = np.where(finite, np.clip(values, -1e150, 1e150), np.median(present))
            spread = filled.std()
            if spread > 0 and np.isfinite(spread):
                parts.append((filled - filled.mean()) / spread)
            if not finite.all():
                parts.append((~finite).astype(np.float64))
            continue
        held, counts = np.unique(values, return_counts=True)
        if held.size < 2:
            continue
        kept = held[np.argsort(-counts, kind="stable")][:MOST_LEVELS]
        parts.extend((values == each).astype(np.float64) for each in kept)
    if not parts:
        return np.empty((len(rows), 0))
    return np.column_stack(parts[:MOST_COLUMNS])


def linear_residuals(X: Array, Y: Array) -> Array:
    """Y minus its ridge regression on X, with an intercept."""
    X = X - X.mean(axis=0)
    Y = Y - Y.mean(axis=0)
    if not X.shape[1]:
        return Y
    gram = X.T @ X + 1e-3 * len(X) * np.eye(X.shape[1])
    return np.asarray(Y - X @ np.linalg.solve(gram, X.T @ Y))
