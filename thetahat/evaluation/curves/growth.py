"""Learning curves over the number of training rows, and validation curves over a parameter.

Each point is a cross-validated score with its interval; all points use the same folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from thetahat.data.resampling import take_rows
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.evaluation.cross_fitting import cross_fit
from thetahat.evaluation.evaluate import evaluate
from thetahat.evaluation.folds import Fold, folds_of, targets_of
from thetahat.evaluation.metrics import known_as, own_score, range_of, scorers_for
from thetahat.evaluation.score_intervals import fold_interval, overlap_of, within_range
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class ScoreCurve:
    """Held-out and training scores as a function of the training size or of a parameter.

    Formula: the mean over folds, with the corrected t interval limited to the range of the metric.
    Cost: O(points).

    Attributes
    ----------
    name : str
        The quantity on the horizontal axis: the number of training rows, or a parameter.
    values : array of shape (n_points,)
        The values of this quantity.
    scores : tuple of Interval
        For each value, the mean score on held-out rows and its confidence interval.
    training_scores : array of shape (n_points,)
        For each value, the mean score on the training rows.
    metric : str
        The name of the metric.
    best : object
        The value with the highest mean score on held-out rows.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 5, noise=1.0, random_state=0)
    >>> curve = th.learning_curve(th.Ridge(), data.X, data.y, sizes=[20, 150])
    >>> curve.scores[1].estimate > curve.scores[0].estimate
    True
    """

    name: str
    values: Array
    scores: tuple[Interval, ...]
    training_scores: Array
    metric: str

    @property
    def best(self) -> Any:
        """The value with the highest mean score on held-out rows."""
        return self.values[int(np.argmax([interval.estimate for interval in self.scores]))]

    def __str__(self) -> str:
        rows = zip(self.values, self.scores, self.training_scores, strict=True)
        lines = [f"{self.metric} over {self.name}"]
        lines += [
            f"  {value!s:>10}  {score}  (training rows {own:.4g})" for value, score, own in rows
        ]
        return "\n".join(lines)

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the scores on held-out rows with their band, and on training rows. Cost: O(points).

        Values that are not numbers are placed at equal distances.
        """
        low, mid, high = np.array([[s.low, s.estimate, s.high] for s in self.scores]).T
        places = self.values
        if self.values.dtype.kind not in "iuf":
            places = np.arange(len(self.values))
            axes.set_xticks(places, [str(value) for value in self.values])
        axes.fill_between(
            places, low, high, where=np.isfinite(low) & np.isfinite(high), alpha=0.2, lw=0
        )
        axes.plot(places, mid, "o-", label="held-out rows")
        axes.plot(places, self.training_scores, "s--", label="training rows")
        axes.set(xlabel=self.name, ylabel=self.metric)
        axes.legend(frameon=False)


@described_like(evaluate)
@needs_memory
def learning_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = 5,
    scoring: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> ScoreCurve:
    """Score a model trained on growing numbers of rows.

    If the score on held-out rows still rises at the last size, more rows may help.

    Formula: the training rows of each fold are shuffled once, and each size takes the first rows of
    this order. Cost: sizes × folds fits, run in parallel.

    Parameters
    ----------
    sizes : sequence of int or float, default=(0.1, 0.25, 0.5, 0.75, 1.0)
        Sizes of the training sets. An integer is a number of rows. A float in (0, 1] is a share of
        the training rows of a fold.
    scoring : str or callable, optional
        One metric as in scikit-learn: a name such as "accuracy", or a callable
        ``scorer(model, X, y)``. Greater values must be better. By default the model's own
        ``score`` method is used.

    Returns
    -------
    ScoreCurve

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 3, random_state=0)
    >>> th.learning_curve(th.Ridge(), data.X, data.y, sizes=[10, 80]).values.tolist()
    [10, 80]
    """
    if not len(sizes):
        raise ParameterError("learning_curve: sizes is empty. Give at least one size.")
    y, _ = targets_of(X, y, "learning_curve", models=[model])
    folds = _folds(model, X, y, cv, random_state)
    random = generator(random_state)
    shuffled = [(random.permutation(np.asarray(train)), test) for train, test in folds]
    most = min(len(train) for train, _ in shuffled)
    counts = np.array([_count(size, most) for size in sizes])
    parts = [[(train[:count], test) for train, test in shuffled] for count in counts]
    return _curve("training rows", counts, [model] * len(counts), X, y, parts, scoring, level)


