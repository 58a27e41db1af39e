"""Comparison of several models on a problem, as printed by `compare` and shown in the report."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.evaluation.compare import Comparison, compare
from thetahat.foundation.errors import DataError
from thetahat.interfaces.console import Console
from thetahat.interfaces.problem import Problem
from thetahat.interfaces.spread import pipelines

UNITS = {"accuracy": (100.0, "%"), "roc_auc": (1.0, ""), "r2": (1.0, "")}


@dataclass(frozen=True)
class Trial:
    """A problem, the models compared on it, and the result."""

    problem: Problem
    models: dict[str, Any]
    comparison: Comparison
    notes: list[str]
    cv: int

    @property
    def metric(self) -> str:
        return self.comparison.metric

    @property
    def best(self) -> str:
        return self.comparison.best

    @property
    def sentences(self) -> list[str]:
        """Comparison of the best model with the second best, and with the baseline."""
        names = list(self.comparison.evaluations)
        pairs = {(pair.better, pair.worse): pair for pair in self.comparison.pairs}
        last = next((name for name in names if name.startswith("always")), None)
        wanted = [(names[0], names[1])]
        if last is not None and last not in wanted[0]:
            wanted.append((names[0], last))
        return [pairs[each].sentence for each in wanted]

    def rows(self) -> list[list[str]]:
        """The table: model, score, interval, seconds per fit."""
        scale, unit = UNITS.get(self.metric, (1.0, ""))
        found = []
        for name, evaluation in self.comparison.evaluations.items():
            score = evaluation.intervals[self.metric]
            sign = -1.0 if self.metric.startswith("neg_") else 1.0
            low, high = sorted((sign * score.low, sign * score.high))
            found.append(
                [
                    name,
                    f"{scale * sign * score.estimate:.4g}{unit}",
                    f"{scale * low:.4g} to {scale * high:.4g}",
                    f"{evaluation.fit_seconds.mean():.2g} s",
                ]
            )
        return found

    @property
    def headers(self) -> list[str]:
        level = next(iter(self.comparison.evaluations.values())).intervals[self.metric].level
        return ["model", self.metric.removeprefix("neg_"), f"{level:.0%} interval", "fit"]


def try_models(
    problem: Problem,
    console: Console,
    *,
    asked: Sequence[str] | None = None,
    cv: int = 5,
    scoring: str | None = None,
    margin: str = "1%",
    seed: int = 0,
) -> Trial:
    """Fit and compare the models on the same folds."""
    models = pipelines(problem.task, problem.kinds, asked, seed)
    if len(models) < 2:
        models = {**_baseline(problem), **models}
    notes: list[str] = []
    folds = _folds(problem, cv, notes)
    scoring = scoring or ("accuracy" if problem.task == "classification" else "r2")
    with console.progress("fitting") as progress, warnings.catch_warnings():
        # Warnings of fits come back with their results; one warning per fold is too much here.
        warnings.simplefilter("ignore")
        comparison = compare(
            models,
            problem.X,
            problem.y,
            cv=folds,
            scoring=scoring,
            margin=margin,
            random_state=seed,
            progress=progress,
        )
    return Trial(problem, models, comparison, notes, folds)


def _baseline(problem: Problem) -> dict[str, Any]:
    found = pipelines(problem.task, problem.kinds)
    return {name: model for name, model in found.items() if name.startswith("always")}


def _folds(problem: Problem, cv: int, notes: list[str]) -> int:
    """The number of folds, at most the number of rows of the smallest class."""
    if cv < 2:
        raise DataError(f"--cv {cv}: at least 2 folds are needed.")
    most = problem.n_rows
    if problem.task == "classification":
        most = int(np.unique(problem.y, return_counts=True)[1].min())
    if most < 2:
        raise DataError(
            f"{problem.n_rows} row{'s' * (problem.n_rows != 1)} cannot be split into folds. Give "
            "more rows."
        )
    if most < cv:
        notes.append(f"{most} folds instead of {cv}: the smallest class has {most} rows")
    return min(cv, most)
