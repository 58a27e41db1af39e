"""Out-of-bag predictions of a forest, and intervals for their score.

A tree draws about 63 % of the rows. Averaging, for each row, the trees that did not draw it
estimates the performance of the forest without a test set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.distributed.cluster import computed
from thetahat.data.distributed.partition import packed, unpacked
from thetahat.data.distributed.streamed_partitions import partitions_of
from thetahat.data.in_memory import InMemory
from thetahat.data.source import row_weights
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.forest.growing import ForestPlan, RowDraws
from thetahat.models.ensemble.forest.on_workers import WorkerColumns
from thetahat.models.tree.growth.grown_forest import GrownForest

AT_ONCE = 1 << 25
"""Entries (trees × rows) of the table of drawn rows kept in memory at once."""


def out_of_bag_predictions(forest: GrownForest, plan: ForestPlan, who: str) -> Array:
    """Mean prediction of the trees that did not draw a row, (n, outputs, classes).

    NaN, with a warning, for rows that every tree drew. Cost: O(n·depth) per tree.
    """
    X: Any = plan.X
    n = X.shape[0]
    source = partitions_of(X) if isinstance(plan.columns, WorkerColumns) else None
    if source is None:
        sums, votes = _sums_and_votes(forest, plan.rows, X, 0)
    else:
        work = packed(_of_partition, (forest, plan.rows, X.read))
        found = computed(source.tasks(_of_partition, work))
        sums, votes = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if plan.weight is not None:
        votes[plan.weight == 0] = 0  # ignored rows
    never = int(np.count_nonzero((votes == 0) & (plan.weight is None or plan.weight > 0)))
    if not votes.any():
        raise DataError(
            f"{who}: oob_score=True needs rows that a tree did not draw, but every tree drew all "
            "rows of positive weight. Increase n_estimators, or reduce max_samples."
        )
    if never:
        warn(
            f"{who}: {never} of {n} rows were drawn by every tree: Some inputs do not have OOB "
            "scores. Their predictions are NaN and do not enter the score. Increase n_estimators, "
            "or reduce max_samples.",
            UserWarning,
        )
    with np.errstate(invalid="ignore"):
        means = sums / np.where(votes > 0, votes, np.nan)[:, None]
    return means.reshape(n, forest.n_outputs, -1)


def _sums_and_votes(
    forest: GrownForest, draws: RowDraws, X: Any, first: int
) -> tuple[Array, Array]:
    """Sums over the trees that did not draw a row, and their number; X starts at row `first`."""
    n = X.shape[0]
    sums = np.zeros((n, forest.packed.values.shape[1]))
    votes = np.zeros(n, dtype=np.int64)
    step = max(1, AT_ONCE // draws.n_rows)
    for start in range(0, len(forest), step):
        stop = min(start + step, len(forest))
        grown_on = np.stack(
            [
                draws.counts(seed)[first : first + n] > 0
                for seed in forest.seeds[start:stop].tolist()
            ]
        )
        forest.packed.some(start, stop).sum_out_of_bag(X, grown_on.astype(np.uint8), sums, votes)
    return sums, votes


def _of_partition(part: InMemory, start: int, work: bytes) -> tuple[Array, Array]:
    _, (forest, draws, read) = unpacked(work)
    return _sums_and_votes(forest, draws, read(part.X), start)


def share_interval(right: Array, weight: Array | None, level: float = 0.95) -> tuple[float, float]:
    """Wilson interval for a proportion; weights count rows."""
    from scipy.stats import norm

    w = row_weights(weight, right.shape[0])
    n, share = float(w.sum()), float(np.average(right, weights=w))
    z = float(norm.ppf(0.5 + level / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return float(middle - reach), float(middle + reach)


def r2_interval(
    y: Array, prediction: Array, weight: Array | None, level: float = 0.95
) -> tuple[float, float]:
    """R² ± z·s by the delta method, for one output or the mean over several.

    With u = (y − ŷ)² and v = (y − ȳ)², R² = 1 − ū/v̄ varies like the mean of −(u − (ū/v̄)·v)/v̄.
    """
    from scipy.stats import norm

    w = row_weights(weight, y.shape[0])
    w = w / w.sum()
    u, v = (y - prediction) ** 2, (y - w @ y) ** 2
    ratio = (w @ u) / np.where(w @ v > 0, w @ v, np.nan)
    pulls = (-(u - ratio * v) / np.where(w @ v > 0, w @ v, np.nan)).mean(axis=1)
    r2 = float((1.0 - ratio).mean())
    n = float(y.shape[0] if weight is None else weight.sum())
    reach = float(norm.ppf(0.5 + level / 2)) * float(np.sqrt(w @ (pulls - w @ pulls) ** 2 / n))
    return r2 - reach, r2 + reach
