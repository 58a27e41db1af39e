"""The probability from which a row is called positive: chosen on held-out rows, saved, and used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from thetahat.evaluation.curves.threshold import Threshold, best_threshold
from thetahat.evaluation.evaluate import Evaluation
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.interfaces.notes import altered
from thetahat.interfaces.problem import Problem

NOTE = "threshold"
"""The note of a model file that holds the threshold."""
LARGEST_COST = 1e100
ALWAYS, NEVER = 0.0, 2.0
"""Thresholds that all probabilities reach, and none."""


@dataclass(frozen=True)
class Rule:
    """What the threshold is chosen for: the lowest cost, or the highest F₁ score."""

    positive: Any
    criterion: str
    false_positive: float = 1.0
    false_negative: float = 1.0

    @property
    def words(self) -> str:
        if self.criterion == "f1":
            return "the highest F1 score"
        return (
            f"the lowest cost ({self.false_positive:g} for a false positive, "
            f"{self.false_negative:g} for a false negative)"
        )

    @property
    def measure(self) -> str:
        return "F1 score" if self.criterion == "f1" else "cost per row"

    def choose(self, is_positive: Array, shares: Array) -> Threshold:
        return best_threshold(
            is_positive,
            shares,
            false_positive=self.false_positive,
            false_negative=self.false_negative,
            positive=True,
            criterion=self.criterion,
        )

    def value(self, is_positive: Array, called: Array) -> float:
        """The mean cost per row, or the F₁ score."""
        false_positives = int((called & ~is_positive).sum())
        false_negatives = int((~called & is_positive).sum())
        if self.criterion == "f1":
            hits = 2 * int((called & is_positive).sum())
            return hits / max(1, hits + false_positives + false_negatives)
        total = self.false_positive * false_positives + self.false_negative * false_negatives
        return total / len(called)


@dataclass(frozen=True)
class Decision:
    """A threshold of a model, and what it is worth on held-out rows."""

    rule: Rule
    threshold: float
    worth: float
    """The cost or F₁ score, where each fold has the threshold of the other folds."""
    at_half: float
    """The same at probability one half."""

    @property
    def note(self) -> dict[str, Any]:
        """What is saved with a model."""
        return {
            "positive": str(self.rule.positive),
            "value": self.threshold,
            "chosen for": self.rule.words,
            self.rule.measure: self.worth,
            f"{self.rule.measure} at probability 0.5": self.at_half,
        }

    @property
    def sentence(self) -> str:
        return (
            f"{_words(self.note)}: {self.rule.measure} {self.worth:.4g} on held-out rows, "
            f"{self.at_half:.4g} at probability 0.5."
        )


def _words(note: Mapping[str, Any]) -> str:
    """When the positive class is predicted, and why."""
    value = float(note["value"])
    when = f"predicted from probability {value:.4g}"
    if value in (ALWAYS, NEVER):
        when = f"{'always' if value == ALWAYS else 'never'} predicted"
    return f"{note['positive']} is {when}, for {note['chosen for']}"


def rule_of(
    problem: Problem, cost: str | None, threshold: str | None, positive: str | None
) -> Rule | None:
    """The rule that the options ask for; None without them."""
    if cost is None and threshold is None:
        if positive is not None:
            raise ParameterError(f"--positive {positive} needs --cost FP:FN or --threshold f1.")
        return None
    option = f"--cost {cost}" if cost is not None else f"--threshold {threshold}"
    if cost is not None and threshold is not None:
        raise ParameterError(f"{option} and --threshold contradict each other. Give one of them.")
    classes, counts = np.unique(problem.y, return_counts=True)
    if problem.task != "classification" or classes.size != 2:
        kind = "numbers" if problem.task == "regression" else f"{classes.size} classes"
        raise ParameterError(f"{option} needs a target of two classes, but it has {kind}.")
    label = classes[1] if counts[1] <= counts[0] else classes[0]
    if positive is not None:
        named = [each for each in classes if str(each) == positive]
        if not named:
            raise ParameterError(
                f"--positive {positive}: the classes are {classes[0]} and {classes[1]}."
            )
        label = named[0]
    if cost is None:
        return Rule(label, "f1")
    parts = cost.split(":")
    try:
        costs = [float(part) for part in parts]
    except ValueError:
        costs = []
    allowed = all(isfinite(each) and each >= 0 for each in costs)
    if len(costs) != 2 or not allowed or not 0 < max(costs) <= LARGEST_COST:
        raise ParameterError(
            f"{option}: write the cost of a false positive and of a false negative, such as 1:5; "
            f"they must not be negative, not both 0, and at most {LARGEST_COST:g}."
        )
    return Rule(label, "cost", costs[0], costs[1])


def decide(rule: Rule, held: Evaluation, problem: Problem) -> Decision:
    """Choose the threshold on all held-out rows; its worth is measured fold by fold."""
    shares, positive, fold = [], [], []
    for fit in held.fits:
        model = fit.estimator
        if not hasattr(model, "predict_proba"):
            raise CapabilityError(
                f"{held.name} gives no probabilities, so no threshold can be chosen. Use another "
                "model."
            )
        found = model.predict_proba(problem.X[fit.rows])
        place = np.flatnonzero(model.classes_ == rule.positive)
        shares.append(found[:, place[0]] if place.size else np.zeros(len(found)))
        positive.append(problem.y[fit.rows] == rule.positive)
        fold.append(np.full(len(found), fit.fold))
    share, truth, folds = map(np.concatenate, (shares, positive, fold))
    called = called_in_folds(rule, truth, share, folds)
    threshold = rule.choose(truth, share).threshold
    if not isfinite(threshold):
        threshold = NEVER if threshold > 0 else ALWAYS
    return Decision(rule, threshold, rule.value(truth, called), rule.value(truth, share >= 0.5))


def called_in_folds(
    rule: Rule, truth: Array, scores: Array, folds: Array, middle: float = 0.5
) -> Array:
    """Which rows are called positive, where each fold has the threshold of the other folds.

    It is `middle` where the other folds do not have both classes.
    """
    called = np.zeros(truth.size, dtype=bool)
    for number in np.unique(folds):
        inside, others = folds == number, folds != number
        two = truth[others].any() and not truth[others].all()
        limit = rule.choose(truth[others], scores[others]).threshold if two else middle
        called[inside] = scores[inside] >= limit
    return called


class Decided:
    """A classifier that predicts the positive class from a probability; else like the model."""

    def __init__(self, model: Any, positive: str, threshold: float) -> None:
        self._model, self._threshold = model, threshold
        self._place = [str(label) for label in model.classes_].index(positive)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __getitem__(self, place: Any) -> Any:
        return self._model[place]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Array:
        """The labels: the positive class where its probability reaches the threshold."""
        reached = self._model.predict_proba(X)[:, self._place] >= self._threshold
        positive, other = self._model.classes_[[self._place, 1 - self._place]]
        return np.where(reached, positive, other)


def decided(model: Any, notes: Mapping[str, Any]) -> Any:
    """The model with the threshold that is saved with it, if there is one."""
    found = notes.get(NOTE)
    if found is None:
        return model
    labels = [str(label) for label in getattr(model, "classes_", ())]
    if len(labels) != 2 or not hasattr(model, "predict_proba"):
        raise altered("there is a threshold, but the model has no probabilities of two classes")
    if not isinstance(found, dict) or found.get("positive") not in labels:
        raise altered(f"the threshold must name its positive class, {labels[0]} or {labels[1]}")
    value: Any = found.get("value")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not ALWAYS <= value <= NEVER:
        raise altered(f"the value of the threshold must be a number from {ALWAYS:g} to {NEVER:g}")
    return Decided(model, found["positive"], float(value))


def saved_words(notes: Mapping[str, Any]) -> str:
    """The threshold in the notes of a model file, in words; "" if there is none."""
    found = notes.get(NOTE)
    known = isinstance(found, dict) and {"positive", "value", "chosen for"} <= found.keys()
    return _words(found) if known and found is not None else ""
