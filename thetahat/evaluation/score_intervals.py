"""Confidence intervals for cross-validated scores.

The score is always s̄, the mean over k folds. By default its interval follows from the contributions
of the units of sampling, which are rows, groups or blocks of time (see `sampling.design`):

- Accuracy is a proportion: Wilson's interval of as many rows as have the same variance.
- The area under the ROC curve is a U-statistic: DeLong's variance on the scale of the log-odds.
- R² and other metrics of at most 1: t on the scale of log(1 − s), where they vary more evenly.
- Other shares: t on the scale of the log-odds.
- Everything else: t, corrected for the skewness of the contributions (Hall).

If all units contribute alike, the spread is unknown, not 0: the interval is the exact bound for
units that differ, or the whole range of the metric where that has no limit.

Other intervals use only the scores of k folds, whose training sets overlap:

    s̄ ± t_{k−1}·s·√(1/k + n_test/n_train)            (Nadeau and Bengio)

with the mean ratio of the folds' sizes. The correction is calibrated for repeated random splits.
For the disjoint test sets of k-fold cross-validation it is conservative; ``"t"`` omits it.
``"bootstrap"`` takes percentiles of the mean over folds drawn with replacement, and multiplies
their distance from s̄ by t_{k−1}/z·√((1 + k·n_test/n_train)·k/(k − 1)), since a few drawn folds
vary too little. If all folds have the same score, their spread is unknown: the interval is the
whole range of the metric, or for accuracy the interval of one test set.
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
from thetahat.evaluation.sampling.design import Design, ranking, values_of
from thetahat.evaluation.sampling.judgement import NoSpread
from thetahat.evaluation.sampling.row_values import RowValues
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval, are_alike, standard_deviation
from thetahat.evaluation.statistics.ranking_quality import interval_of_areas, placements
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

KINDS = ("auto", "rows", "corrected_t", "t", "bootstrap", "wilson", "clopper_pearson", "delong")
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
    units: Array | None = None,
    joined: str = "groups",
) -> Interval:
    """The mean score over the folds, with an interval of the requested kind.

    `known` is the name of the metric in scikit-learn, which may differ from its label. `units` are
    the units of sampling of all rows; by default the rows themselves. `joined` names units of
    several rows.
    """
    check_value(kind, one_of(*KINDS), "interval", "evaluate")
    scores = np.array([fit.scores[metric] for fit in fits])
    units = np.arange(len(y)) if units is None else units
    values = values_of(fits, metric, known, y, units) if kind in ("auto", "rows") else None
    if values is not None:
        design = Design.of(fits, units, joined)
        if design.n_units > 1:
            return _of_rows(fits, scores, values, design, known, y, level)
    if kind == "rows":
        raise CapabilityError(
            "interval='rows' needs a metric of scikit-learn that is computed from the predictions, "
            f"and at least two held-out rows or groups; the metric is {metric!r}. Use "
            "interval='corrected_t'."
        )
    kind = "corrected_t" if kind == "auto" else kind
    if kind in ("wilson", "clopper_pearson"):
        return _of_accuracy(fits, scores, metric, known, kind, level)
    if kind == "delong":
        return _of_delong(fits, scores, metric, known, y, level)
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
    error = standard_deviation(scores) * np.sqrt(1 / k + overlap)
    half = float(-stdtrit(k - 1, (1 - level) / 2) * error)
    method = "corrected t over folds" if overlap else "t over folds"
    return Interval(mean, mean - half, mean + half, level, method)


def within_range(interval: Interval, limits: tuple[float, float]) -> Interval:
    """The part of an interval that lies within the range of the metric."""
    least, most = limits
    return replace(interval, low=max(interval.low, least), high=min(interval.high, most))


def _of_rows(
    fits: Sequence[FoldFit],
    scores: Array,
    values: RowValues,
    design: Design,
    known: str | None,
    y: Array,
    level: float,
) -> Interval:
    """The interval from the contributions of rows, groups or blocks."""
    mean, limits = float(scores.mean()), range_of(known)
    if known == "accuracy" and design.once:
        effect = design.design_effect(values.values) * design.stretch(1.0)
        rows = 1 / float((design.weights**2).sum()) / effect
        interval = _of_share(scores, rows * _for_few(design, level), "wilson", level)
        return replace(interval, method=f"Wilson over {design.unit}")
    if known == "roc_auc" and design.once and not design.alike(values):
        stretch = design.stretch(1.0) * design.design_effect(values.values)
        found = _of_area(fits, scores, y, level, stretch / _for_few(design, level))
        return replace(found, method=f"DeLong over {design.unit}")
    judged = design.studentised(mean, values, known)
    if judged is None:
        reach = limits[1] - limits[0]
        low, high = NoSpread(mean, design.rarest(known, y), reach).bounds(1 - level)
        method = "exact, no spread" if np.isfinite(reach) else "unknown: all rows score alike"
        return within_range(Interval(mean, low, high, level, method), limits)
    method = f"t over {design.unit}"
    least, most = limits
    below, above = (mean - least) / (most - least) if np.isfinite(least) else np.inf, most - mean
    if most == 1.0 and above > 0 and below > 0:
        # The slope of log(1 − s), or of the log-odds, at the score.
        share = below if np.isfinite(least) else 1.0
        slope = 1 / (above * share)
        flat = replace(judged, error=judged.error * slope, skewness=0.0, estimate=0.0)
        low, high = np.exp(flat.bounds(1 - level))
        if np.isfinite(least):
            low, high = (least + (most - least) * _shifted(below, odds) for odds in (low, high))
        else:
            low, high = most - above / low, most - above / high
        return Interval(mean, float(low), float(high), level, method)
    low, high = judged.bounds(1 - level)
    return within_range(Interval(mean, low, high, level, method), limits)


def _shifted(share: float, odds: float) -> float:
    """The share whose odds are a multiple of those of another."""
    return share * odds / (1 - share + share * odds)


def _for_few(design: Design, level: float) -> float:
    """The factor (z/t)² for few groups, by which the t distribution is wider than the normal."""
    from scipy.special import ndtri, stdtrit

    tail = (1 - level) / 2
    if design.by_rows:
        return 1.0
    return float(ndtri(tail) / stdtrit(max(1.0, design.n_units - 1), tail)) ** 2


def _of_accuracy(
    fits: Sequence[FoldFit], scores: Array, metric: str, known: str | None, kind: str, level: float
) -> Interval:
    if known != "accuracy" or not _rows_held_once(fits):
        raise CapabilityError(
            f"interval={kind!r} needs accuracy, and folds that hold out each row at most once; the "
            f"metric is {metric!r}. Use interval='corrected_t'."
        )
    # The mean of k shares, each of nᵢ rows, has the variance of a share of k²/Σ(1/nᵢ) rows. With
    # even folds that is the number of all rows.
    rows = len(fits) ** 2 / sum(1 / len(fit.rows) for fit in fits)
    return _of_share(scores, rows, kind, level)


def _of_share(scores: Array, rows: float, kind: str, level: float) -> Interval:
    mean = float(scores.mean())
    return replace(proportion_interval(mean * rows, rows, method=kind, level=level), estimate=mean)


def _of_delong(
    fits: Sequence[FoldFit], scores: Array, metric: str, known: str | None, y: Array, level: float
) -> Interval:
    if known != "roc_auc" or not (_rows_held_once(fits) and _ranks_two_classes(fits, y)):
        raise CapabilityError(
            "interval='delong' needs roc_auc with two classes, models with decision values or "
            "probabilities, and folds that hold out each row at most once; the metric is "
            f"{metric!r}. Use interval='corrected_t'."
        )
    return _of_area(fits, scores, y, level, 1 + overlap_of(fits))


def _of_area(
    fits: Sequence[FoldFit], scores: Array, y: Array, level: float, stretch: float
) -> Interval:
    second = np.unique(y)[1]
    placed = [placements(y[fit.rows] == second, [ranking(fit)]) for fit in fits]
    found = interval_of_areas(
        [(above[0], below[0]) for above, below in placed],
        level,
        "DeLong over folds",
        stretch=stretch,
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


def _rows_held_once(fits: Sequence[FoldFit]) -> bool:
    return none_twice([fit.rows for fit in fits])


def _ranks_two_classes(fits: Sequence[FoldFit], y: Array) -> bool:
    return y.ndim == 1 and np.unique(y).size == 2 and all(fit.certainty is not None for fit in fits)