@described_like(learning_curve)
@needs_memory
def validation_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    parameter: str,
    values: Sequence[Any],
    cv: Any = 5,
    scoring: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> ScoreCurve:
    """Score a model for several values of one of its parameters.

    Formula: all values use the same folds. Cost: values × folds fits, run in parallel.

    Parameters
    ----------
    parameter : str
        The name of the parameter, as in ``set_params``.
    values : sequence
        The values to try. They need not be numbers.

    Returns
    -------
    ScoreCurve

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 10, noise=3.0, random_state=0)
    >>> curve = th.validation_curve(
    ...     th.Ridge(), data.X, data.y, parameter="alpha", values=[1e-3, 1e5])
    >>> float(curve.best)
    0.001
    """
    if not len(values):
        raise ParameterError("validation_curve: values is empty. Give at least one value.")
    y, _ = targets_of(X, y, "validation_curve", models=[model])
    folds = _folds(model, X, y, cv, random_state)
    models = [clone(model).set_params(**{parameter: value}) for value in values]
    parts = [folds] * len(models)
    return _curve(parameter, _as_array(values), models, X, y, parts, scoring, level)


def _rows(X: Any, y: Any, rows: Array) -> tuple[Any, ...]:
    """Arguments of a scorer for some of the rows, without y if there is none."""
    return (take_rows(X, rows),) if y is None else (take_rows(X, rows), take_rows(y, rows))


def _folds(model: Any, X: Any, y: Any, cv: Any, random_state: Any) -> list[Fold]:
    return folds_of(cv, X, y, classifier=is_classifier(model), random_state=random_state)


def _as_array(values: Sequence[Any]) -> Array:
    """Numbers as a numeric array; other values, such as None and tuples, as objects."""
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return np.asarray(values)
    kept = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        kept[place] = value
    return kept


def _count(size: float, most: int) -> int:
    if not (isinstance(size, Real) and np.isfinite(size)):
        raise ParameterError(
            f"learning_curve: size {size!r} must be a number of rows, or a share of the rows."
        )
    count = round(size * most) if isinstance(size, float | np.floating) and size <= 1 else int(size)
    if not 1 <= count <= most:
        raise ParameterError(
            f"learning_curve: size {size!r} is {count} rows, but a fold has {most} training rows. "
            f"Give sizes from 1 to {most}, or shares from 0 to 1."
        )
    return count


def _curve(
    name: str,
    values: Array,
    models: list[Any],
    X: Any,
    y: Any,
    parts: list[list[Fold]],
    scoring: Any,
    level: float,
) -> ScoreCurve:
    require_level(level)
    scorers = scorers_for(models[0], scoring, parts[0], y is not None)
    if len(scorers) != 1:
        raise ParameterError(f"{len(scorers)} metrics given, but a curve shows one. Give one.")
    ((metric, scorer),) = scorers.items()
    scores, own = [], []
    for model, folds in zip(models, parts, strict=True):
        fits = cross_fit({"model": model}, X, y, folds, {"model": scorers}, keep=True)
        found = np.array([fit.scores[metric] for fit in fits])
        scores.append(fold_interval(found, overlap_of(fits), level))
        own.append(
            np.mean(
                [
                    scorer(fit.estimator, *_rows(X, y, train))
                    for fit, (train, _) in zip(fits, folds, strict=True)
                ]
            )
        )
    own_metric = own_score(models[0]) if scoring is None else None
    limits = range_of(known_as(scorer) or own_metric)
    inside = tuple(within_range(score, limits) for score in scores)
    return ScoreCurve(name, values, inside, np.array(own), metric)
