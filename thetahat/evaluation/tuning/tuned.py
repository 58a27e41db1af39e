"""Tune one model on some rows, and fit it with the chosen setting."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from thetahat.evaluation.cross_fitting import Scorer, accuracy_scorer
from thetahat.evaluation.tuning.halving import Halved, Stop, halve, until
from thetahat.evaluation.tuning.inner_folds import TrainingRows
from thetahat.evaluation.tuning.prepared import PreparedColumns
from thetahat.evaluation.tuning.search_space import Setting
from thetahat.evaluation.tuning.time_plan import Share, Took


@dataclass(frozen=True)
class TunedFit:
    """A model fitted with the setting that a search on the same rows has chosen."""

    model: Any
    search: Halved
    n_rows: int
    """Number of rows of the fit."""
    took: Took
    """Seconds of the search and the fit."""

    @property
    def setting(self) -> Setting:
        return self.search.chosen.setting


def tuned_fit(
    model: Any,
    settings: Sequence[Setting],
    rows: TrainingRows,
    scorer: Scorer,
    share: Share,
    *,
    seed: int,
    stop: Stop,
    prepared: PreparedColumns | None = None,
    place: Any = None,
) -> TunedFit:
    """Choose a setting by successive halving, and fit the model with it, as its share allows.

    `prepared` and `place` as in `halve`.
    """
    begun, begun_here = time.monotonic(), time.thread_time()
    enough: Stop = until(begun + share.seconds, stop)
    # Scorers of scikit-learn need predictions only; others may look at the rows.
    whole = not (hasattr(scorer, "_score_func") or scorer is accuracy_scorer)
    whole = whole or rows.weights is not None  # which a pipeline passes on to its steps
    last = until(begun + share.for_last_round, stop)
    found = halve(
        model,
        rows,
        settings,
        scorer,
        seed=seed,
        stop=enough,
        last=last,
        whole=whole,
        prepared=prepared,
        place=place,
    )
    used = rows if share.rows is None else rows.take(rows.sample(share.rows, seed))
    searched, clock = time.thread_time(), time.monotonic()
    fitted = clone(model).set_params(**found.chosen.setting)
    fitted.fit(used.X, used.y, **used.weighted())
    ended = time.thread_time()
    now = time.monotonic()
    took = Took(ended - begun_here, now - begun, ended - searched, now - clock)
    return TunedFit(fitted, found, len(used), took)
