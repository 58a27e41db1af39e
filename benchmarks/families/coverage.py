"""How often intervals of scores and of paired differences hold the truth, and tests reject it.

Each experiment draws a new table, evaluates models by five folds with `compare`, and looks whether
the 95% interval contains the expected score, which is the mean of the scores over all experiments.
Models are quick closed forms, so that only the statistics matter. Rows are drawn independently, or
in groups that share a shift.

``THETAHAT_REPETITIONS=1000`` sets the number of experiments per case (default 200).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from benchmarks.harness import Finding, Judged, Study

CASES: tuple[Any, ...] = ()
COLUMNS = 5
METRICS = ("accuracy", "neg_log_loss", "roc_auc")
ERRORS = ("r2", "neg_root_mean_squared_error")


class Discriminant(ClassifierMixin, BaseEstimator):
    """Two normal classes with the same covariance matrix, over some columns."""

    def __init__(self, columns: Any = slice(None)) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Discriminant:
        rows = X[:, self.columns]
        self.classes_ = np.array([0, 1])
        means = [rows[y == label].mean(axis=0) for label in (0, 1)]
        apart = rows - np.where((y == 1)[:, None], means[1], means[0])
        scatter = apart.T @ apart / max(1, len(y) - 2) + 1e-6 * np.eye(rows.shape[1])
        self.weight_ = np.linalg.solve(scatter, means[1] - means[0])
        share = float(np.mean(y))
        middle = (means[0] + means[1]) @ self.weight_ / 2
        self.intercept_ = np.log(share / (1 - share)) - middle
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, self.columns] @ self.weight_ + self.intercept_

    def predict_proba(self, X: Any) -> Any:
        positive = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> Any:
        return (self.decision_function(X) > 0).astype(int)


class Share(ClassifierMixin, BaseEstimator):
    """The share of class 1, for every row."""

    def fit(self, X: Any, y: Any) -> Share:
        self.classes_, self.share_ = np.array([0, 1]), float(np.mean(y))
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile([1 - self.share_, self.share_], (len(X), 1))

    def predict(self, X: Any) -> Any:
        return np.full(len(X), int(self.share_ > 0.5))


class Plane(RegressorMixin, BaseEstimator):
    """Least squares over some columns; the mean of the targets over none."""

    def __init__(self, columns: Any = slice(None)) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Plane:
        rows = np.column_stack([np.ones(len(X)), X[:, self.columns]])
        self.weight_ = np.linalg.lstsq(rows, y, rcond=None)[0]
        return self

    def predict(self, X: Any) -> Any:
        return self.weight_[0] + X[:, self.columns] @ self.weight_[1:]


@dataclass(frozen=True)
class Situation:
    """How tables are drawn."""

    task: str
    rows: int
    signal: float
    """Separation of the two classes in standard deviations, or size of the only coefficient."""
    share: float = 0.5
    groups: int = 0
    """Number of groups of equal size that share a shift; 0 for independent rows."""
    stratified: bool = True
    equal: bool = False
    """Whether the two models are equally good, as each has one of two columns with equal signal."""

    @property
    def name(self) -> str:
        if self.task == "regression":
            parts = [f"{self.rows} rows", f"slope {self.signal:g}"]
        else:
            parts = [
                f"{self.rows} rows",
                f"{self.share:.0%} positive",
                f"separation {self.signal:g}",
            ]
        if self.groups:
            parts.append(f"{self.groups} groups")
        if self.task == "classification" and not self.stratified:
            parts.append("not stratified")
        return ", ".join(parts)

    def table(self, random: np.random.Generator) -> tuple[Any, Any, Any]:
        """Rows, targets and groups."""
        n = self.rows
        X = random.standard_normal((n, COLUMNS))
        groups = np.arange(n) % self.groups if self.groups else None
        shift = 0.0 if groups is None else random.standard_normal(self.groups)[groups]
        if self.task == "regression":
            y = self.signal * X[:, : 1 + self.equal].sum(axis=1) + random.standard_normal(n)
            return X, y + shift, groups
        while True:
            y = (random.random(n) < self.share).astype(int)
            if groups is not None:  # classes that run in groups
                y = (random.random(self.groups) < self.share).astype(int)[groups]
                y = np.where(random.random(n) < 0.1, 1 - y, y)
            if 5 <= y.sum() <= n - 5:
                break
        X[:, : 1 + self.equal] += (self.signal * y + shift)[:, None]
        return X, y, groups

    @property
    def metrics(self) -> tuple[str, ...]:
        return METRICS if self.task == "classification" else ERRORS

    @property
    def models(self) -> tuple[Any, Any]:
        kind = Discriminant if self.task == "classification" else Plane
        if self.equal:
            return kind(slice(0, 1)), kind(slice(1, 2))
        return kind(), Share() if self.task == "classification" else Plane(slice(0, 0))


def _classes(*settings: tuple[Any, ...]) -> tuple[Situation, ...]:
    return tuple(Situation("classification", *each) for each in settings)


SITUATIONS = (
    *_classes(
        (60, 0.5),
        (60, 1.5),
        (60, 3.0),
        (300, 0.5, 0.25),
        (300, 1.5, 0.25),
        (300, 3.0, 0.25),
        (300, 4.0, 0.25),
        (300, 6.0, 0.25),
        (300, 1.5, 0.25, 0, False),
        (300, 3.0, 0.25, 0, False),
        (1000, 1.5, 0.02),
        (2000, 0.5, 0.02),
        (2000, 3.0, 0.02),
        (2000, 1.5),
        (800, 1.5, 0.5, 40),
        (800, 3.0, 0.5, 40),
    ),
    Situation("regression", 60, 0.0),
    Situation("regression", 60, 0.5),
    Situation("regression", 60, 2.0),
    Situation("regression", 300, 0.5),
    Situation("regression", 300, 2.0),
    Situation("regression", 2000, 1.0),
    Situation("regression", 800, 1.0, groups=40),
)
EQUAL = tuple(
    Situation(task, rows, signal, share, groups, True, True)
    for task, rows, signal, share, groups in (
        ("classification", 60, 1.5, 0.5, 0),
        ("classification", 300, 0.5, 0.25, 0),
        ("classification", 300, 1.5, 0.25, 0),
        ("classification", 300, 3.0, 0.25, 0),
        ("classification", 1000, 1.5, 0.02, 0),
        ("classification", 800, 1.5, 0.5, 40),
        ("regression", 60, 0.5, 0.5, 0),
        ("regression", 300, 0.5, 0.5, 0),
        ("regression", 2000, 1.0, 0.5, 0),
    )
)
LIMITS = (
    ("separation 6", "neg_log_loss", "score", (0.5, 0.97)),
    ("separation 0.5", "roc_auc", "", (0.9, 0.97)),
    ("60 rows", "neg_root_mean_squared_error", "score", (0.9, 0.97)),
    ("60 rows", "r2", "", (0.93, 1.0)),
    ("60 rows", "", "", (0.93, 1.0)),
    ("separation 4", "roc_auc", "", (0.93, 1.0)),
    ("separation 6", "roc_auc", "", (0.93, 1.0)),
    ("2% positive", "", "", (0.9, 1.0)),
    ("50% positive", "accuracy", "difference", (0.93, 1.0)),
)
"""Tables, metric and quantity whose coverage the documentation states as another; first match."""
SIZES = (
    ("2% positive", "accuracy", (0.01, 0.07)),
    ("groups", "", (0.015, 0.07)),
)
"""Tables and metric for which the documentation states another share of rejections; first match."""


def repetitions(quick: bool) -> int:
    """The number of experiments per case."""
    return 10 if quick else int(os.environ.get("THETAHAT_REPETITIONS", "200"))


@dataclass(frozen=True)
class Experiment:
    """The intervals of one table, for one metric."""

    score: Any
    difference: Any
    p: float
    score_by_folds: Any
    difference_by_folds: Any
    p_by_folds: float


def experiments(situation: Situation, count: int) -> dict[str, list[Experiment]]:
    """For every metric, the intervals on tables that are drawn anew, on all cores."""
    found: dict[str, list[Experiment]] = {metric: [] for metric in situation.metrics}
    workers = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, initializer=_one_thread) as pool:
        for each in pool.map(partial(_experiment, situation), range(count), chunksize=10):
            for metric, experiment in each.items():
                found[metric].append(experiment)
    return found


def _one_thread() -> None:
    import thetahat as th

    th.config(threads=1)
    warnings.simplefilter("ignore")


def _accuracy(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))


def _log_likelihood(model: Any, X: Any, y: Any) -> float:
    eps = np.finfo(float).eps
    shares = np.clip(model.predict_proba(X), eps, 1 - eps)
    return float(np.log(shares[np.arange(len(y)), y]).mean())


def _area(model: Any, X: Any, y: Any) -> float:
    values = model.predict_proba(X)[:, 1]
    apart = values[y == 1][:, None] - values[y == 0]
    return float((apart > 0).mean() + (apart == 0).mean() / 2)


def _r2(model: Any, X: Any, y: Any) -> float:
    return float(1 - np.sum((model.predict(X) - y) ** 2) / np.sum((y - y.mean()) ** 2))


def _root(model: Any, X: Any, y: Any) -> float:
    return -float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


SCORERS = {
    "accuracy": _accuracy,
    "neg_log_loss": _log_likelihood,
    "roc_auc": _area,
    "r2": _r2,
    "neg_root_mean_squared_error": _root,
}
"""The metrics without the checks that take scikit-learn most of its time."""


def _experiment(situation: Situation, repetition: int) -> dict[str, Experiment]:
    from thetahat.evaluation.cross_fitting import cross_fit
    from thetahat.evaluation.evaluate import Evaluation
    from thetahat.evaluation.folds import folds_of
    from thetahat.evaluation.pairs import judged_pairs
    from thetahat.evaluation.sampling.design import units_of_sampling
    from thetahat.evaluation.score_intervals import score_interval

    X, y, groups = situation.table(np.random.default_rng((17, repetition)))
    classifier = situation.task == "classification" and situation.stratified
    folds = folds_of(5, X, y, classifier=classifier, groups=groups, random_state=repetition)
    units = units_of_sampling(folds, len(y), groups)
    models = dict(zip(("first", "second"), situation.models, strict=True))
    scorers = {metric: SCORERS[metric] for metric in situation.metrics}
    names: dict[str, str | None] = {metric: metric for metric in scorers}
    fits = cross_fit(
        models,
        X,
        y,
        folds,
        dict.fromkeys(models, scorers),
        units=units,
        names=dict.fromkeys(models, names),
    )
    evaluations = {}
    for name in models:
        own = [fit for fit in fits if fit.model == name]
        scores = {metric: np.array([fit.scores[metric] for fit in own]) for metric in scorers}
        evaluations[name] = Evaluation(name, {}, scores, None, None, tuple(own), names, units)
    found = {}
    for metric in situation.metrics:
        pairs = [
            judged_pairs([("first", "second")], evaluations, metric, y, test, 0.95)[0]
            for test in ("auto", "corrected_t")
        ]
        by_rows, by_folds = (
            score_interval(
                evaluations["first"].fits,
                metric,
                y,
                known=metric,
                kind=kind,
                level=0.95,
                random_state=0,
                units=units,
            )
            for kind in ("auto", "corrected_t")
        )
        found[metric] = Experiment(
            by_rows,
            pairs[0].difference,
            pairs[0].test.p,
            by_folds,
            pairs[1].difference,
            pairs[1].test.p,
        )
    return found


def _covered(intervals: list[Any]) -> float:
    truth = float(np.mean([each.estimate for each in intervals]))
    return float(np.mean([truth in each for each in intervals]))


def coverage(quick: bool, say: Callable[[str], None]) -> Finding:
    """Coverage of 95% intervals, for every metric, from rows and from the scores of folds."""
    rows: list[dict[str, Any]] = []
    count = repetitions(quick)
    for situation in SITUATIONS:
        say(situation.name)
        for metric, found in experiments(situation, count).items():
            for what in ("score", "difference"):
                by_folds = [getattr(each, f"{what}_by_folds") for each in found]
                rows.append(
                    {
                        "tables": situation.name,
                        "metric": metric,
                        "interval of": what,
                        "covers": _covered([getattr(each, what) for each in found]),
                        "corrected t over folds": _covered(by_folds),
                    }
                )
    show = dict.fromkeys(("covers", "corrected t over folds"), "{:.1%}".format)
    return Finding(rows, show, [_judged(row, count) for row in rows])


def _judged(row: dict[str, Any], count: int) -> Judged:
    """93 to 97%, with two standard errors of the share of hits; other limits where documented."""
    least, most = next(
        (
            limits
            for tables, metric, what, limits in LIMITS
            if tables in row["tables"] and metric in row["metric"] and what in row["interval of"]
        ),
        (0.93, 0.97),
    )
    name = f"{row['tables']}: {row['interval of']} of {row['metric']} covers"
    return _within(name, row["covers"], least, most, count)


def _judged_size(row: dict[str, Any], count: int) -> Judged:
    """3 to 7%, with two standard errors; other limits where documented."""
    least, most = next(
        (
            limits
            for tables, metric, limits in SIZES
            if tables in row["tables"] and metric in row["metric"]
        ),
        (0.03, 0.07),
    )
    name = f"{row['tables']}: test of {row['metric']} rejects"
    return _within(name, row["rejects"], least, most, count)


def _within(name: str, share: float, least: float, most: float, count: int) -> Judged:
    slack = 2 * np.sqrt(0.05 * 0.95 / count)
    holds = bool(least - slack <= share <= most + slack)
    return f"{name} {100 * least:g} to {100 * most:g}%", share, holds


def size(quick: bool, say: Callable[[str], None]) -> Finding:
    """How often a test at 5% rejects that two models are equal which are."""
    rows: list[dict[str, Any]] = []
    count = repetitions(quick)
    for situation in EQUAL:
        say(f"equal models: {situation.name}")
        for metric, found in experiments(situation, count).items():
            rows.append(
                {
                    "tables": situation.name,
                    "metric": metric,
                    "rejects": float(np.mean([each.p < 0.05 for each in found])),
                    "corrected t over folds": float(
                        np.mean([each.p_by_folds < 0.05 for each in found])
                    ),
                }
            )
    show = dict.fromkeys(("rejects", "corrected t over folds"), "{:.1%}".format)
    return Finding(rows, show, [_judged_size(row, count) for row in rows])


STUDIES = (
    Study("Coverage of intervals", coverage),
    Study("Size of tests", size),
)
