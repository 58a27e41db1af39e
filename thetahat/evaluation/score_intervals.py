"""Confidence intervals for cross-validated scores.

The score is always s̄, the mean over k folds. The interval depends on the metric:

- Accuracy is a proportion: Wilson or Clopper-Pearson, for the number of test rows, or for
  k²/Σ(1/nᵢ) rows where folds are uneven.
- The area under the ROC curve is a U-statistic: DeLong's variance from all rows, times
  1 + n_test/n_train for the random choice of the training rows.
- Any other score is known only through its values on k folds, whose training sets overlap:

    s̄ ± t_{k−1}·s·√(1/k + n_test/n_train)            (Nadeau and Bengio)

  with the mean ratio of the folds' sizes. The correction is calibrated for repeated random splits.
  For the disjoint test sets of k-fold cross-validation it is conservative; ``"t"`` omits it.
  ``"bootstrap"`` takes percentiles of the mean over folds drawn with replacement, and multiplies
  their distance from s̄ by t_{k−1}/z·√((1 + k·n_test/n_train)·k/(k − 1)), since a few drawn folds
  vary too little.

If all folds have the same score, its spread is unknown, not 0. The interval is then the whole range
of the metric, or for accuracy the interval of one test set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.cross_fitting import FoldFit
from thetahat.evaluation.folds import none_twice
from thetahat.evaluation.metrics import range_of
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval, are_alike
from thetahat.evaluation.statistics.ranking_quality import interval_of_areas, placements
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

KINDS = ("auto", "corrected_t", "t", "bootstrap", "wilson", "clopper_pearson", "delong")
DRAWS = 5000


def score_interval(
    fits: Sequence[FoldFit],
    metric: str,
    y: Array,
    *,
    known: str | None,
    kind: str,
    level: float,
    random_state: Any,
) -> Interval:
    """The mean score over the folds, with an interval of the requested kind.

    `known` is the name of the metric in scikit-learn, which may differ from its label.
    """
    check_value(kind, one_of(*KINDS), "interval", "evaluate")
    scores = np.array([fit.scores[metric] for fit in fits])
    kind = _best_kind(fits, known, y) if kind == "auto" else kind
    if kind in ("wilson", "clopper_pearson"):
        return _of_accuracy(fits, scores, metric, known, kind, level)
    if kind == "delong":
        return _of_area(fits, scores, metric, known, y, level)
    overlap = 0.0 if kind == "t" else overlap_of(fits)
    if scores.size > 1 and are_alike(scores):
        found = _of_equal_folds(fits, scores, known, level)
    elif kind == "bootstrap" and scores.size > 1:
        found = _of_drawn_folds(scores, overlap, level, random_state)
    else:
        found = fold_interval(scores, overlap, level)
    return within_range(found, range_of(known))


def overlap_of(fits: Sequence[FoldFit]) -> float:
    """Mean of n_test/n_train over the folds; rows drawn twice count once."""
    return float(np.mean([len(fit.rows) / fit.trained_rows for fit in fits]))


def fold_interval(scores: Array, overlap: float, level: float) -> Interval:
    """s̄ ± t·s·√(1/k + overlap); unbounded for a single fold, whose spread is unknown."""
    from scipy.special import stdtrit

    k, mean = scores.size, float(scores.mean())
    if k < 2:
        return Interval(mean, -np.inf, np.inf, level, "one fold: unknown")
    error = scores.std(ddof=1) * np.sqrt(1 / k + overlap)
    half = float(-stdtrit(k - 1, (1 - level) / 2) * error)
    method = "corrected t over folds" if overlap else "t over folds"
    return Interval(mean, mean - half, mean + half, level, method)


def within_range(interval: Interval, limits: tuple[float, float]) -> Interval:
    """The part of an interval that lies within the range of the metric."""
    least, most = limits
    return replace(interval, low=max(interval.low, least), high=min(interval.high, most))


def _best_kind(fits: Sequence[FoldFit], known: str | None, y: Array) -> str:
    if known == "accuracy" and _rows_held_once(fits):
        return "wilson"
    if known == "roc_auc" and _rows_held_once(fits) and _ranks_two_classes(fits, y):
        return "delong"
    return "corrected_t"


def _of_accuracy(
    fits: Sequence[FoldFit], scores: Array, metric: str, known: str | None, kind: str, level: float
) -> Interval:
    if known != "accuracy" or not _rows_held_once(fits):
        raise CapabilityError(
            f"interval={kind!r} needs accuracy, and folds that hold out each row at most once; the "
            f"metric here is {metric!r}. Use interval='corrected_t'."
        )
    # The mean of k shares, each of nᵢ rows, has the variance of a share of k²/Σ(1/nᵢ) rows. With
    # even folds that is the number of all rows.
    rows = len(fits) ** 2 / sum(1 / len(fit.rows) for fit in fits)
    return _of_share(scores, rows, kind, level)


def _of_share(scores: Array, rows: float, kind: str, level: float) -> Interval:
    mean = float(scores.mean())
    return replace(proportion_interval(mean * rows, rows, method=kind, level=level), estimate=mean)


def _of_area(
    fits: Sequence[FoldFit], scores: Array, metric: str, known: str | None, y: Array, level: float
) -> Interval:
    if known != "roc_auc" or not (_rows_held_once(fits) and _ranks_two_classes(fits, y)):
        raise CapabilityError(
            "interval='delong' needs roc_auc with two classes, models with decision values or "
            "probabilities, and folds that hold out each row at most once; the metric here is "
            f"{metric!r}. Use interval='corrected_t'."
        )
    second = np.unique(y)[1]
    placed = [placements(y[fit.rows] == second, [ranking(fit)]) for fit in fits]
    found = interval_of_areas(
        [(above[0], below[0]) for above, below in placed],
        level,
        "DeLong over folds",
        stretch=1 + overlap_of(fits),
    )
    return replace(found, estimate=float(scores.mean()))


def _of_equal_folds(
    fits: Sequence[FoldFit], scores: Array, known: str | None, level: float
) -> Interval:
    mean = float(scores.mean())
    if known == "accuracy":
        found = _of_share(scores, float(np.mean([len(fit.rows) for fit in fits])), "wilson", level)
        return replace(found, method="Wilson of one test set: all folds score alike")
    return Interval(mean, -np.inf, np.inf, level, "unknown: all folds score alike")


def _of_drawn_folds(scores: Array, overlap: float, level: float, random_state: Any) -> Interval:
    """Percentiles of the mean over folds drawn with replacement, widened for few folds."""
    from scipy.special import ndtri, stdtrit

    k, mean, tail = scores.size, float(scores.mean()), (1 - level) / 2
    draws = generator(random_state).integers(k, size=(DRAWS, k))
    strays = np.quantile(scores[draws].mean(axis=1) - mean, [tail, 1 - tail])
    stretch = stdtrit(k - 1, tail) / ndtri(tail) * np.sqrt((1 + k * overlap) * k / (k - 1))
    low, high = (mean + float(stretch * stray) for stray in strays)
    return Interval(mean, low, high, level, "bootstrap over folds")


def ranking(fit: FoldFit) -> Array:
    """One number per row, greater for rows that more likely belong to the second class."""
    certainty = fit.certainty
    assert certainty is not None
    return certainty if certainty.ndim == 1 else certainty[:, 1]


def _rows_held_once(fits: Sequence[FoldFit]) -> bool:
    return none_twice([fit.rows for fit in fits])


def _ranks_two_classes(fits: Sequence[FoldFit], y: Array) -> bool:
    return y.ndim == 1 and np.unique(y).size == 2 and all(fit.certainty is not None for fit in fits)
