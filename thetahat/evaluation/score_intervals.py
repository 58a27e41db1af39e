"""How sure a cross-validated score is.

Three facts decide. A share of rows (accuracy) is a proportion: Wilson or Clopper-Pearson. The area
under the ROC curve is a U-statistic: DeLong's variance of every fold, averaged. Any other score is
known by its values on k folds alone, whose training sets overlap:

    s̄ ± t_{k−1}·s·√(1/k + n_test/n_train)            (Nadeau and Bengio)

The correction is calibrated for repeated random splits. For the folds of one partition, whose test
sets are disjoint, it is cautious (it covers more than it says); ``"t"`` leaves it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.evaluation.cross_fitting import FoldFit
from thetahat.evaluation.folds import none_twice
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.evaluation.statistics.ranking_quality import delong
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator

Array = Any
KINDS = ("auto", "corrected_t", "t", "bootstrap", "wilson", "clopper_pearson", "delong")


def score_interval(
    fits: Sequence[FoldFit], metric: str, y: Array, *, kind: str, level: float, random_state: Any
) -> Interval:
    """The mean score over the folds, with the interval of the kind asked for."""
    if kind not in KINDS:
        raise ParameterError(f"interval={kind!r} must be one of {', '.join(map(repr, KINDS))}.")
    scores = np.array([fit.scores[metric] for fit in fits])
    if kind == "auto":
        kind = _best_kind(fits, metric, y)
    if kind in ("wilson", "clopper_pearson"):
        return _of_accuracy(fits, metric, y, kind, level)
    if kind == "delong":
        return _of_area(fits, metric, y, level)
    if kind == "bootstrap":
        return _of_resampled_folds(scores, level, random_state)
    share = 0.0
    if kind == "corrected_t":
        held = np.mean([len(fit.rows) for fit in fits]) / len(y)
        share = held / (1 - held)
    return fold_interval(scores, share, level)


def fold_interval(scores: Array, overlap: float, level: float) -> Interval:
    """s̄ ± t·s·√(1/k + overlap); one fold alone says nothing of its spread."""
    from scipy.special import stdtrit

    k, mean = scores.size, float(scores.mean())
    if k < 2:
        return Interval(mean, -np.inf, np.inf, level, "one fold: unknown")
    error = scores.std(ddof=1) * np.sqrt(1 / k + overlap)
    half = float(-stdtrit(k - 1, (1 - level) / 2) * error)
    method = "corrected t over folds" if overlap else "t over folds"
    return Interval(mean, mean - half, mean + half, level, method)


def _best_kind(fits: Sequence[FoldFit], metric: str, y: Array) -> str:
    if metric == "accuracy" and _rows_held_once(fits):
        return "wilson"
    if metric == "roc_auc" and _ranks_two_classes(fits, y):
        return "delong"
    return "corrected_t"


def _of_accuracy(
    fits: Sequence[FoldFit], metric: str, y: Array, kind: str, level: float
) -> Interval:
    if metric != "accuracy" or not _rows_held_once(fits):
        raise CapabilityError(
            f"interval={kind!r} is for accuracy over folds that hold back each row at most once; "
            f"this is {metric!r}. Use interval='corrected_t'."
        )
    right = np.concatenate([fit.predictions == y[fit.rows] for fit in fits])
    return proportion_interval(float(right.sum()), right.size, method=kind, level=level)


def _of_area(fits: Sequence[FoldFit], metric: str, y: Array, level: float) -> Interval:
    if metric != "roc_auc" or not _ranks_two_classes(fits, y):
        raise CapabilityError(
            "interval='delong' is for roc_auc of two classes and models with scores; this is "
            f"{metric!r}. Use interval='corrected_t'."
        )
    from scipy.special import ndtri

    found = [delong(y[fit.rows] == np.unique(y)[1], [ranking(fit)]) for fit in fits]
    mean = float(np.mean([areas[0] for areas, _ in found]))
    variance = float(np.sum([covariance[0, 0] for _, covariance in found])) / len(found) ** 2
    half = -float(ndtri((1 - level) / 2)) * np.sqrt(variance)
    return Interval(mean, max(0.0, mean - half), min(1.0, mean + half), level, "DeLong over folds")


def _of_resampled_folds(scores: Array, level: float, random_state: Any) -> Interval:
    """Percentiles of the mean over folds drawn with replacement."""
    draws = generator(random_state).integers(scores.size, size=(5000, scores.size))
    low, high = np.quantile(scores[draws].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    mean = float(scores.mean())
    return Interval(mean, float(low), float(high), level, "bootstrap over folds")


def ranking(fit: FoldFit) -> Array:
    """One number per row that ranks the second class over the first."""
    certainty = fit.certainty
    assert certainty is not None
    return certainty if certainty.ndim == 1 else certainty[:, 1]


def _rows_held_once(fits: Sequence[FoldFit]) -> bool:
    return none_twice([fit.rows for fit in fits])


def _ranks_two_classes(fits: Sequence[FoldFit], y: Array) -> bool:
    return np.unique(y).size == 2 and all(fit.certainty is not None for fit in fits)
