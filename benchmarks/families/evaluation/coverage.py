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

from benchmarks.families.evaluation.coverage_situations import (
    EQUAL,
    LIMITS,
    SITUATIONS,
    SIZES,
    Situation,
)
from benchmarks.harness import Finding, Judged, Study

CASES: tuple[Any, ...] = ()


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


def _recall_of_each(model: Any, X: Any, y: Any) -> float:
    predicted = model.predict(X)
    return float(np.mean([np.mean(predicted[y == label] == label) for label in np.unique(y)]))


def _f1(model: Any, X: Any, y: Any) -> float:
    predicted = model.predict(X)
    return float(2 * np.sum(predicted * y) / max(1, np.sum(predicted) + np.sum(y)))


def _r2(model: Any, X: Any, y: Any) -> float:
    return float(1 - np.sum((model.predict(X) - y) ** 2) / np.sum((y - y.mean()) ** 2))


def _root(model: Any, X: Any, y: Any) -> float:
    return -float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


SCORERS = {
    "accuracy": _accuracy,
    "neg_log_loss": _log_likelihood,
    "roc_auc": _area,
    "balanced_accuracy": _recall_of_each,
    "f1": _f1,
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
