"""Scores of held-out rows from cross-validation that has been run before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from thetahat.evaluation.conformal_prediction.class_shares import shares_of
from thetahat.evaluation.conformal_prediction.result import Conformal
from thetahat.evaluation.cross_fitting import FoldFit
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array

MOST_BINS = 10
ROWS_PER_BIN = 50
"""Bins of the prediction in which the size of the errors is estimated, and their least rows."""
LEAST_SCALE = 0.05
"""Smallest size of the errors in a bin, as a share of their mean size."""


def calibrated(model: Any, fits: Sequence[FoldFit], y: Array, groups: Any = None) -> Conformal:
    """A fitted model with the errors of cross-validation, which has been run before.

    Every row counts once, also if it was held out several times.
    """
    none: Array = np.empty(0)
    if is_classifier(model):
        known = [
            (fit.rows, scores)
            for fit in fits
            if (scores := _class_scores(model, fit, y[fit.rows])) is not None
        ]
        if not known:
            raise CapabilityError(
                f"conformal: {type(model).__name__} gives neither probabilities nor decision "
                "values of its classes in any fold. Use a classifier with predict_proba."
            )
        rows, places = _first_of_each(row for row, _ in known)
        scores = np.concatenate([each for _, each in known])[places]
        return _sorted(model, scores, none, none, groups, rows)
    rows, places = _first_of_each(fit.rows for fit in fits)
    predicted = np.concatenate([fit.predictions for fit in fits])[places].astype(np.float64)
    if predicted.ndim != 1 or y.ndim != 1:
        raise DataError("conformal: several targets per row. Fit one model for each target.")
    errors = y[rows] - predicted
    at, scale = _sizes(predicted, errors)
    scores = errors / np.interp(predicted, at, scale)
    return _sorted(model, scores, at, scale, groups, rows)


def _sorted(
    model: Any, scores: Array, at: Array, scale: Array, groups: Any, rows: Array
) -> Conformal:
    """The scores in rising order; with groups, every group has the weight 1."""
    order = np.argsort(scores, kind="stable")
    if groups is None:
        return Conformal(model, scores[order], at, scale)
    _, codes, counts = np.unique(np.asarray(groups)[rows], return_inverse=True, return_counts=True)
    weights = 1.0 / counts[codes.ravel()]
    return Conformal(model, scores[order], at, scale, counts.size, weights[order])


def _first_of_each(parts: Iterable[Array]) -> tuple[Array, Array]:
    """The numbers of the rows, each once, and the place where each comes first."""
    rows, places = np.unique(np.concatenate(list(parts)), return_index=True)
    order = np.argsort(places)
    return rows[order], places[order]


def _class_scores(model: Any, fit: FoldFit, y: Array) -> Array | None:
    """1 − the share of the true class; None if the columns of the fold are not known."""
    if fit.certainty is None:
        return None
    shares = shares_of(np.asarray(fit.certainty), hasattr(model, "decision_function"))
    classes = np.asarray(getattr(fit.estimator, "classes_", model.classes_))
    if shares.shape != (len(y), len(classes)):
        return None
    return 1.0 - (shares * (y[:, None] == classes)).sum(axis=1)


def _sizes(predicted: Array, errors: Array) -> tuple[Array, Array]:
    """The mean size of the errors in bins of the prediction, with the centres of the bins."""
    sizes = np.abs(errors)
    mean = float(sizes.mean()) or 1.0
    bins = min(MOST_BINS, len(errors) // ROWS_PER_BIN)
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, max(bins, 1) + 1)[1:-1]))
    which = np.searchsorted(edges, predicted, side="right")
    counts = np.bincount(which, minlength=edges.size + 1)
    kept = np.flatnonzero(counts >= ROWS_PER_BIN // 2)
    if kept.size < 2:
        return np.array([float(predicted.mean())]), np.array([mean])
    at = np.bincount(which, weights=predicted)[kept] / counts[kept]
    scale = np.bincount(which, weights=sizes)[kept] / counts[kept]
    return at, np.maximum(scale, LEAST_SCALE * mean)
