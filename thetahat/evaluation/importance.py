"""Permutation importance: the loss of score when a column is shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from thetahat.data.columns.replaced_column import column_labels, exchanged
from thetahat.data.resampling import take_rows
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, whole
from thetahat.evaluation.metrics import scorers_for
from thetahat.evaluation.sampling.answers import answers_of
from thetahat.evaluation.statistics.outcome import Interval, standard_deviation
from thetahat.foundation.arguments import require_level, returned_number
from thetahat.foundation.drawing import draws
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

MOST_AT_ONCE = 20_000
"""Rows that are predicted together: one prediction of many rows takes less than many of few."""


@dataclass(frozen=True)
class Importances:
    """The importance of each column for a model, largest first; prints as a table.

    Formula: score(X) − score(X with the column shuffled). Cost: O(d).

    Attributes
    ----------
    metric : str
        The name of the metric.
    score : float
        The score with no column shuffled.
    intervals : dict of str to Interval
        For each column, the loss of score and its confidence interval, largest first.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=0.1, random_state=0)
    >>> model = th.LinearRegression().fit(data.X, data.y)
    >>> len(th.importances(model, data.X, data.y).intervals)
    3
    """

    metric: str
    score: float
    intervals: dict[Any, Interval]

    def __str__(self) -> str:
        width = max(len(str(name)) for name in self.intervals)
        lines = [f"{self.metric} {self.score:.4g}; loss when a column is shuffled:"]
        lines += [
            f"  {name!s:<{width}}  {each.estimate:.3g}  ({each.low:.3g} to {each.high:.3g})"
            for name, each in self.intervals.items()
        ]
        return "\n".join(lines)

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None, most: int = 20) -> None:
        """Plot the largest importances with their intervals. Cost: O(columns).

        Parameters
        ----------
        most : int, default=20
            The largest number of columns to show.
        """
        shown = list(self.intervals.items())[:most][::-1]
        for place, (_, each) in enumerate(shown):
            axes.plot([each.low, each.high], [place, place], color="C0", lw=3, alpha=0.4)
            axes.plot(each.estimate, place, "o", color="C0")
        axes.axvline(0.0, color="0.7", lw=1)
        axes.set(yticks=range(len(shown)), yticklabels=[str(name) for name, _ in shown])
        axes.set_xlabel(f"{self.metric} lost when shuffled")


@needs_memory
def importances(
    model: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 10,
    level: float = 0.95,
    random_state: Any = 0,
) -> Importances:
    """Compute how much score a fitted model loses when a column is shuffled, with intervals.

    Formula: I_j = score(X, y) − score(X with column j shuffled, y), each time on rows drawn with
    replacement, so that the interval Ī_j ± z·s covers the randomness of both the rows and the
    shuffles. If two columns carry the same information, both importances are small, because the
    model can still use the other column. Cost: predictions of n_repeats × (d + 1) × n rows, some
    20,000 at a time, run in parallel.

    Parameters
    ----------
    model : fitted estimator
        A fitted model with scikit-learn's interface, or a fitted pipeline. Importances are for the
        columns of X, before any preprocessing.
    X, y : array or table, array-like
        Rows and their targets. Use rows that were not used for the fit; on training rows the
        importances include what the model memorised.
    scoring : str or callable, optional
        One metric as in scikit-learn: a name such as "accuracy", or a callable
        ``scorer(model, X, y)``. Greater values must be better. By default the model's own
        ``score`` method is used.
    n_repeats : int, default=10
        The number of shuffles per column, at least 2. More shuffles give more accurate intervals.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.
    random_state : int, Generator or None, default=0
        Seed or generator for the shuffles. The same seed gives the same result.

    Returns
    -------
    Importances

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=0.1, random_state=0)
    >>> model = th.LinearRegression().fit(data.X, data.y)
    >>> found = th.importances(model, data.X, data.y)
    >>> bool(next(iter(found.intervals)) == abs(model.coef_).argmax())
    True
    """
    require_level(level)
    check_is_fitted(model)
    check_value(n_repeats, whole(2), "n_repeats", "importances")
    scorer = check_scoring(model, scoring)
    labels, n = column_labels(X), len(np.asarray(y))
    random = generator(random_state)
    draws = [(random.integers(n, size=n), random.permutation(n)) for _ in range(n_repeats)]
    intact = returned_number(scorer(model, X, y), "The metric")
    at_once = max(1, MOST_AT_ONCE // max(n, 1))
    batches = [_joined(X, y, draws[k : k + at_once]) for k in range(0, n_repeats, at_once)]
    kept = np.concatenate([_scores(scorer, model, rows, y, n) for rows, y, _ in batches])

    def losses(label: Any) -> Array:
        shuffled = [
            _scores(scorer, model, exchanged(rows, label, order), targets, n)
            for rows, targets, order in batches
        ]
        return kept - np.concatenate(shuffled)

    found = {}
    for label, lost in zip(labels, parallel_map(losses, labels), strict=True):
        if isinstance(lost, Failure):
            raise lost.error
        found[label] = _interval(lost, level)
    ranked = sorted(found.items(), key=lambda item: -item[1].estimate)
    (metric,) = scorers_for(model, scoring, [], True)
    return Importances(metric, intact, dict(ranked))


def _joined(X: Any, y: Any, draws: list[tuple[Array, Array]]) -> tuple[Any, Any, Array]:
    """The rows of several draws in one table, their targets, and the order that shuffles each."""
    rows = np.concatenate([drawn for drawn, _ in draws])
    order = np.concatenate([k * len(each) + each for k, (_, each) in enumerate(draws)])
    return take_rows(X, rows), take_rows(y, rows), order


def _scores(scorer: Any, model: Any, X: Any, y: Any, size: int) -> Array:
    """The score of every `size` rows of a table, which are predicted together."""
    replayed = hasattr(scorer, "_score_func")  # others may look at the rows
    answers, places = answers_of(model, X), np.arange(len(np.asarray(y)))
    found = []
    for start in range(0, places.size, size):
        part = places[start : start + size]
        learner, rows = (answers, part) if replayed else (model, take_rows(X, part))
        found.append(float(scorer(learner, rows, take_rows(y, part))))
    return np.array(found)


def _interval(losses: Array, level: float) -> Interval:
    from scipy import stats

    mean, half = float(losses.mean()), standard_deviation(losses) * stats.norm.isf((1 - level) / 2)
    return Interval(mean, mean - half, mean + half, level, "bootstrap and shuffles")
