"""How a time limit is divided among the models, while they are fitted.

The time that every model needs is estimated from fits of samples (see `pace`). A model gets what it
needs if that is less than an equal share of what is left, and the rest is divided among the others.
A model whose fit to many rows takes more than its share is fitted to a half, a quarter, ... of the
rows. Shares are computed again when a fit begins, from the time that is left, how long the fits
before it took, and how much longer the clock takes than the computation. So the limit holds on a
machine that becomes busy, and for models whose fits take longer than estimated. A model that cannot
be finished in time is left out, if two others can. Scores play no part, so that nothing is learned
about the held-out rows.

If the limit is long enough for all, the shares are larger than the needs, and the searches end by
themselves: then the result does not depend on the speed of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from threading import Lock
from typing import Any

from thetahat.evaluation.tuning.halving import rounds_for
from thetahat.evaluation.tuning.inner_folds import TrainingRows
from thetahat.evaluation.tuning.pace import paces_of
from thetahat.foundation.threads import n_threads

USED = 0.75
"""Part of the time limit that is planned for; the rest is for the stack and what takes longer."""
FOR_FITTING = 0.6
"""Largest part of a share that the fit with the chosen setting may take."""
SLACK = 2.0
"""How much longer than estimated a model may take, if that is less than an equal share."""
NEVER_SAMPLED = 10_000
"""Up to this number of rows, models are fitted to all of them."""
FADING = 0.5
"""Weight of earlier fits against the last one in how much longer the clock takes."""
TRIFLE = 0.2
"""Part of the time limit that the shortest fits may take together after its end."""
LEAST_MODELS = 2
"""Models that are fitted however long they take."""


@dataclass(frozen=True)
class Share:
    """What a model may use on a fold."""

    seconds: float = inf
    """For trying settings."""
    rows: int | None = None
    """Number of training rows of the fit with the chosen setting; None for all of them."""
    for_last_round: float = inf
    """For trying settings and then the chosen one in the last round."""


@dataclass(frozen=True)
class Took:
    """Seconds of a search and the fit that followed it."""

    thread: float
    clock: float
    fit: float
    """Of the fit alone, by the clock of its thread."""
    fit_clock: float = 0.0


class TimePlan:
    """Shares for `n_folds` fits of every model to `n_train` rows each.

    Every fold predicts `n_held` rows, however few rows its models are fitted to. `names` are the
    models with the shortest fits first.
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        n_settings: Mapping[str, int],
        rows: TrainingRows,
        n_train: int,
        n_held: int,
        n_folds: int,
        limit: float,
        seed: int,
    ) -> None:
        self.deadline, self._limit = time.monotonic() + limit, limit
        self._settings, self._n_train, self._n_held = n_settings, n_train, n_held
        self._paces, self._spent, self._waited = paces_of(models, rows, seed)
        self._n_folds, self._folds = n_folds, dict.fromkeys(models, n_folds)
        self._rows = dict.fromkeys(models, n_train)
        self._until: dict[tuple[str, int], float] = {}
        """When the fits that are running should end."""
        self._lock = Lock()
        self.late: set[str] = set()
        """Models that could not be finished in time."""
        self.names = sorted(models, key=self._need)

    @property
    def slower(self) -> float:
        """How much longer the clock takes than the computation."""
        return max(1.0, self._waited / self._spent)

    def start(self, name: str, fold: int) -> Share | None:
        """The share of a fit that begins now; None if the model cannot be finished in time."""
        with self._lock:
            now = time.monotonic()
            if name in self.late or not self._worth_starting(name, now):
                self._folds[name] = 0
                self.late.add(name)
                return None
            share, expected = self._share(name, now)
            self._folds[name] -= 1
            self._until[name, fold] = now + expected
            return share

    def end(self, name: str, fold: int, rows: int, took: Took) -> None:
        """Learn from a fit to a number of rows that has ended."""
        with self._lock:
            self._until.pop((name, fold), None)
            self._spent = FADING * self._spent + max(took.thread, 1e-6)
            self._waited = FADING * self._waited + took.clock
            pace = self._paces[name]
            longer = (took.fit - pace.preparing(rows)) / max(pace.fitting(rows), 1e-6)
            self._paces[name] = replace(pace, longer=max(longer, pace.longer))

    def _need(self, name: str) -> float:
        """Seconds that the remaining folds of a model take."""
        pace = self._paces[name]
        each = pace.fit(self._n_train, self._n_held)
        each += pace.whole_search(self._n_train, self._settings[name])
        return self.slower * each * self._folds[name]

    def _worth_starting(self, name: str, now: float) -> bool:
        """Whether the fits of a model to few rows end in time, or must be made anyway.

        The models whose fits to few rows take the least come first: what they need together must
        not be longer than what is left, or than a small part of the limit.
        """
        begun = {one for one, folds in self._folds.items() if folds < self._n_folds}
        if len(begun - self.late - {name}) < LEAST_MODELS:
            return True
        rows, left = min(self._n_train, NEVER_SAMPLED), self.deadline - now
        least = {
            one: self.slower * folds * self._paces[one].fit(rows, self._n_held)
            for one, folds in self._folds.items()
        }
        before = sum(seconds for seconds in least.values() if seconds <= least[name])
        rounds = ceil(self._folds[name] / n_threads()) / self._folds[name]
        needed = max(least[name] * rounds, before / n_threads())
        return needed <= max(left, TRIFLE * self._limit)

    def _share(self, name: str, now: float) -> tuple[Share, float]:
        """The share of a model on the fold that begins now, and how long that may take."""
        running = sum(max(0.0, min(end, self.deadline) - now) for end in self._until.values())
        left = max(0.0, USED * (self.deadline - now) * n_threads() - running)
        needs = {one: self._need(one) for one, folds in self._folds.items() if folds}
        spare = max(SLACK, left / max(sum(needs.values()), 1e-9))
        ordered = sorted(needs, key=lambda one: needs[one])
        granted = 0.0
        for place, one in enumerate(ordered):
            granted = min(needs[one] * spare, left / (len(ordered) - place))
            if one == name:
                break
            left -= min(granted, needs[one])
        each, pace = granted / self._folds[name], self._paces[name]
        kept = self._rows[name]
        while kept > NEVER_SAMPLED and self.slower * pace.fit(kept, self._n_held) > (
            FOR_FITTING * each
        ):
            kept //= 2
        self._rows[name] = kept
        last, fit = rounds_for(self._n_train, 1)[0], self.slower * pace.fit(kept, self._n_held)
        of_chosen = self.slower * last.folds * pace.search(last.rows)
        both = max(0.0, each - fit)
        seconds = both - of_chosen if fit + of_chosen <= FOR_FITTING * each else both
        rows = None if kept == self._n_train else kept
        search = self.slower * pace.whole_search(self._n_train, self._settings[name])
        return Share(seconds, rows, both), fit + min(both, search)
