"""Tune a model within a time limit, and fit it to all rows with the setting that was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from thetahat.estimator.distributed.functions import needs_memory
from thetahat.evaluation.folds import targets_of
from thetahat.evaluation.metrics import scorers_for
from thetahat.evaluation.tuning.halving import SETTINGS, Halved, Tried
from thetahat.evaluation.tuning.inner_folds import TrainingRows
from thetahat.evaluation.tuning.search_space import Setting, require_space, settings_of, space_of
from thetahat.evaluation.tuning.time_limit import seconds_of
from thetahat.evaluation.tuning.time_plan import Share
from thetahat.evaluation.tuning.tuned import tuned_fit
from thetahat.foundation.arguments import require_estimator
from thetahat.foundation.errors import DataError, ParameterError


@dataclass(frozen=True)
class Tuning:
    """The settings of a search by successive halving, the best first; prints as a table.

    Formula: settings are ranked by the number of rows and folds on which they were tried, then by
    their mean score. Cost: O(settings).

    Attributes
    ----------
    metric : str
        The name of the metric that is maximised.
    chosen : dict
        The chosen setting. Empty if the given parameters of the model are the best.
    score : float
        The mean score of the chosen setting in the last round. It is too optimistic as a score of
        the model, because it is the best of many.
    settings : tuple of dict
        All settings that were tried, the chosen one first.
    scores : tuple of float
        The mean score of each setting in the last round that it reached; −∞ where a fit failed.
    rows : tuple of int
        The number of training and held-out rows of that round.
    folds : tuple of int
        The number of held-out folds of that round. Only scores of the same rows and folds can be
        compared; the chosen setting is the best of those that reached the last round.
    errors : tuple of str
        The error of each setting whose fit or score failed; "" for the others.
    model : estimator
        The model fitted with the chosen setting to all rows.
    complete : bool
        Whether the search was completed. If False, the time limit stopped it, and another run may
        choose another setting.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 5, noise=1.0, random_state=0)
    >>> found = th.tune(th.Ridge(), data.X, data.y, space={"alpha": [1e-3, 1.0, 1e3]})
    >>> found.complete, len(found.settings)
    (True, 3)
    """

    metric: str
    chosen: Setting
    score: float
    settings: tuple[Setting, ...]
    scores: tuple[float, ...]
    rows: tuple[int, ...]
    folds: tuple[int, ...]
    errors: tuple[str, ...]
    model: Any
    complete: bool

    def __str__(self) -> str:
        names = [_words(each) for each in self.settings]
        width = max(map(len, names), default=0)
        lines = [f"{self.metric}, mean over held-out folds, {_count(len(names), 'setting')}:"]
        lines += [
            f"{'*' if not place else ' '} {name:<{width}}  "
            + (f"failed: {error}" if error else _scored(score, folds, rows))
            for place, (name, score, rows, folds, error) in enumerate(
                zip(names, self.scores, self.rows, self.folds, self.errors, strict=True)
            )
        ]
        if len(names) < 2 and self.complete:
            lines.append(
                "Nothing was tuned: there is no other setting to try. Name parameters and their "
                "values as the space."
            )
        if not self.complete:
            lines.append("The time limit has ended the search.")
        return "\n".join(lines)

    __repr__ = __str__


@needs_memory
def tune(
    model: Any,
    X: Any,
    y: Any,
    *,
    space: Mapping[str, Sequence[Any]] | None = None,
    time_limit: float | str | None = None,
    n_settings: int = SETTINGS,
    scoring: Any = None,
    groups: Any = None,
    random_state: int = 0,
) -> Tuning:
    """Search for a good setting of a model by successive halving, and fit the model with it.

    Formula: argmax over settings of the mean score on held-out rows. The best third of the settings
    is kept for the next round, with three times as many rows (at most 20,000). If there are at most
    5,000 rows, the best half is kept for the next round, with more folds. The last round compares
    at least three settings, or six if there are at most 5,000 rows. Cost: about n_settings/2 fits
    to the rows of the last round, or 3·n_settings if there are at most 5,000 rows, and one fit to
    all rows.

    The score of the chosen setting is too optimistic, because it is the best of many. To compare
    tuned models, use `compare` with a ``time_limit``: it tunes on the training rows of every fold.

    Parameters
    ----------
    model : estimator
        A classifier or regressor with scikit-learn's interface, or a pipeline that ends with one.
        It is cloned, so the object itself stays unfitted. Its own parameters are the first setting.
    X : array-like, sparse or table of shape (n, d)
        The rows, held in memory.
    y : array-like of shape (n,)
        The target of each row.
    space : dict of str to sequence, optional
        Names of parameters, as in ``set_params``, and the values to try. By default the values that
        the class of the model declares: boosted trees, forests, neighbours, networks, kernel
        machines and linear models declare such values.
    time_limit : float or str, optional
        Time after which no further setting is tried: a number of seconds, or "90s", "5m", "1h". The
        fit to all rows comes after it. By default there is no limit, and the result depends on
        `random_state` alone.
    n_settings : int, default=18
        Number of settings of the first round, drawn at random from the space. Must be at least 1.
    scoring : str or callable, optional
        One metric as in scikit-learn: a name such as "accuracy", or a callable
        ``scorer(model, X, y)``. Greater values must be better. By default the model's own
        ``score`` method is used.
    groups : array-like of shape (n,), optional
        The group of each row. Rows of a group are held out together.
    random_state : int, default=0
        Seed for the settings, the samples and the folds.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 5, noise=1.0, random_state=0)
    >>> found = th.tune(th.KNeighborsRegressor(), data.X, data.y, n_settings=9)
    >>> found.model.n_neighbors == found.chosen.get("n_neighbors", 5)
    True
    """
    require_estimator(model, "tune")
    seconds = inf if time_limit is None else seconds_of(time_limit)
    if not (isinstance(n_settings, int | np.integer) and n_settings >= 1):
        raise ParameterError(f"tune: n_settings={n_settings!r} must be a whole number ≥ 1.")
    if not (is_classifier(model) or is_regressor(model)):
        raise ParameterError(
            f"tune: {type(model).__name__} is neither a classifier nor a regressor. Give one, or a "
            "pipeline that ends with one."
        )
    chosen_from = space_of(model) if space is None else dict(space)
    require_space(chosen_from, model, "tune")
    _, targets = targets_of(X, y, "tune", several=False, models=[model])
    grouped = None if groups is None else np.asarray(groups)
    if grouped is not None and grouped.shape != targets.shape:
        raise DataError(
            f"tune: groups has shape {grouped.shape}, but there are {len(targets)} rows. Give one "
            "group per row."
        )
    rows = TrainingRows(X, targets, is_classifier(model), grouped).of(model)
    _require_folds(rows, random_state)
    settings = settings_of(model, chosen_from, n_settings, np.random.default_rng(random_state))
    scorers = scorers_for(model, scoring, [], True)
    if len(scorers) != 1:
        raise ParameterError(f"tune: {len(scorers)} metrics given; tune by one at a time.")
    ((metric, scorer),) = scorers.items()
    found = tuned_fit(
        model, settings, rows, scorer, Share(seconds), seed=random_state, stop=lambda: False
    )
    search = found.search
    _require_a_score(search, metric, given=space is not None)
    ranked = sorted(search.tried, key=lambda each: (each is not search.chosen, *_rank(each)))
    ranked = [each for each in ranked if each.scores]
    return Tuning(
        metric,
        found.setting,
        search.score,
        tuple(each.setting for each in ranked),
        tuple(-_rank(each)[2] for each in ranked),
        tuple(-_rank(each)[0] for each in ranked),
        tuple(-_rank(each)[1] for each in ranked),
        tuple("" if each.error is None else str(each.error) for each in ranked),
        found.model,
        search.complete,
    )


def _require_folds(rows: TrainingRows, seed: int) -> None:
    """Raise an error if the rows cannot be split into training rows and held-out rows."""
    if rows.folds(seed):
        return
    remedy = f"Rows: {len(rows)}. Give at least 4"
    if len(rows) >= 4 and rows.classifier:
        labels, counts = np.unique(rows.y, return_counts=True)
        rarest = int(np.argmin(counts))
        remedy = (
            f"The class {labels.tolist()[rarest]!r} has {_count(int(counts[rarest]), 'row')}. Give "
            "at least two classes, with at least 2 rows each"
        )
    if rows.groups is not None:
        remedy += ", in at least 4 groups"
    raise DataError(
        "tune: settings are compared on held-out rows, but these rows are too few to be split into "
        f"training rows and held-out rows. {remedy}."
    )


def _require_a_score(search: Halved, metric: str, *, given: bool) -> None:
    """Raise the first error if all settings failed, or all those of a space given by the user."""
    tried = [each for each in search.tried if each.scores]
    wanted = [each for each in tried if each.setting] if given and search.complete else tried
    scored = tried if np.isfinite(search.score) else []
    if not tried or (scored and any(each.error is None for each in wanted or tried)):
        return
    errors = [each.error for each in wanted if each.error is not None]
    if errors:
        errors[0].add_note("(No setting of the search could be scored; this is the first error.)")
        raise errors[0]
    raise DataError(
        f"tune: the {metric} of all settings is not finite on the held-out rows. Give more rows, "
        "another metric as scoring, or scale the columns."
    )


def _rank(tried: Tried) -> tuple[int, int, float]:
    """Rows, folds and mean score of the last round that a setting reached, the most first."""
    rows = max((rows for rows, _ in tried.scores), default=0)
    scores = [score for (each, _), score in tried.scores.items() if each == rows]
    return -rows, -len(scores), -float(np.mean(scores)) if scores else inf


def _scored(score: float, folds: int, rows: int) -> str:
    return f"{score:.4g}  ({_count(folds, 'fold')} of {rows:,} rows)"


def _count(number: int, of: str) -> str:
    return f"{number} {of}{'s' * (number != 1)}"


def _words(setting: Setting) -> str:
    if not setting:
        return "as it is"
    return ", ".join(f"{name}={value}" for name, value in setting.items())
