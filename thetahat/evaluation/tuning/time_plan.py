"""How a time limit is divided among the models, from the seconds that fits of samples take.

Each model is fitted to two samples, which give the times of its fits and predictions as powers of
the number of rows, t(m) = t₀·m^p with 1 ≤ p ≤ 2. A model gets what it needs if that is less than
an equal share, and what is left is divided among the others. A model whose fit to many rows takes
more than its share is fitted to a half, a quarter, ... of the rows. Scores play no part, so that
nothing is learned about the held-out rows; every fold of a model gets the same share.

If the limit is long enough for all, the shares are larger than the needs, and the searches end by
themselves: then the result does not depend on the speed of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from thetahat.evaluation.tuning.halving import rounds_for
from thetahat.evaluation.tuning.inner_folds import N_FOLDS, TrainingRows
from thetahat.foundation.many_fits import Failure, map_as_available
from thetahat.foundation.threads import n_threads

WORTH_A_PILOT = 1_000
"""Rows of the larger sample; smaller tables are fitted as a whole."""
PILOT = 20
"""One of so many rows is in the larger sample of a large table."""
STEP = 3
USED = 0.75
"""Part of the time limit that is planned for; the rest is for the stack and what takes longer."""
FOR_FITTING = 0.6
"""Largest part of a share that the fit with the chosen setting may take."""
PASSES = 2
"""Predictions of the held-out rows: labels and probabilities."""
SLACK = 2.0
"""How much longer than estimated a model may take, if that is less than an equal share."""
NEVER_SAMPLED = 10_000
"""Up to this number of rows, models are fitted to all of them."""


@dataclass(frozen=True)
class Share:
    """What a model may use on each fold."""

    seconds: float = inf
    """For trying settings."""
    rows: int | None = None
    """Number of training rows of the fit with the chosen setting; None for all of them."""
    for_last_round: float = inf
    """For trying settings and then the chosen one in the last round."""


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
    slower: float = 1.0
    """How much longer the clock takes."""

    def fit(self, rows: float, held: float) -> float:
        """Seconds to fit a number of rows, and to predict `held` other rows."""
        predict = PASSES * held / rows * self.predicting(rows)
        return self.slower * (self.preparing(rows) + self.fitting(rows) + predict)

    def search(self, rows: float) -> float:
        """Seconds to try a setting on columns that are prepared already."""
        train = rows * (N_FOLDS - 1) / N_FOLDS
        return self.slower * (self.fitting(train) + self.predicting(train) / (N_FOLDS - 1))


def plan_times(
    models: Mapping[str, Any],
    n_settings: Mapping[str, int],
    rows: TrainingRows,
    n_train: int,
    n_held: int,
    n_folds: int,
    limit: float,
    seed: int,
) -> dict[str, Share]:
    """The share of every model, for `n_folds` fits to `n_train` rows each, shortest fits first.

    Every fold predicts `n_held` rows, however few rows its models are fitted to.
    """
    began = time.monotonic()
    paces = _paces(models, rows, seed)
    left = USED * (limit - (time.monotonic() - began)) * n_threads()
    needs = {
        name: n_folds * (pace.fit(n_train, n_held) + _search(pace, n_train, n_settings[name]))
        for name, pace in paces.items()
    }
    ordered = sorted(models, key=lambda name: needs[name])
    spare = max(SLACK, left / max(sum(needs.values()), 1e-9))
    shares = {}
    for place, name in enumerate(ordered):
        granted = min(needs[name] * spare, max(0.0, left) / (len(ordered) - place))
        left -= min(granted, needs[name])
        each = granted / n_folds
        kept = n_train
        while kept > NEVER_SAMPLED and paces[name].fit(kept, n_held) > FOR_FITTING * each:
            kept //= 2
        last, fit = rounds_for(n_train, 1)[0], paces[name].fit(kept, n_held)
        of_chosen = last.folds * paces[name].search(last.rows)
        both = max(0.0, each - fit)
        seconds = both - of_chosen if fit + of_chosen <= FOR_FITTING * each else both
        shares[name] = Share(seconds, None if kept == n_train else kept, both)
    return shares


def _search(pace: Pace, n_train: int, n_settings: int) -> float:
    """Seconds of all rounds of the search, if all settings took as long as the first."""
    total = 0.0
    folds_before: dict[int, int] = {}
    for each in rounds_for(n_train, n_settings):
        new = each.folds - folds_before.get(each.rows, 0)
        total += each.settings * new * pace.search(each.rows)
        folds_before[each.rows] = each.folds
    return total


def _paces(models: Mapping[str, Any], rows: TrainingRows, seed: int) -> dict[str, Pace]:
    """The pace of every model, from the time of its own thread.

    How much longer the clock takes is measured over all models: a single fit that had to wait for
    other programs would mislead.
    """
    large = min(len(rows), max(WORTH_A_PILOT, len(rows) // PILOT))
    sizes = [large] if len(rows) <= WORTH_A_PILOT else [large // STEP, large]
    samples = [rows.take(rows.sample(size, seed)) for size in (sizes[0], *sizes)]
    found: dict[str, Pace] = {}
    spent = waited = 0.0
    for name, times in map_as_available(lambda name: _times(models[name], samples), iter(models)):
        if isinstance(times, Failure):  # it fails again in its fit, with a better message
            times = _Times([[1e-3] * 3], 1e-3, 1e-3)
        spent, waited = spent + times.thread, waited + times.clock
        prepare, fit, predict = zip(*times.parts, strict=True)
        found[name] = Pace(Law.of(prepare, large), Law.of(fit, large), Law.of(predict, large))
    slower = max(1.0, waited / spent)
    return {name: replace(pace, slower=slower) for name, pace in found.items()}


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
        if hasattr(learner, "steps") and len(learner.steps) > 1:
            X = Pipeline(learner.steps[:-1]).fit_transform(X, sample.y)
            learner = learner.steps[-1][1]
        seconds.append(time.thread_time())
        learner.fit(X, sample.y)
        seconds.append(time.thread_time())
        learner.predict(X)
        seconds.append(time.thread_time())
        parts.append(np.diff(seconds).tolist())
    thread = max(1e-6, time.thread_time() - began)
    return _Times(parts[1:], thread, time.perf_counter() - begun)
