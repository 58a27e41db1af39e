"""The points of the figures, from which reports draw and which JSON holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.interfaces.quality import ClassQuality, NumberQuality

MOST_POINTS = 600
BINS = 24
GROUPS = 12
"""Largest number of groups of rows whose errors are summarised by quantiles."""
CATEGORIES = 6
"""Largest number of categories of a column in a figure."""
ERRORS_SHOWN = (0.1, 0.5, 0.9)
"""Quantiles of the errors of a group of rows."""


def some_rows(n: int) -> Array:
    """The numbers of all rows, or of a sample if there are many."""
    return np.random.default_rng(0).permutation(n)[:MOST_POINTS]


def thinned(*curves: Array) -> list[list[float]]:
    """Curves over the same thousands of steps, reduced to some hundreds."""
    last = len(curves[0]) - 1
    keep = np.unique(np.linspace(0, last, MOST_POINTS).round().astype(int))
    return [curve[keep].tolist() for curve in curves]


def error_counts(off: Array) -> tuple[Array, Array]:
    """The histogram of the errors: rows and edges; the largest errors are in the last bars."""
    return np.histogram(np.clip(off, *np.quantile(off, [0.005, 0.995])), bins=BINS)


def numbers_along(values: Any) -> Array | None:
    """A column along which errors are shown by numbers; None if by category."""
    if not values.dtype.is_numeric():
        return None
    numbers = values.to_numpy().astype(np.float64)
    known = numbers[np.isfinite(numbers)]
    return numbers if known.size >= 2 and len(np.unique(known)) > 2 else None


def quantiles_along(values: Array, off: Array) -> tuple[list[float], Array]:
    """Centres of groups of rows with similar values, and the quantiles of their errors."""
    groups = int(np.clip(len(values) // 20, 1, GROUPS))
    edges = np.unique(np.quantile(values, np.linspace(0, 1, groups + 1)[1:-1]))
    which = np.searchsorted(edges, values, side="right")
    kept = [group for group in range(edges.size + 1) if np.sum(which == group) >= 5]
    at = [float(np.median(values[which == group])) for group in kept]
    found = [np.quantile(off[which == group], ERRORS_SHOWN) for group in kept]
    return at, np.array(found).reshape(-1, 3)


def quantiles_by_category(values: list[Any], off: Array) -> tuple[list[str], Array]:
    """The most frequent categories, and the quantiles of the errors of their rows."""
    labels = np.asarray(["missing" if each is None else str(each) for each in values])
    distinct, counts = np.unique(labels, return_counts=True)
    kept = distinct[np.argsort(-counts, kind="stable")][:CATEGORIES]
    found = [np.quantile(off[labels == each], ERRORS_SHOWN) for each in kept]
    return kept.tolist(), np.array(found)


def plotted(
    found: ClassQuality | NumberQuality, X: Any, columns: Sequence[str], file_rows: Array
) -> dict[str, Any]:
    """The points of the figures of quality; errors also against the given columns of X."""
    if isinstance(found, ClassQuality):
        return _of_classes(found)
    off = found.off
    rows, (counts, edges) = some_rows(len(off)), error_counts(off)
    return {
        "rows": {
            "row": file_rows[found.held.rows[rows]] + 1,
            "true": found.held.y[rows],
            "predicted": found.held.predicted[rows],
        },
        "errors": {"edges": edges, "rows": counts},
        "errors_against_prediction": _along(found.held.predicted, off),
        "errors_against_columns": {
            name: _against(X[name][found.held.rows], off) for name in columns
        },
    }


def _of_classes(found: ClassQuality) -> dict[str, Any]:
    curves: dict[str, Any] = {}
    if found.roc is not None:
        false, true = thinned(found.roc.fpr, found.roc.tpr)
        curves["roc"] = {"false_positive_rate": false, "true_positive_rate": true}
    if found.precision_recall is not None:
        each = found.precision_recall
        names = ("threshold", "recall", "precision")
        values = thinned(each.thresholds, each.recall, each.precision)
        curves["precision_recall"] = dict(zip(names, values, strict=True))
    return curves


def _against(values: Any, off: Array) -> dict[str, Any]:
    numbers = numbers_along(values)
    if numbers is not None:
        return _along(numbers, off)
    names, quantiles = quantiles_by_category(values.to_list(), off)
    return {"categories": names, "quantiles": dict(zip(ERRORS_SHOWN, quantiles.T, strict=True))}


def _along(values: Array, off: Array) -> dict[str, Any]:
    known = np.isfinite(values)
    values, off = values[known], off[known]
    rows, (at, quantiles) = some_rows(len(off)), quantiles_along(values, off)
    return {
        "values": values[rows],
        "errors": off[rows],
        "at": at,
        "quantiles": dict(zip(ERRORS_SHOWN, quantiles.T, strict=True)),
    }
