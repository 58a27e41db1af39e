"""Labels of two classes ranked by scores, as used by curves over thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.column_targets import one_column
from thetahat.data.source import row_weights
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Ranked:
    """Distinct thresholds from high to low, and the weight of each class at or above them."""

    thresholds: Array
    true_positives: Array
    false_positives: Array
    positives: float
    negatives: float

    @property
    def tpr(self) -> Array:
        """True positive rate at each threshold."""
        return self.true_positives / self.positives

    @property
    def fpr(self) -> Array:
        """False positive rate at each threshold."""
        return self.false_positives / self.negatives


def two_classes(y: Any, scores: Any, positive: Any = None) -> tuple[Array, Array, Any]:
    """Whether each row is positive, its score, and the positive label (the second by default)."""
    labels, values = np.asarray(one_column(y)), np.asarray(one_column(scores), dtype=float)
    if labels.ndim != 1 or values.shape != labels.shape:
        raise DataError(
            f"y has shape {labels.shape} and scores {values.shape}. Give one label and one score "
            "per row. For several classes, make one curve for each class against the rest."
        )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise DataError(f"The score of row {row} is {values[row]}; every score must be finite.")
    classes = np.unique(labels)
    if positive is None:
        if classes.size != 2:
            raise DataError(
                f"y holds {classes.size} class{'es' * (classes.size != 1)}, but a curve needs two. "
                "Name the positive class with positive=... to compare it with the rest."
            )
        positive = classes[1]
    is_positive = labels == positive
    if is_positive.all() or not is_positive.any():
        kind = "positive" if is_positive.all() else "negative"
        raise DataError(f"All {labels.size} rows are {kind}; a curve needs rows of both classes.")
    return is_positive, values, positive


def rank(is_positive: Array, scores: Array, weight: Array | None = None) -> Ranked:
    """Count both classes at every distinct score: rows of equal score move together."""
    w = np.asarray(row_weights(weight, scores.size), dtype=float)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), ranked.size - 1)
    found = np.cumsum(np.where(is_positive[order], w[order], 0.0))[last]
    false = np.cumsum(np.where(is_positive[order], 0.0, w[order]))[last]
    zero = np.zeros(1)
    return Ranked(
        np.concatenate([[np.inf], ranked[last]]),
        np.concatenate([zero, found]),
        np.concatenate([zero, false]),
        float(found[-1]),
        float(false[-1]),
    )
