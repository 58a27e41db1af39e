"""Comparison of several models on a problem, as printed by `compare` and shown in the report."""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.evaluation.compare import Comparison, compared
from thetahat.evaluation.evaluate import Evaluation, evaluate
from thetahat.evaluation.findings.classes import suitable_metric
from thetahat.evaluation.findings.finding import Findings, by_severity
from thetahat.evaluation.findings.table import CheckedTable
from thetahat.evaluation.folds import folds_of
from thetahat.evaluation.tuning.nested import NestedTuning
from thetahat.evaluation.tuning.stack import NAME as NAME_OF_STACK
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.interfaces.afterwards import afterwards
from thetahat.interfaces.console import Console, color_wanted
from thetahat.interfaces.findings import findings_of, group_of, lines, table_of, with_remark
from thetahat.interfaces.problem import Problem
from thetahat.interfaces.scoring import further_metrics, require_scoring, scorer_of
from thetahat.interfaces.splits import Asked, Splits, plan_splits
from thetahat.interfaces.spread import STACK, pipelines

PATIENCE = 60.0
"""Seconds of fitting up to which the best model is also scored on shuffled folds."""
LONGEST_REFIT = 10.0
"""Seconds of a fit up to which the report shows the best model fitted to all rows."""
UNITS = {"accuracy": (100.0, "%"), "roc_auc": (1.0, ""), "r2": (1.0, "")}


@dataclass(frozen=True)
class Trial:
    """A problem, the models compared on it, and the result."""

    problem: Problem
    models: dict[str, Any]
    comparison: Comparison
    notes: list[str]
    splits: Splits
    findings: Findings
    tuning: NestedTuning | None = None
    """The tuning of the models; None if they were fitted as they are."""
    unfinished: tuple[str, ...] = ()
    """Models that an interrupt has stopped."""
    asked: tuple[str, ...] = ()
    """The models that the user has named, by their names in the output."""

    @cached_property
    def held(self) -> Evaluation:
        """The evaluation of the best model with the model that was fitted on every fold."""
        return self.held_of(self.best)

    def held_of(self, name: str) -> Evaluation:
        """The evaluation of a model with the model that was fitted on every fold."""
        if self.tuning is not None:
            return self.tuning.with_models(self.comparison.evaluations[name])
        return evaluate(
            self.models[name],
            self.problem.X,
            self.problem.y,
            cv=self.splits.folds,
            scoring={self.metric: scorer_of(self.metric, self.problem.y)},
            groups=self.splits.groups,
            name=name,
            keep_models=True,
        )

    def fitted(self, name: str) -> Any:
        """A model fitted to all rows, with the setting that most folds have chosen."""
        if self.tuning is not None:
            return self.tuning.final_model(name)
        return self.models[name].fit(self.problem.X, self.problem.y)

    @cached_property
    def shown_model(self) -> Any:
        """The best model fitted to all rows; that of the first fold if the fit takes long."""
        if self.seconds_of_fit(self.best) > LONGEST_REFIT:
            return self.held.fits[0].estimator
        return self.fitted(self.best)

    @property
    def shown_words(self) -> str:
        """Which rows the model of effects and contributions is fitted to, if not to all."""
        if self.seconds_of_fit(self.best) > LONGEST_REFIT:
            return "Effects and contributions are those of the model of the first fold."
        return ""

    def seconds_of_fit(self, name: str) -> float:
        """Seconds of a fit of a model with its chosen setting, without the search."""
        if self.tuning is not None:
            return self.tuning.seconds_of_fit(name)
        return float(self.comparison.evaluations[name].fit_seconds.mean())

    @property
    def stack(self) -> str:
        """The name of the stack, if there is one; "" otherwise."""
        return NAME_OF_STACK if NAME_OF_STACK in self.comparison.evaluations else ""

    def settings(self, name: str) -> list[dict[str, str]]:
        """The setting of a model that each fold has chosen, as text; empty without tuning."""
        if self.tuning is None or name not in self.tuning.models:
            return []
        return [
            {key.rpartition("__")[2]: str(value) for key, value in found.setting.items()}
            for found in (self.tuning.fits[name, number] for number in range(self.cv))
        ]

    @property
    def cv(self) -> int:
        """The number of folds."""
        return self.splits.n_folds

    @property
    def metric(self) -> str:
        return self.comparison.metric

    @property
    def best(self) -> str:
        return self.comparison.best

    @property
    def caution(self) -> str:
        """A warning about the scores if there are severe findings; "" otherwise."""
        count = len(self.findings.severe)
        if not count:
            return ""
        return f"Do not rely on these scores before the {_severe(count)} been checked."

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
    option: str = "--models",
    cv: int = 5,
    scoring: str | None = None,
    margin: str = "1%",
    seed: int = 0,
    order: Asked | None = None,
    test: CheckedTable | None = None,
    time_limit: float = 0.0,
    begun: float | None = None,
    thresholds: bool = False,
) -> Trial:
    """Look at the rows, then tune, fit and compare the models on the same folds.

    With a time limit, the models are tuned on the training rows of every fold, and a stack of them
    is added if the models were not chosen by the user, or if it was requested. The limit counts
    from when the command has `begun` (``time.monotonic``), but at least half of it is for the
    models. If `thresholds` are to be chosen, models are compared by how well they rank the rows,
    and models without probabilities are left out unless they were requested.
    """
    order = order or Asked()
    stack = asked is None or STACK in map(str.lower, asked)
    if asked is not None and stack and not time_limit:
        raise ParameterError(
            f"{option} {STACK}: a stack combines tuned models, so it needs a --time-limit above 0."
        )
    asked = [name for name in asked if name.lower() != STACK] if asked else None
    if scoring is not None:
        require_scoring(scoring, problem.task, problem.y)
    models = pipelines(problem.task, problem.kinds, asked, seed, option)
    if thresholds and asked is None:
        models = {name: one for name, one in models.items() if hasattr(one, "predict_proba")}
    named = tuple(models) if asked else ()
    if len(models) < 2:
        models = {**_company(problem, named), **models}
    notes: list[str] = []
    table = table_of(problem, order)
    cv = _folds(problem, cv, notes)
    splits = plan_splits(table, cv, order, seed, group_of(problem, order))
    findings = findings_of(problem, table, order, splits, test)
    _say(findings, console)
    if not splits.are_shuffled:
        console.say(f"folds: {splits.words}")
    if scoring is None:
        scoring = _metric(problem, table, splits, thresholds)
    metrics = [scoring, *further_metrics(problem, models, splits, scoring)]
    with console.progress("fitting") as progress, warnings.catch_warnings():
        # Warnings of fits come back with their results; one warning per fold is too much here.
        warnings.simplefilter("ignore")
        unfinished: list[str] = []
        tuning = None
        if time_limit:
            spent = 0.0 if begun is None else time.monotonic() - begun
            left = max(time_limit / 2, time_limit - spent)
            tuning = _tuning(problem, table, models, splits, scoring, left, seed)
        comparison = compared(
            models,
            problem.X,
            problem.y,
            cv=splits.folds,
            scoring={each: scorer_of(each, problem.y) for each in metrics},
            groups=splits.groups,
            margin=margin,
            random_state=seed,
            progress=progress,
            tuning=tuning,
            stack=stack,
            stopped=unfinished,
        )
        if tuning is not None:
            notes += tuning.notes_about_time
        if unfinished:
            notes.append(f"interrupted before these were finished: {', '.join(unfinished)}")
        elif stack and tuning is not None and NAME_OF_STACK not in comparison.evaluations:
            notes.append(tuning.why_no_stack())
        elif not splits.are_shuffled and order.group is None and tuning is None:
            otherwise = _if_shuffled(problem, models, comparison, cv, seed)
            if otherwise:
                console.say(f"note: {otherwise}")
                findings = with_remark(findings, splits, otherwise)
    later = replace(findings, found=by_severity(afterwards(problem, comparison)))
    _say(later, console)
    findings = replace(findings, found=by_severity([*later, *findings]))
    done = {name: models.get(name) for name in comparison.evaluations}
    return Trial(
        problem, done, comparison, notes, splits, findings, tuning, tuple(unfinished), named
    )


