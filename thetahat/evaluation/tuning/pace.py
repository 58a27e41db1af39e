"""The seconds that a model takes to fit and to predict, from fits of two samples.

The times of the fits and predictions of a model are powers of the number of rows,
t(m) = t₀·m^p with 1 ≤ p ≤ 2. They are times of the thread that computes; how much longer the clock
takes, because other programs use the same cores, is measured apart, over all models: a single fit
that had to wait would mislead.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from thetahat.evaluation.tuning.halving import rounds_for
from thetahat.evaluation.tuning.inner_folds import N_FOLDS, TrainingRows
from thetahat.foundation.many_fits import Failure, map_as_available

WORTH_A_PILOT = 1_000
"""Rows of the larger sample; smaller tables are fitted as a whole."""
PILOT = 20
"""One of so many rows is in the larger sample of a large table, at most `MOST_OF_PILOT`."""
MOST_OF_PILOT = 5_000
STEP = 3
PASSES = 2
"""Predictions of the held-out rows: labels and probabilities."""


@dataclass(frozen=True)
class Law:
    """Seconds as a power of the number of rows."""

    seconds: float
    rows: int
    power: float

    @classmethod
    def of(cls, times: Sequence[float], rows: int) -> Law:
        """From the seconds of one sample, or of two, the second `STEP` times as large."""
        power = log(max(times[-1], 1e-6) / max(times[0], 1e-6)) / log(STEP)
        return cls(times[-1], rows, float(np.clip(power, 1.0, 2.0)))

    def __call__(self, rows: float) -> float:
        return float(self.seconds * (rows / self.rows) ** self.power)


@dataclass(frozen=True)
class Pace:
    """The seconds that a model takes to prepare columns, to fit, and to predict as many rows."""

    preparing: Law
    fitting: Law
    predicting: Law
    longer: float = 1.0
    """How much longer its fits have taken than these laws say."""

    def train(self, rows: float) -> float:
        """Seconds to fit a number of rows."""
        return self.preparing(rows) + self.longer * self.fitting(rows)

    def fit(self, rows: float, held: float) -> float:
        """Seconds to fit a number of rows, and to predict `held` other rows."""
        return self.train(rows) + PASSES * held / rows * self.predicting(rows)

    def search(self, rows: float) -> float:
        """Seconds to try a setting on columns that are prepared already."""
        train = rows * (N_FOLDS - 1) / N_FOLDS
        return self.longer * self.fitting(train) + self.predicting(train) / (N_FOLDS - 1)

    def whole_search(self, n_train: int, n_settings: int) -> float:
        """Seconds of all rounds of the search, if all settings took as long as the first."""
        total = 0.0
        folds_before: dict[int, int] = {}
        for each in rounds_for(n_train, n_settings):
            new = each.folds - folds_before.get(each.rows, 0)
            total += each.settings * new * self.search(each.rows)
            folds_before[each.rows] = each.folds
        return total


def paces_of(
    models: Mapping[str, Any], rows: TrainingRows, seed: int
) -> tuple[dict[str, Pace], float, float]:
    """The pace of every model, and the seconds of the threads and of the clock in all."""
    large = min(len(rows), max(WORTH_A_PILOT, min(len(rows) // PILOT, MOST_OF_PILOT)))
    sizes = [large] if len(rows) <= WORTH_A_PILOT else [large // STEP, large]
    drawn = [rows.sample(size, seed) for size in (sizes[0], *sizes)]
    seen = {name: rows.of(model) for name, model in models.items()}
    samples = {each.pairwise: [each.take(numbers) for numbers in drawn] for each in seen.values()}
    found: dict[str, Pace] = {}
    spent = waited = 0.0
    for name, times in map_as_available(
        lambda name: _times(models[name], samples[seen[name].pairwise]), iter(models)
    ):
        if isinstance(times, Failure):  # it fails again in its fit, with a better message
            times = _Times([[1e-3] * 3], 1e-3, 1e-3)
        spent, waited = spent + times.thread, waited + times.clock
        prepare, fit, predict = zip(*times.parts, strict=True)
        found[name] = Pace(Law.of(prepare, large), Law.of(fit, large), Law.of(predict, large))
    return {name: found[name] for name in models}, spent, waited


@dataclass(frozen=True)
class _Times:
    """Seconds of the fits of a model to samples."""

    parts: list[list[float]]
    """For each sample, the seconds to prepare the columns, to fit and to predict."""
    thread: float
    clock: float


def _times(model: Any, samples: list[TrainingRows]) -> _Times:
    """Seconds for each sample after the first, which may load modules and is not counted."""
    parts: list[list[float]] = []
    began = begun = 0.0
    for place, sample in enumerate(samples):
        if place == 1:
            began, begun = time.thread_time(), time.perf_counter()
        learner, X, seconds = clone(model), sample.X, [time.thread_time()]
        if hasattr(learner, "steps") and len(learner.steps) > 1 and sample.weights is None:
            X = Pipeline(learner.steps[:-1]).fit_transform(X, sample.y)
            learner = learner.steps[-1][1]
        seconds.append(time.thread_time())
        learner.fit(X, sample.y, **sample.weighted())
        seconds.append(time.thread_time())
        learner.predict(X)
        seconds.append(time.thread_time())
        parts.append(np.diff(seconds).tolist())
    thread = max(1e-6, time.thread_time() - began)
    return _Times(parts[1:], thread, time.perf_counter() - begun)
