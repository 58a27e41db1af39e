"""Curves over something that grows: rows learned, a parameter, the stages of a model, k.

Each point is a cross-validated score with its interval; the points share their folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from thetahat.data.resampling import take_rows
from thetahat.evaluation.cross_fitting import cross_fit
from thetahat.evaluation.evaluate import scorers_for
from thetahat.evaluation.folds import Fold, folds_of
from thetahat.evaluation.score_intervals import fold_interval
from thetahat.evaluation.statistics.outcome import Interval, require_level, sample
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.randomness import generator

Array = Any


@dataclass(frozen=True)
class ScoreCurve:
    """Scores over a growing quantity, on held-back rows and on the rows that were learned.

    Formula: the mean over folds, with the corrected t interval. Cost: O(points).

    Attributes
    ----------
    name : str
        What grows.
    values : array of shape (n_points,)
        Its values.
    scores : tuple of Interval
        On held-back rows.
    training_scores : array of shape (n_points,)
        On the rows that were learned.
    metric : str
        What is scored.

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
        """The value of the best score on held-back rows."""
        return self.values[int(np.argmax([interval.estimate for interval in self.scores]))]

    def __str__(self) -> str:
        rows = zip(self.values, self.scores, self.training_scores, strict=True)
        lines = [f"{self.metric} over {self.name}"]
        lines += [
            f"  {value!s:>10}  {score}  (learned rows {own:.4g})" for value, score, own in rows
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Scores with their band, and those on learned rows. Cost: O(points).

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="ScoreCurve.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        low, mid, high = np.array([[s.low, s.estimate, s.high] for s in self.scores]).T
        axes.fill_between(self.values, low, high, alpha=0.2, lw=0)
        axes.plot(self.values, mid, "o-", label="held-back rows")
        axes.plot(self.values, self.training_scores, "s--", label="learned rows")
        axes.set(xlabel=self.name, ylabel=self.metric)
        axes.legend(frameon=False)
        return axes


def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = 5,
    scoring: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> ScoreCurve:
    """How a model gains from rows: its score for growing training sets.

    Formula: each fold's training rows are shuffled once; a size takes the first of them. Cost:
    sizes × folds fits, side by side.

    Parameters
    ----------
    model : estimator
        Cloned for every fit.
    X, y : array-like, sparse, table
        Rows and targets.
    sizes : sequence of int or float, default=(0.1, 0.25, 0.5, 0.75, 1.0)
        Training rows: how many, or which share of a fold's.
    cv, scoring, level, random_state
        As in `evaluate`; one metric.

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
    folds = _folds(model, X, y, cv, random_state)
    random = generator(random_state)
    shuffled = [(random.permutation(np.asarray(train)), test) for train, test in folds]
    most = min(len(train) for train, _ in shuffled)
    counts = np.array([_count(size, most) for size in sizes])
    parts = [[(train[:count], test) for train, test in shuffled] for count in counts]
    return _curve("rows learned", counts, [model] * len(counts), X, y, parts, scoring, level)


def validation_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    parameter: str,
    values: Sequence[Any],
    cv: Any = 5,
    scoring: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> ScoreCurve:
    """How a model's score depends on one of its parameters.

    Formula: the same folds for every value. Cost: values × folds fits, side by side.

    Parameters
    ----------
    model : estimator
        Cloned, with the parameter set.
    X, y : array-like, sparse, table
        Rows and targets.
    parameter : str
        Its name, as in ``set_params``.
    values : sequence
        Its values.
    cv, scoring, level, random_state
        As in `evaluate`; one metric.

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
        raise ParameterError("validation_curve: values is empty. Give at least one.")
    folds = _folds(model, X, y, cv, random_state)
    models = [clone(model).set_params(**{parameter: value}) for value in values]
    parts = [folds] * len(models)
    return _curve(parameter, np.asarray(values), models, X, y, parts, scoring, level)


def staged_curve(model: Any, X: Any, y: Any, *, score: Callable[[Array, Array], float]) -> Array:
    """The score of a fitted model after each of its stages, as trees are added by boosting.

    Formula: score(y, prediction of the first s stages), s = 1, 2, …. Cost: one staged prediction.

    Parameters
    ----------
    model : fitted estimator
        With ``staged_predict``.
    X, y : array-like
        Rows it has not seen.
    score : callable
        ``score(y, predicted)``, such as ``sklearn.metrics.accuracy_score``.

    Returns
    -------
    array of shape (n_stages,)

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> from sklearn.metrics import mean_squared_error
    >>> class Halving:
    ...     def staged_predict(self, X):
    ...         return (x[:, 0] for x in (X / 4, X / 2, X))
    >>> X = np.array([[4.0], [8.0]])
    >>> th.staged_curve(Halving(), X, X[:, 0], score=mean_squared_error).tolist()
    [22.5, 10.0, 0.0]
    """
    if not hasattr(model, "staged_predict"):
        raise CapabilityError(
            f"{type(model).__name__} has no stages (no staged_predict). Use validation_curve over "
            "its size instead."
        )
    return np.array([score(np.asarray(y), stage) for stage in model.staged_predict(X)])


def elbow(values: Sequence[float], losses: Sequence[float]) -> float:
    """Where a falling curve L(k) bends: from there on, more buys little.

    Formula: the k farthest below the straight line from the first point to the last, both axes
    scaled to [0, 1]. Cost: O(points).

    Parameters
    ----------
    values : sequence of float
        k, ascending; at least three.
    losses : sequence of float
        L(k).

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.elbow([1, 2, 3, 4, 5], [100.0, 40.0, 12.0, 10.0, 9.0])
    3.0
    """
    k, loss = sample(values, "values", 3), sample(losses, "losses", 3)
    if k.size != loss.size or not (np.diff(k) > 0).all():
        raise DataError("elbow: give ascending values and one loss for each.")
    across = (k - k[0]) / (k[-1] - k[0])
    drop = loss[0] - loss[-1]
    if not drop > 0:
        raise DataError(
            f"elbow: the losses do not fall ({loss[0]:g} at first, {loss[-1]:g} at last), so they "
            "have no elbow."
        )
    below = (1 - across) - (loss - loss[-1]) / drop
    return float(k[int(below.argmax())])


def _folds(model: Any, X: Any, y: Any, cv: Any, random_state: Any) -> list[Fold]:
    return folds_of(cv, X, y, classifier=is_classifier(model), random_state=random_state)


def _count(size: float, most: int) -> int:
    count = round(size * most) if isinstance(size, float | np.floating) and size <= 1 else int(size)
    if not 1 <= count <= most:
        raise ParameterError(
            f"learning_curve: size {size!r} is {count} rows, and a fold has {most} to learn from."
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
    scorers = scorers_for(models[0], scoring)
    if len(scorers) != 1:
        raise ParameterError(f"{len(scorers)} metrics given; draw a curve of one at a time.")
    ((metric, scorer),) = scorers.items()
    scores, own = [], []
    held = np.mean([len(test) for _, test in parts[0]]) / len(np.asarray(y))
    for model, folds in zip(models, parts, strict=True):
        fits = cross_fit({"model": model}, X, y, folds, {"model": scorers}, keep=True)
        found = np.array([fit.scores[metric] for fit in fits])
        scores.append(fold_interval(found, held / (1 - held), level))
        own.append(
            np.mean(
                [
                    scorer(fit.estimator, take_rows(X, train), take_rows(y, train))
                    for fit, (train, _) in zip(fits, folds, strict=True)
                ]
            )
        )
    return ScoreCurve(name, values, tuple(scores), np.array(own), metric)
