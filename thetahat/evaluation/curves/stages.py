"""The score of a model after each of its stages, with a confidence band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.estimator.distributed.functions import needs_memory
from thetahat.evaluation.folds import targets_of
from thetahat.evaluation.metrics import range_of_function
from thetahat.evaluation.score_intervals import within_range
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array

Score = Callable[[Array, Array], float]
GROUPS = 20
"""Number of groups of rows that are left out in turn for the jackknife."""


@dataclass(frozen=True, eq=False)
class StagedCurve:
    """Score after each stage, with a confidence band; ``np.asarray(curve)`` gives the scores.

    Formula: score(y, prediction of the first s stages), s = 1, 2, …. Cost: O(stages) memory.

    Attributes
    ----------
    stages : array of shape (n_stages,)
        The number of stages used: 1, 2, ….
    scores : tuple of Interval
        For each stage, the score and its confidence interval for new rows of the same kind.
    metric : str
        The name of the score function.

    Examples
    --------
    >>> import thetahat as th
    >>> from sklearn.metrics import accuracy_score
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> labels = data.y > 0
    >>> model = th.AdaBoostClassifier(n_estimators=5).fit(data.X[:100], labels[:100])
    >>> curve = th.staged_curve(model, data.X[100:], labels[100:], score=accuracy_score)
    >>> len(curve), curve.scores[-1].method
    (5, 'Wilson')
    """

    stages: Array
    scores: tuple[Interval, ...]
    metric: str

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array([interval.estimate for interval in self.scores], dtype=dtype)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, place: Any) -> Any:
        return np.asarray(self)[place]

    def tolist(self) -> list[float]:
        """The scores as a list, without intervals. Cost: O(stages)."""
        return np.asarray(self).tolist()

    def __str__(self) -> str:
        values = np.asarray(self)
        least, most = int(values.argmin()), int(values.argmax())
        return "\n".join(
            [
                f"{self.metric} over {len(self)} stages",
                f"  first     {self.scores[0]}",
                f"  last      {self.scores[-1]}",
                f"  lowest    {self.scores[least]} at stage {self.stages[least]}",
                f"  highest   {self.scores[most]} at stage {self.stages[most]}",
            ]
        )

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None, label: str | None = None) -> None:
        """Plot the scores over the stages, with their band. Cost: O(stages)."""
        low, high = np.array([[interval.low, interval.high] for interval in self.scores]).T
        known = np.isfinite(low) & np.isfinite(high)
        (line,) = axes.plot(self.stages, np.asarray(self), label=label)
        axes.fill_between(
            self.stages, low, high, where=known, color=line.get_color(), alpha=0.2, lw=0
        )
        axes.set(xlabel="stages", ylabel=self.metric)
        if label:
            axes.legend(frameon=False)


@needs_memory
def staged_curve(model: Any, X: Any, y: Any, *, score: Score, level: float = 0.95) -> StagedCurve:
    """Score a fitted model after each of its stages, such as the iterations of boosting.

    Formula: score(y, prediction of the first s stages), s = 1, 2, …. If the score is the share of
    correct rows or of errors, it has Wilson's interval. Any other score has the jackknife interval
    s ± t_{g−1}·√((g − 1)/g·Σ(s₋ⱼ − s̄)²) from its values s₋ⱼ without each of g = 20 groups of rows
    in turn. If these values are all equal, the spread is unknown and the interval is unbounded.
    Cost: one staged prediction, and 21 scores per stage.

    Parameters
    ----------
    model : fitted estimator
        A fitted model with the method ``staged_predict``.
    X, y : array-like
        Rows that were not used for the fit, and their targets.
    score : callable
        A function ``score(y, predicted)``, such as ``sklearn.metrics.accuracy_score``.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.

    Returns
    -------
    StagedCurve

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
    require_level(level)
    if not hasattr(model, "staged_predict"):
        raise CapabilityError(
            f"{type(model).__name__} has no method staged_predict. Use validation_curve over its "
            "size instead."
        )
    _, targets = targets_of(X, y, "staged_curve")
    found, right, wrong = [], [], []
    for stage in model.staged_predict(X):
        predicted = np.asarray(stage)
        found.append(_left_out(score, targets, predicted, level))
        alike = predicted == targets if predicted.shape == targets.shape else np.zeros(0)
        right.append(alike.mean() if alike.size else np.nan)
        wrong.append(1 - right[-1])
    if not found:
        raise DataError(f"staged_curve: {type(model).__name__}.staged_predict gave no stages.")
    values = np.array([interval.estimate for interval in found])
    if any(np.allclose(values, share, rtol=0, atol=1e-12) for share in (right, wrong)):
        n = targets.size
        found = [proportion_interval(round(value * n), n, level=level) for value in values]
    limits = range_of_function(score)
    return StagedCurve(
        np.arange(1, len(found) + 1),
        tuple(within_range(interval, limits) for interval in found),
        getattr(score, "__name__", "score"),
    )


def _left_out(score: Score, y: Array, predicted: Array, level: float) -> Interval:
    """The score with its jackknife interval; group j holds every 20th row."""
    from scipy.special import stdtrit

    whole, size = float(score(y, predicted)), min(GROUPS, len(y))
    group = np.arange(len(y)) % size
    if size < 3:
        return Interval(whole, -np.inf, np.inf, level, f"{len(y)} row(s): unknown")
    parts = np.array([score(y[group != j], predicted[group != j]) for j in range(size)])
    error = np.sqrt((size - 1) / size * np.sum((parts - parts.mean()) ** 2))
    if not error > 1e-12 * abs(whole):
        return Interval(whole, -np.inf, np.inf, level, "no spread: unknown")
    half = float(-stdtrit(size - 1, (1 - level) / 2) * error)
    return Interval(whole, whole - half, whole + half, level, "jackknife")
