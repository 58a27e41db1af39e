"""What the held-out predictions say about the rows: a perfect score, labels that may be wrong."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from thetahat.evaluation.compare import Comparison
from thetahat.evaluation.evaluate import Evaluation
from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding, counted
from thetahat.foundation.types import Array
from thetahat.interfaces.problem import Problem

PERFECT = {"accuracy": 0.9995, "r2": 0.9995, "roc_auc": 0.9995, "balanced_accuracy": 0.9995}
ALWAYS = "always"
"""How the names of models begin that predict a constant."""
LEAST_MODELS = 3
"""Number of models that must agree on another label."""
MOST_WRONG = 0.25
"""Largest share of other labels among rows of which all models say a label that they learned."""
LESS_WRONG = 0.5
"""The same, relative to the share of other labels among all rows."""


def afterwards(problem: Problem, comparison: Comparison) -> list[Finding]:
    """Findings that need models: scores too good or too bad, and labels that all contradict."""
    return [
        *_perfect(problem, comparison),
        *_no_better(problem, comparison),
        *_contradicted(problem, comparison),
    ]


def _perfect(problem: Problem, comparison: Comparison) -> list[Finding]:
    score = float(comparison.evaluations[comparison.best].scores[comparison.metric].mean())
    if score < PERFECT.get(comparison.metric, np.inf):
        return []
    return [
        Finding(
            "perfect score",
            "warning",
            f"{comparison.best} predicts {problem.target} without error ({comparison.metric} "
            f"{score:.4g}).",
            "Real targets are rarely so easy: often a column holds the answer, or the target was "
            "computed from the columns.",
            "Look at the most important columns, and make sure that they are known before the "
            "target is.",
        )
    ]


def _no_better(problem: Problem, comparison: Comparison) -> list[Finding]:
    """No model has a better score than the same prediction for every row."""
    metric = comparison.metric
    scores = {
        name: float(each.scores[metric].mean()) for name, each in comparison.evaluations.items()
    }
    constant = [score for name, score in scores.items() if name.startswith(ALWAYS)]
    learned = {name: score for name, score in scores.items() if not name.startswith(ALWAYS)}
    least = constant[0] if constant else _score_of_a_constant(metric, problem)
    best = max(learned, key=learned.__getitem__, default=None)
    if best is None or not learned[best] <= least:
        return []
    sign = -1 if metric.startswith("neg_") else 1
    return [
        Finding(
            "baseline",
            "warning",
            f"No model is better than the same prediction for every row: {best} has "
            f"{metric.removeprefix('neg_')} {sign * learned[best]:.4g}, a constant "
            f"{sign * least:.4g}.",
            "What was learned is of no use for rows that the models have not seen.",
            "Do not rely on them. Add columns that have to do with the target, or rows.",
            (problem.target,),
        )
    ]


def _score_of_a_constant(metric: str, problem: Problem) -> float:
    """The score of one prediction for every row; −∞ for metrics where it is not known."""
    if problem.task == "regression":
        return 0.0 if metric == "r2" else -np.inf
    counts = np.unique(problem.y, return_counts=True)[1]
    known = {
        "accuracy": counts.max() / counts.sum(),
        "balanced_accuracy": 1 / counts.size,
        "roc_auc": 0.5,
    }
    return float(known.get(metric, -np.inf))


def _contradicted(problem: Problem, comparison: Comparison) -> list[Finding]:
    """Rows for which every model predicts the same other label."""
    if problem.task != "classification":
        return []
    models = [
        each
        for name, each in comparison.evaluations.items()
        if each.predictions is not None and not name.startswith(ALWAYS)
    ]
    if len(models) < LEAST_MODELS:
        return []
    said = np.asarray(models[0].predictions)
    agreed = np.all([each.predictions == said for each in models], axis=0)
    rows = np.flatnonzero(agreed & (said != problem.y) & _is_learned(said, agreed, problem.y))
    if not rows.size:
        return []
    rows = _surest_first(rows, models, problem.y)
    return [
        Finding(
            "labels",
            "note",
            f"{counted(int(rows.size), 'row')} ({rows.size / problem.n_rows:.1%}) "
            f"{'has' if rows.size == 1 else 'have'} a label that all {len(models)} models "
            "contradict with the same other label.",
            "Their labels may be wrong, or the columns do not distinguish these rows.",
            "Check the labels of these rows, which are in the order of how sure the models are.",
            (problem.target,),
            tuple(problem.rows[rows[:ROWS_KEPT]].tolist()),
            int(rows.size),
        )
    ]


def _is_learned(said: Array, agreed: Array, y: Array) -> Array:
    """Whether the models can distinguish the label that is said of a row from the others.

    Where they agree on a label without having learned it, such as the most frequent one, other
    labels are no sign of an error.
    """
    learned = [
        label
        for label in np.unique(said[agreed])
        if np.mean(y[agreed & (said == label)] != label)
        <= min(MOST_WRONG, LESS_WRONG * np.mean(y != label))
    ]
    return np.isin(said, learned)


def _surest_first(rows: Array, models: list[Evaluation], y: Array) -> Array:
    """The rows in the order of how far their class is behind another, over all models."""
    classes, codes = np.unique(y, return_inverse=True)
    ranks = np.zeros(len(rows))
    for model in models:
        if model.certainties is None:
            continue
        values = model.certainties[rows]
        if values.ndim == 1:
            ranks += rankdata(np.abs(values))
        elif values.shape[1] == len(classes):
            ranks += rankdata(values.max(axis=1) - values[np.arange(len(rows)), codes[rows]])
    return rows[np.argsort(-ranks, kind="stable")]
