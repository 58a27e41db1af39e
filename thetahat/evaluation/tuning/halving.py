"""Successive halving: many settings on few rows, then fewer settings on more rows.

Settings are compared in rounds. The first round tries all of them on a sample of the training rows
and one held-out fold; the best third is kept for three times as many rows, until the last round
uses all training rows, or `MOST_ROWS` of them. If there are few rows, the best half is kept for
more folds instead. The last round compares at least three settings, or six if there are few rows.
All settings of a round have the same rows and folds. When time is over, the best setting of the
last round with results is chosen, and it alone is tried on the rows of the last round, because the
predictions for the held-out rows of that round are what a stack of several models is made of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.evaluation.tuning.inner_folds import N_FOLDS, TrainingRows
from thetahat.evaluation.tuning.prepared import PreparedColumns
from thetahat.evaluation.tuning.search_space import Setting
from thetahat.foundation.types import Array

SETTINGS = 18
"""Number of settings of the first round."""
FACTOR = 3
"""One of so many settings is kept for the next round, with so many times as many rows."""
FACTOR_OF_FEW_ROWS = 2
"""One of so many settings is kept for more folds: scores of few rows vary much."""
FINALISTS = 3
"""Settings of the last round, at least."""
FINALISTS_OF_FEW_ROWS = 6
MOST_ROWS = 20_000
"""Rows of the last round: more rows seldom change which setting is best."""
FEW_ROWS = 5_000
"""Up to this number of rows, later rounds use more folds instead of more rows."""
LEAST_ROWS = 2_000

Stop = Callable[[], bool]


@dataclass(frozen=True)
class Round:
    """A round of the search: how many settings, on how many rows and folds."""

    settings: int
    rows: int
    folds: int


def rounds_for(n_rows: int, n_settings: int) -> list[Round]:
    """The rounds for a number of training rows; a single setting needs the last round only."""
    most = min(n_rows, MOST_ROWS)
    least = min(most, LEAST_ROWS)
    few = most <= FEW_ROWS
    folds = (1, 3, N_FOLDS) if few else (1, 1, 1)
    factor = FACTOR_OF_FEW_ROWS if few else FACTOR
    finalists = min(n_settings, FINALISTS_OF_FEW_ROWS if few else FINALISTS)
    found = [
        Round(
            max(finalists, -(-n_settings // factor**step)),
            most if few else max(least, most // FACTOR ** (2 - step)),
            count,
        )
        for step, count in enumerate(folds)
    ]
    return found if n_settings > 1 else found[-1:]


@dataclass
class Tried:
    """A setting and its scores, by the rows of the round and the number of the fold."""

    setting: Setting
    scores: dict[tuple[int, int], float] = field(default_factory=dict)
    outputs: dict[tuple[int, int], Array] = field(default_factory=dict)
    """What the model said about the held-out rows: probabilities, or numbers."""
    error: Exception | None = None

    def mean(self, rows: int, folds: int) -> float:
        """The mean score of a round; −∞ where a score is missing."""
        if not folds:
            return -np.inf
        found = [self.scores.get((rows, fold), -np.inf) for fold in range(folds)]
        return float(np.mean(found))


@dataclass(frozen=True)
class Halved:
    """The chosen setting, all that were tried, and the held-out rows of the last round."""

    chosen: Tried
    tried: list[Tried]
    last: Round
    """The round by which the choice was made."""
    complete: bool
    """Whether all rounds were finished."""
    held: Array | None = None
    """Numbers of the held-out rows of the last round; None if it was not finished."""
    outputs: Array | None = None
    """What the chosen setting said about them."""

    @property
    def score(self) -> float:
        """The mean score of the chosen setting in the last round."""
        return self.chosen.mean(self.last.rows, self.last.folds)


def halve(
    model: Any,
    rows: TrainingRows,
    settings: Sequence[Setting],
    score: Callable[..., float],
    *,
    seed: int,
    stop: Stop,
    last: Stop,
    whole: bool = False,
    prepared: PreparedColumns | None = None,
    place: Any = None,
) -> Halved:
    """Compare the settings in rounds, and choose one.

    `stop` is asked before every fit, and `last` before those of the chosen setting in the last
    round. Without any time, the first setting is chosen. `score` gets a fitted model, rows and
    targets. With `whole`, it gets the whole pipeline and rows of X, not the last step and prepared
    rows. Models that are tuned on the same rows may share their `prepared` columns, under the name
    `place` of these rows.
    """
    tried = [Tried(setting) for setting in settings]
    place_of = {id(each): number for number, each in enumerate(tried)}
    rounds = rounds_for(len(rows), len(settings))
    alive, leader, reached_round, complete = tried, tried[0], Round(1, 0, 0), True
    shared = PreparedColumns() if prepared is None else prepared
    arena = _Arena(model, rows, score, seed, rounds[-1].rows, whole, shared, place)
    for each in rounds:
        alive, reached = alive[: each.settings], []
        n_folds = min(each.folds, arena.n_folds(each.rows))
        each = Round(each.settings, each.rows, n_folds)
        for candidate in alive:
            if not arena.try_on(candidate, each, stop):
                complete = False
                break
            reached.append(candidate)
        good = [one for one in reached if np.isfinite(one.mean(each.rows, n_folds))]
        if n_folds and good:
            # Equal scores keep their order, so that the model as it is comes first.
            alive = sorted(good, key=lambda one: (-one.mean(each.rows, n_folds), place_of[id(one)]))
            alive = _without_equals(alive, each.rows)
            leader, reached_round = alive[0], each
        if not complete or not n_folds:
            break
    final = Round(1, arena.most, min(rounds[-1].folds, arena.n_folds(arena.most)))
    if not final.folds or not arena.try_on(leader, final, last):
        return Halved(leader, tried, reached_round, complete)
    held, outputs = arena.held_out(leader, final)
    return Halved(leader, tried, final, complete, held, outputs)


def _without_equals(ranked: list[Tried], rows: int) -> list[Tried]:
    """Of settings with equal outputs, which differ where it has no effect, only the first."""
    kept: list[Tried] = []
    for each in ranked:
        found = {key: output for key, output in each.outputs.items() if key[0] == rows}
        same = (found and one.scores == each.scores and _equal(found, one.outputs) for one in kept)
        if not any(same):
            kept.append(each)
    return kept


def _equal(outputs: Mapping[Any, Array], others: Mapping[Any, Array]) -> bool:
    return all(key in others and np.array_equal(each, others[key]) for key, each in outputs.items())


class _Arena:
    """Fits settings on samples and folds; the columns are prepared once for all settings."""

    def __init__(
        self,
        model: Any,
        rows: TrainingRows,
        score: Callable[..., float],
        seed: int,
        most: int,
        whole: bool,
        prepared: PreparedColumns,
        place: Any,
    ) -> None:
        self._model, self._rows, self._score, self._seed = model, rows, score, seed
        self.most = most
        self._parted = hasattr(model, "steps") and len(model.steps) > 1
        self._parted = self._parted and not (whole or rows.pairwise)
        self._samples: dict[int, tuple[Array, TrainingRows, list[Any]]] = {}
        self._prepared, self._place = prepared, place
        self._classes = np.unique(rows.y) if rows.classifier else None

    def n_folds(self, size: int) -> int:
        return len(self._sample(size)[2])

    def try_on(self, candidate: Tried, each: Round, stop: Stop) -> bool:
        """Score a setting on the folds of a round; whether that was finished."""
        for fold in range(each.folds):
            key = each.rows, fold
            if key in candidate.scores:
                continue
            if stop():
                return False
            try:
                candidate.scores[key] = self._fit_and_score(candidate, key)
            except Exception as error:
                candidate.error = candidate.error or error
                candidate.scores[key] = -np.inf
                return True
        return True

    def held_out(self, candidate: Tried, last: Round) -> tuple[Array | None, Array | None]:
        """The held-out rows of a round, and the outputs for them, if all are known."""
        sample, _, folds = self._sample(last.rows)
        keys = [(last.rows, fold) for fold in range(last.folds)]
        if not keys or any(key not in candidate.outputs for key in keys):
            return None, None
        held = np.concatenate([sample[folds[fold][1]] for _, fold in keys])
        return held, np.concatenate([candidate.outputs[key] for key in keys])

    def _fit_and_score(self, candidate: Tried, key: tuple[int, int]) -> float:
        size, fold = key
        _, rows, folds = self._sample(size)
        train, test = folds[fold]
        learner = clone(self._model).set_params(**candidate.setting)
        seen, held = self._columns(learner, rows, key)
        if self._parted:
            learner = learner.steps[-1][1]
        weights = {} if rows.weights is None else {"sample_weight": rows.weights[train]}
        learner.fit(seen, rows.y[train], **weights)
        score = float(self._score(learner, held, rows.y[test]))
        if size == self.most:
            found = outputs_of(learner, held, self._classes)
            if found is not None:
                candidate.outputs[key] = found
        return score if np.isfinite(score) else -np.inf

    def _columns(self, learner: Any, rows: TrainingRows, key: tuple[int, int]) -> tuple[Any, Any]:
        """Training rows and held-out rows of a fold, with their columns prepared."""
        train, test = self._sample(key[0])[2][key[1]]
        if self._parted:
            return self._prepared.of(learner, rows.X, rows.y, (train, test), (self._place, key))
        return rows.columns(train, train), rows.columns(test, train)

    def _sample(self, size: int) -> tuple[Array, TrainingRows, list[Any]]:
        if size not in self._samples:
            numbers = self._rows.sample(size, self._seed)
            rows = self._rows.take(numbers)
            self._samples[size] = numbers, rows, rows.folds(self._seed)
        return self._samples[size]


def outputs_of(learner: Any, X: Any, classes: Array | None) -> Array | None:
    """Probabilities of all classes, or predicted numbers; None for a classifier without them."""
    if classes is None:
        return np.asarray(learner.predict(X), dtype=np.float64)
    if not hasattr(learner, "predict_proba"):
        return None
    found = np.asarray(learner.predict_proba(X), dtype=np.float64)
    shares = np.zeros((len(found), len(classes)))
    shares[:, np.searchsorted(classes, learner.classes_)] = found
    return shares


def until(deadline: float, also: Stop) -> Stop:
    """A function that says whether a time (of ``time.monotonic``) has come."""
    return lambda: time.monotonic() > deadline or also()
