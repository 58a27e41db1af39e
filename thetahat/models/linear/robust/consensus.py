"""The largest set of rows that agree with one model, over many models of random subsets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.arguments import shown
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.objective.robust.row_subsets import planes_through, random_subsets

MOST_AT_ONCE = 32
"""Number of planes whose residuals are computed in one product."""
ENTRIES = 1 << 20
"""Number of residuals that are computed in one product."""


@dataclass
class Consensus:
    """The best set of inliers so far, and when the search ends.

    A set is better if it has more rows, or as many and at least the same score. With the share q of
    inliers, log(1 − probability)/log(1 − q^size) random subsets contain one without outliers with
    the given probability, so that more are not needed.
    """

    n_rows: int
    size: int
    threshold: float
    max_trials: float
    max_skips: float
    stop_n_inliers: float
    stop_score: float
    probability: float
    trials: int = 0
    skips: dict[str, int] = field(
        default_factory=lambda: {"no_inliers": 0, "invalid_data": 0, "invalid_model": 0}
    )
    inliers: Array | None = None
    n_inliers: int = 1
    score: float = -math.inf
    stopped: bool = False

    @property
    def is_over(self) -> bool:
        return self.stopped or self.trials >= self.max_trials

    @property
    def skipped_too_many(self) -> bool:
        return sum(self.skips.values()) > self.max_skips

    def begin(self) -> bool:
        """Count a trial; False if too many were skipped before."""
        self.trials += 1
        self.stopped = self.skipped_too_many
        return not self.stopped

    def judge(self, losses: Array, score: Callable[[Array], float]) -> None:
        """Compare a model, by the losses of all rows and its score on some of them."""
        inliers = losses <= self.threshold
        count = int(np.count_nonzero(inliers))
        if count < self.n_inliers:
            self.skips["no_inliers"] += 1
            return
        found = score(inliers)
        if count == self.n_inliers and found < self.score:
            return
        self.n_inliers, self.score, self.inliers = count, found, inliers
        self.max_trials = min(
            self.max_trials, trials_needed(count, self.n_rows, self.size, self.probability)
        )
        self.stopped = count >= self.stop_n_inliers or found >= self.stop_score


def is_valid(model: Any, name: str, *given: Any) -> bool:
    """What the function of this name in the model returns, or True if there is none."""
    function = getattr(model, name)
    if function is None:
        return True
    found = function(*given)
    try:
        return bool(found)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{type(model).__name__}: the function {name} returned {shown(found)}, but must return "
            "True or False."
        ) from None


def trials_needed(n_inliers: int, n_rows: int, size: int, probability: float) -> float:
    """The number of subsets of which one has no outlier with the given probability."""
    missed = max(EPSILON, 1.0 - probability)
    spoiled = max(EPSILON, 1.0 - (n_inliers / n_rows) ** size)
    if missed == 1:
        return 0.0
    if spoiled == 1:
        return math.inf
    return abs(float(math.ceil(math.log(missed) / math.log(spoiled))))


def r2(y: Array, predicted: Array) -> float:
    """R², averaged over the targets; NaN for a single row."""
    if len(y) < 2:
        return math.nan
    left = ((y - predicted) ** 2).sum(axis=0)
    total = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    constant = np.where(left == 0, 1.0, 0.0)
    share = np.divide(left, total, out=np.zeros_like(left), where=total > 0)
    return float(np.mean(np.where(total > 0, 1.0 - share, constant)))


def try_planes(
    source: InMemory,
    search: Consensus,
    random: np.random.Generator,
    losses: Callable[[Array, Array], Array],
    *,
    intercept: bool,
) -> None:
    """Judge planes through random subsets, several of which are computed at a time."""
    y = np.asarray(source.y, dtype=np.float64)
    A = source.X.astype(np.float64)
    if intercept:
        A = np.column_stack([np.ones(len(A)), A])
    for count in _growing(search, max(1, ENTRIES // y.size)):
        subsets = random_subsets(search.n_rows, search.size, count, random)
        with one_blas_thread():
            planes = planes_through(A, y, subsets)
            predicted = [A @ plane for plane in planes] if y.ndim == 2 else list(planes @ A.T)
        for values in predicted:
            if search.is_over or not search.begin():
                return

            def score(rows: Array, values: Array = values) -> float:
                return r2(y[rows], values[rows])

            search.judge(losses(y, values), score)


def _growing(search: Consensus, most: int) -> Iterator[int]:
    """Numbers of trials to compute at once: few at first, because few may be enough."""
    count = 2
    while not search.is_over:
        yield int(max(1, min(count, most, search.max_trials - search.trials)))
        count = min(2 * count, MOST_AT_ONCE)
