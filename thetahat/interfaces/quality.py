"""How good a model is on rows it was not fitted to: the numbers that the report shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.evaluation.confusion import Confusion, confusion
from thetahat.evaluation.cross_fitting import FoldFit
from thetahat.evaluation.curves.calibration import CalibrationCurve, calibration_curve
from thetahat.evaluation.curves.precision_recall import (
    PrecisionRecallCurve,
    average_precision_interval,
    precision_recall_curve,
)
from thetahat.evaluation.curves.roc import RocCurve, roc_curve
from thetahat.evaluation.regression_errors import RegressionErrors, regression_errors
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.evaluation.statistics.ranking_quality import auc_interval
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.interfaces.threshold import Decision, Rule, called_in_folds

WORST_PAIRS = 15
"""Largest number of pairs of classes that are listed as confused."""
COSTS = ((10.0, 1.0), (5.0, 1.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (1.0, 5.0), (1.0, 10.0))
"""Costs of a false positive and of a false negative, for which thresholds are shown."""
ERROR_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SIZE_QUANTILES = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Held:
    """Rows that were not used for the fit, with what was predicted for them."""

    rows: Array
    """Their numbers in the table."""
    y: Array
    predicted: Array
    shares: Array | None = None
    """Probabilities of the classes, (n, C), in the order of `classes`."""
    classes: Array | None = None
    """The classes of the model; None for numbers."""
    scores: Array | None = None
    """Decision values of the second of two classes, if there are no probabilities."""
    folds: Array | None = None
    """The number of the fold of each row; None if one model has predicted all rows."""


@dataclass(frozen=True)
class OneClass:
    """The quality of one class against the rest."""

    label: Any
    count: int
    share: float
    recall: Interval | None
    precision: Interval | None
    area: Interval | None
    """Area under the ROC curve."""
    average_precision: Interval | None
    calibration_error: float | None


@dataclass(frozen=True)
class Cost:
    """The best threshold for the costs of the two kinds of error.

    With folds, the costs and rates are those where each fold has the threshold of the other folds.
    """

    false_positive: float
    false_negative: float
    threshold: float
    cost: float
    recall: float
    false_positive_rate: float
    cost_of_none: float
    cost_of_all: float
    asked: bool = False
    """Whether the user gave these costs."""


@dataclass(frozen=True)
class ClassQuality:
    """Everything that is shown about the predictions of classes."""

    held: Held
    confusion: Confusion
    classes: list[OneClass]
    label: Any
    """The class whose curves are shown: the positive one of a threshold, otherwise the second of
    two, or that with the smallest area."""
    roc: RocCurve | None
    precision_recall: PrecisionRecallCurve | None
    calibration: CalibrationCurve | None
    """Of `label` if there are two classes, otherwise of the predicted class."""
    costs: list[Cost]
    decision: Decision | None = None
    """The threshold that the predictions are made with, if one was requested."""

    @property
    def worst_pairs(self) -> list[tuple[Any, Any, int, float]]:
        """True class, predicted class, rows, and their share of the true class; most rows first."""
        counts = self.confusion.counts.copy()
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[:WORST_PAIRS]
        pairs = [divmod(int(place), len(counts)) for place in order]
        labels, totals = self.confusion.classes.tolist(), self.confusion.counts.sum(axis=1)
        return [
            (labels[a], labels[b], int(counts[a, b]), float(counts[a, b] / totals[a]))
            for a, b in pairs
            if counts[a, b] > 0
        ]

    def as_data(self) -> dict[str, Any]:
        """The numbers as plain values."""
        curves: dict[str, Any] = {}
        if self.roc is not None:
            low, high = self.roc.low, self.roc.high
            curves["roc"] = {
                "class": self.label,
                "area": self.roc.area,
                "band": {"false_positive_rate": self.roc.grid, "low": low, "high": high},
            }
        if self.precision_recall is not None:
            found = self.precision_recall
            curves["precision_recall"] = {
                "class": self.label,
                "average_precision": found.average_precision,
                "band": {"recall": found.grid, "low": found.low, "high": found.high},
            }
        if self.calibration is not None:
            curves["calibration"] = {
                "predicted": self.calibration.predicted,
                "observed": list(self.calibration.observed),
                "rows": self.calibration.counts,
                "error": self.calibration.error,
            }
        return {
            "rows": len(self.held.y),
            "accuracy": self.confusion.accuracy,
            "classes": [{**vars(each)} for each in self.classes],
            "confusion": {"classes": self.confusion.classes, "counts": self.confusion.counts},
            "worst_pairs": [
                {"true": a, "predicted": b, "rows": count, "share_of_true": share}
                for a, b, count, share in self.worst_pairs
            ],
            **curves,
            "thresholds": [vars(each) for each in self.costs],
        }


@dataclass(frozen=True)
class NumberQuality:
    """Everything that is shown about the predictions of numbers."""

    held: Held
    errors: RegressionErrors
    error_quantiles: dict[float, float]
    """Quantiles of predicted − true."""
    size_quantiles: dict[float, float]
    """Quantiles of the size of the errors."""

    @property
    def off(self) -> Array:
        """predicted − true."""
        return np.asarray(self.held.predicted - self.held.y)

    def as_data(self) -> dict[str, Any]:
        """The numbers as plain values."""
        found = self.errors
        return {
            "rows": len(self.held.y),
            "rmse": found.rmse,
            "mae": found.mae,
            "r2": found.r2,
            "bias": float(self.off.mean()),
            "error_quantiles": self.error_quantiles,
            "error_size_quantiles": self.size_quantiles,
        }


def quality(held: Held, decision: Decision | None = None) -> ClassQuality | NumberQuality:
    """The quality of predictions of classes, at a threshold if there is one, or of numbers."""
    return _of_numbers(held) if held.classes is None else _of_classes(held, decision)


def held_out(fits: tuple[FoldFit, ...], X: Any, y: Array, classes: Array | None) -> Held:
    """The rows that were held out, in order; with folds in the order of time, not all are.

    The models of the folds must have been kept.
    """
    rows = np.concatenate([fit.rows for fit in fits])
    order = np.argsort(rows, kind="stable")
    predicted = np.concatenate([fit.predictions for fit in fits])[order]
    folds = np.concatenate([np.full(len(fit.rows), fit.fold) for fit in fits])[order]
    if classes is None:
        return Held(rows[order], y[rows[order]], predicted, folds=folds)
    parts = [class_probabilities(fit.estimator, X[fit.rows], classes) for fit in fits]
    known = [part for part in parts if part is not None]
    shares = np.concatenate(known)[order] if len(known) == len(parts) else None
    scores = None
    found = [np.asarray(fit.certainty) for fit in fits if fit.certainty is not None]
    if shares is None and len(found) == len(fits) and all(each.ndim == 1 for each in found):
        scores = np.concatenate(found)[order]
    return Held(rows[order], y[rows[order]], predicted, shares, classes, scores, folds)


def class_probabilities(model: Any, X: Any, classes: Array) -> Array | None:
    """Probabilities of all classes; 0 for those that the model has not seen."""
    if not hasattr(model, "predict_proba"):
        return None
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    shares = np.zeros((len(found), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = found
    return shares


def _of_numbers(held: Held) -> NumberQuality:
    off = held.predicted - held.y
    return NumberQuality(
        held,
        regression_errors(held.y, held.predicted),
        dict(zip(ERROR_QUANTILES, np.quantile(off, ERROR_QUANTILES).tolist(), strict=True)),
        dict(zip(SIZE_QUANTILES, np.quantile(np.abs(off), SIZE_QUANTILES).tolist(), strict=True)),
    )


def _of_classes(held: Held, decision: Decision | None) -> ClassQuality:
    assert held.classes is not None
    labels = held.classes.tolist()
    if decision is not None and held.shares is not None:
        held = _decided(held, decision)
    table = confusion(held.y, held.predicted)
    found = [_one_class(held, table, place) for place in range(len(labels))]
    two = len(labels) == 2
    place = 1 if two else _weakest(found)
    if decision is not None:
        place = labels.index(decision.rule.positive)
    scores = held.scores if held.shares is None else held.shares[:, place]
    if held.shares is None and not two:
        scores = None
    roc = average = calibration = None
    if scores is not None and len(np.unique(held.y == labels[place])) == 2:
        roc = roc_curve(held.y, scores, positive=labels[place])
        average = precision_recall_curve(held.y, scores, positive=labels[place])
    if held.shares is not None:
        calibration = _calibration(held, place if two else None)
    costs = []
    if two and roc is not None and scores is not None:
        costs = _costs(held, scores, labels[place], None if decision is None else decision.rule)
    return ClassQuality(
        held, table, found, labels[place], roc, average, calibration, costs, decision
    )


def _decided(held: Held, decision: Decision) -> Held:
    """The rows with what is predicted at the threshold."""
    assert held.classes is not None
    assert held.shares is not None
    place = held.classes.tolist().index(decision.rule.positive)
    called = held.shares[:, place] >= decision.threshold
    return replace(held, predicted=held.classes[np.where(called, place, 1 - place)])


def _one_class(held: Held, table: Confusion, place: int) -> OneClass:
    assert held.classes is not None
    label = held.classes.tolist()[place]
    inside = held.y == label
    count = int(inside.sum())
    area = average = error = None
    scores = None if held.shares is None else held.shares[:, place]
    if scores is None and held.scores is not None and len(held.classes) == 2:
        scores = held.scores if place else -held.scores
    if scores is not None and 0 < count < len(inside):
        area = auc_interval(inside, scores)
        average = average_precision_interval(inside, scores, positive=True)
        if held.shares is not None:
            error = calibration_curve(inside, scores, positive=True).error
    return OneClass(
        label,
        count,
        count / len(inside),
        _defined(table.recall, label),
        _defined(table.precision, label),
        area,
        average,
        error,
    )


def _defined(share: Any, label: Any) -> Interval | None:
    """Recall or precision of a class; None if it never occurs."""
    try:
        found: Interval = share(label)
    except DataError:
        return None
    return found


def _weakest(found: list[OneClass]) -> int:
    """The class with the smallest area under its ROC curve."""
    areas = [2.0 if each.area is None else each.area.estimate for each in found]
    return int(np.argmin(areas))


def _calibration(held: Held, place: int | None) -> CalibrationCurve | None:
    """Of one class, or of the predicted class: how sure it is, and how often it is right."""
    assert held.shares is not None
    assert held.classes is not None
    if place is not None:
        inside, sure = held.y == held.classes[place], held.shares[:, place]
    else:
        inside = held.y == held.classes[held.shares.argmax(axis=1)]
        sure = held.shares.max(axis=1)
    if inside.all() or not inside.any():
        return None
    return calibration_curve(inside, np.clip(sure, 0.0, 1.0), positive=True)


def _costs(held: Held, scores: Array, label: Any, asked: Rule | None) -> list[Cost]:
    """The thresholds for some costs; those that the user gave come first."""
    rules = [Rule(label, "cost", *pair) for pair in COSTS]
    if asked is not None and asked.criterion == "cost":
        rules = [asked, *(rule for rule in rules if rule != asked)]
    truth = held.y == label
    return [_cost(rule, held, truth, scores, rule is asked) for rule in rules]


def _cost(rule: Rule, held: Held, truth: Array, scores: Array, asked: bool) -> Cost:
    best = rule.choose(truth, scores)
    cost, recall, false_positive_rate = best.cost, best.tpr, best.fpr
    if held.folds is not None:
        middle = 0.0 if held.shares is None else 0.5
        called = called_in_folds(rule, truth, scores, held.folds, middle)
        cost = rule.value(truth, called)
        recall, false_positive_rate = float(called[truth].mean()), float(called[~truth].mean())
    return Cost(
        rule.false_positive,
        rule.false_negative,
        best.threshold,
        cost,
        recall,
        false_positive_rate,
        best.cost_of_none,
        best.cost_of_all,
        asked,
    )