def _tuning(
    problem: Problem,
    table: CheckedTable,
    models: dict[str, Any],
    splits: Splits,
    scoring: str,
    seconds: float,
    seed: int,
) -> NestedTuning:
    """The tuning of the models, which splits training rows as the folds split all rows."""
    classify = problem.task == "classification"
    folds = folds_of(
        splits.folds,
        problem.X,
        problem.y,
        classifier=classify,
        groups=splits.groups,
        random_state=seed,
    )
    when = next((each.values for each in table.columns if each.name == splits.time), None)
    return NestedTuning(
        models,
        problem.X,
        problem.y,
        folds,
        scoring={scoring: scorer_of(scoring, problem.y)},
        limit=seconds,
        groups=splits.groups,
        order=None if when is None else np.nan_to_num(when, nan=-np.inf),
        seed=seed,
    )


def _if_shuffled(
    problem: Problem, models: dict[str, Any], comparison: Comparison, cv: int, seed: int
) -> str:
    """The score that the best model would seem to have on shuffled folds; "" if that takes long."""
    best = comparison.evaluations[comparison.best]
    if cv * best.fit_seconds.max() > PATIENCE:
        return ""
    metric = comparison.metric
    seeming = evaluate(
        models[comparison.best],
        problem.X,
        problem.y,
        cv=cv,
        scoring={metric: scorer_of(metric, problem.y)},
        random_state=seed,
    )
    scale, unit = UNITS.get(metric, (1.0, ""))
    sign = -scale if metric.startswith("neg_") else scale
    seeming_score, score = (
        f"{sign * each.scores[metric].mean():.4g}{unit}" for each in (seeming, best)
    )
    if seeming_score == score:
        return ""
    return (
        f"with shuffled folds, {comparison.best} would seem to have {metric.removeprefix('neg_')} "
        f"{seeming_score} instead of {score}"
    )


def _say(findings: Findings, console: Console) -> None:
    """Print what was found in the rows."""
    width = min(100, shutil.get_terminal_size((100, 20)).columns)
    if len(findings):
        console.say(f"findings: {findings.summary}")
        console.styled(lines(findings, color=color_wanted(sys.stderr), width=width), aside=True)


def _metric(problem: Problem, table: CheckedTable, splits: Splits, thresholds: bool) -> str:
    """The score by default; rankings need at least two classes in every fold."""
    if problem.task == "regression":
        return "r2"
    held = [] if isinstance(splits.folds, int) else [fold[1] for fold in splits.folds]
    one_class = any((problem.y[rows] == problem.y[rows[0]]).all() for rows in held)
    if one_class:
        return "accuracy"
    return "roc_auc" if thresholds else suitable_metric(table)


def _severe(count: int) -> str:
    return "severe finding has" if count == 1 else f"{count} severe findings have"


def _company(problem: Problem, named: tuple[str, ...]) -> dict[str, Any]:
    """The baseline, with which a single model is compared; it is compared with a linear model."""
    others = ["ConstantClassifier", "logistic"]
    if problem.task == "regression":
        others = ["ConstantRegressor", "linear"]
    found = pipelines(problem.task, problem.kinds, others)
    return dict([(name, model) for name, model in found.items() if name not in named][:1])


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
