"""Explanation of a fitted model: importances, effects, contributions, coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.data.resampling import subset_rows, take_rows
from thetahat.evaluation.dependence import PartialDependence, partial_dependence
from thetahat.evaluation.importance import Importances, importances
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.types import Array
from thetahat.interfaces.quality import Held
from thetahat.interfaces.scoring import scorer_of
from thetahat.interfaces.singles import Singles, explain_rows

Unseen = tuple[Any, Any, Array]
"""A fitted model, rows that were not used for the fit, and their targets."""

LEAST_ROWS, MOST_ROWS = 500, 2000
"""Numbers of rows on which importances are computed, in all folds together."""
MOST_SHUFFLED = 40_000
"""Number of rows times columns from which fewer rows are taken."""
MOST_AGAINST = 3
"""Largest number of columns against which errors are shown."""
EFFECTS = 4
"""Largest number of columns whose effect is shown."""
REFITS = 40
"""Number of bootstrap refits for the intervals of coefficients."""
LARGEST_REFIT = 2_000_000
"""Largest number of entries of X for which models are refitted."""


@dataclass(frozen=True)
class Explanation:
    """Importances, effects, coefficients and contributions of a model."""

    importances: Importances
    effects: list[PartialDependence]
    coefficients: dict[str, Interval] | None
    """For each column of the model's own X, scaled to standard deviation 1; None if none exist."""
    singles: Singles | None = None
    """Contributions to predictions; None if there are too many columns."""

    @property
    def most_important(self) -> list[str]:
        """The columns against which errors are shown."""
        return [str(each) for each in list(self.importances.intervals)[:MOST_AGAINST]]

    def as_data(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "score": self.importances.score,
            "metric": self.importances.metric,
            "importances": self.importances.intervals,
            "effects": [
                {
                    "column": str(each.column),
                    "response": each.response,
                    "values": each.values,
                    "mean": each.mean,
                    "low": each.low,
                    "high": each.high,
                }
                for each in self.effects
            ],
            "coefficients": self.coefficients,
            "contributions": None if self.singles is None else self.singles.as_data(),
        }


def explain(
    model: Any,
    X: Any,
    y: Array,
    *,
    scoring: str,
    held: Held,
    file_rows: Array,
    unseen: Sequence[Unseen] = (),
    seed: int = 0,
) -> Explanation:
    """Explain a fitted pipeline with rows of known targets.

    Importances are computed from `unseen`, which are models with rows they were not fitted on. If
    it is empty, they are computed from the model and the given rows. `held` has what was predicted
    for the rows, and `file_rows` their numbers in the file.
    """
    pairs = unseen or [(model, X, y)]
    most = int(np.clip(MOST_SHUFFLED // X.shape[1], LEAST_ROWS, MOST_ROWS)) // len(pairs)
    scorer = scorer_of(scoring, y)
    found = together([_on_few_rows(*each, scorer, seed, most) for each in pairs])
    found = replace(found, metric=scoring)
    top = [name for name, each in found.intervals.items() if each.low > 0][:EFFECTS]
    top = top or list(found.intervals)[:1]
    shown = [name for name in top if not _is_text(X, name)]
    label = _commonest(y) if held.classes is not None and len(held.classes) > 2 else None
    effects = [partial_dependence(model, X, name, label=label, random_state=seed) for name in shown]
    singles = explain_rows(model, X, held, file_rows, seed, [each for each, *_ in unseen])
    return Explanation(found, effects, coefficients(model, X, y, seed=seed), singles)


def together(found: Sequence[Importances]) -> Importances:
    """The mean of importances from different rows, whose errors are independent."""
    if len(found) == 1:
        return found[0]
    names = list(found[0].intervals)
    means = {name: np.mean([each.intervals[name].estimate for each in found]) for name in names}
    merged = {}
    for name in sorted(names, key=lambda each: -means[each]):
        halves = [each.intervals[name].high - each.intervals[name].estimate for each in found]
        half = float(np.sqrt(np.sum(np.square(halves)))) / len(found)
        mean, level = float(means[name]), found[0].intervals[name].level
        merged[name] = Interval(mean, mean - half, mean + half, level, "shuffles in every fold")
    score = float(np.mean([each.score for each in found]))
    return Importances(found[0].metric, score, merged)


def _on_few_rows(model: Any, X: Any, y: Array, scoring: Any, seed: int, most: int) -> Importances:
    if len(y) > most:
        few = subset_rows(np.arange(len(y)), size=most, random_state=seed)
        X, y = take_rows(X, few), y[few]
    return importances(model, X, y, scoring=scoring, random_state=seed)


def coefficients(model: Any, X: Any, y: Array, *, seed: int = 0) -> dict[str, Interval] | None:
    """Coefficients of a linear model with bootstrap intervals, the largest first.

    Only for a single set of coefficients; a model of several classes has one set per class.
    """
    if not hasattr(model, "steps") or not hasattr(model[-1], "coef_"):
        return None
    last = model[-1]
    values = np.atleast_2d(np.asarray(last.coef_))
    names = model[:-1].get_feature_names_out()
    if values.shape != (1, len(names)):
        return None
    Z = model[:-1].transform(X)
    spread: Array = np.full(len(names), np.nan)
    if Z.shape[0] * Z.shape[1] <= LARGEST_REFIT:
        drawn = _refitted(last, Z, y, seed)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    else:
        low = high = spread
    order = np.argsort(-np.abs(values[0]))
    return {
        str(names[j]): Interval(
            float(values[0, j]), float(low[j]), float(high[j]), 0.95, "bootstrap"
        )
        for j in order
    }


def _refitted(last: Any, Z: Any, y: Array, seed: int) -> Array:
    """Coefficients of refits to rows drawn with replacement."""
    random = np.random.default_rng(seed)
    draws = [random.integers(len(y), size=len(y)) for _ in range(REFITS)]
    labels = np.unique(y) if hasattr(last, "classes_") else None

    def refit(rows: Array) -> Array | None:
        if labels is not None and len(np.unique(y[rows])) < len(labels):
            return None
        return np.ravel(clone(last).fit(take_rows(Z, rows), y[rows]).coef_)

    found = [each for each in parallel_map(refit, draws) if isinstance(each, np.ndarray)]
    if not found:
        failures = [each for each in parallel_map(refit, draws[:1]) if isinstance(each, Failure)]
        if failures:
            raise failures[0].error
        return np.full((1, np.size(last.coef_)), np.nan)
    return np.vstack(found)


def _commonest(y: Array) -> Any:
    """The most frequent class, whose probability is shown if there are several classes."""
    classes, counts = np.unique(y, return_counts=True)
    return classes[counts.argmax()]


def _is_text(X: Any, name: Any) -> bool:
    """Whether a column holds too many different strings to plot its effect."""
    column = X[name] if hasattr(X, "columns") else None
    return column is not None and str(column.dtype) == "String" and column.n_unique() > 30
