"""Error of bagging from the out-of-bag rows, with a confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from thetahat.data.source import weights_of
from thetahat.foundation.arguments import require_level
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


class OutOfBagError(NamedTuple):
    """An error rate or a mean squared error, with a confidence interval."""

    error: float
    low: float
    high: float


class OutOfBagPredictions:
    """Sums of the predictions of members for the rows that they did not draw."""

    def __init__(self, n_rows: int) -> None:
        self.count = np.zeros(n_rows)
        self.total: Array | None = None

    def add(self, rows: Array, answer: Array) -> None:
        """Add the predictions of one member."""
        if self.total is None:
            self.total = np.zeros((len(self.count), *answer.shape[1:]))
        self.total[rows] += answer
        self.count[rows] += 1

    def mean(self, who: str, weight: Array | None) -> tuple[Array, Array]:
        """Mean predictions, and the rows that have one; others are NaN, with a warning."""
        judged = np.flatnonzero(self.count)
        if self.total is None or not weights_of(weight, judged).any():
            raise DataError(
                f"{who}: oob_score=True needs out-of-bag rows, but every member drew all rows of "
                "positive weight. Increase n_estimators, or use max_samples below 1.0."
            )
        if len(judged) < len(self.count):
            warn(
                f"Some inputs do not have OOB scores: {len(self.count) - len(judged)} of "
                f"{len(self.count)} rows were drawn by every member. Increase n_estimators.",
            )
        mean = np.full(self.total.shape, np.nan)
        share = self.count[judged].reshape((-1,) + (1,) * (self.total.ndim - 1))
        mean[judged] = self.total[judged] / share
        return mean, judged


@dataclass(frozen=True)
class OutOfBagErrors:
    """Out-of-bag predictions compared with the targets."""

    deviations: Array
    """Residuals y − f, or 1 for wrong and 0 for right labels; one per row."""
    weight: Array
    labels: bool

    def error(self, level: float) -> OutOfBagError:
        """Mean loss with an interval: Wilson for rates, Student for squared errors."""
        require_level(level)
        losses = self.deviations if self.labels else self.deviations**2
        losses = losses.reshape(len(losses), -1).mean(axis=1)
        n = float(self.weight.sum())
        mean = float(self.weight @ losses / n)
        tail = (1 + level) / 2
        if self.labels:
            z = float(ndtri(tail))
            middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
            spread = float(np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)))
            half = z / (1 + z * z / n) * spread
            # Rounding may move a bound slightly past 0 or 1.
            return OutOfBagError(mean, max(0.0, middle - half), min(1.0, middle + half))
        spread = float(self.weight @ (losses - mean) ** 2) / max(n - 1, 1.0)
        half = float(stdtrit(max(n - 1, 1.0), tail) * np.sqrt(spread / n))
        return OutOfBagError(mean, max(0.0, mean - half), mean + half)
