"""Networks on real tables: a default network beside scikit-learn's, tuned over ten settings.

Both get the same columns: numbers standardised, categories as indicators, missing values filled and
marked; targets of regressions are standardised too. The peer is tuned on a quarter of the training
rows of each fold and then fitted to all of them. Errors are shares of misclassified rows, or for
regression √MSE over the spread of y. Differences are paired by fold, with the corrected t interval
of cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import Finding, Judged, Study
from benchmarks.real_tables import RealData, tables

CASES: tuple[Any, ...] = ()
MOST_ROWS = 5000
"""Larger tables are left out."""
FOLDS = 5
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"alpha": 0.01},
    {"alpha": 1.0},
    {"hidden_layer_sizes": (30,)},
    {"hidden_layer_sizes": (50, 50)},
    {"activation": "tanh"},
    {"learning_rate_init": 0.01},
    {"early_stopping": True},
    {"solver": "lbfgs", "alpha": 1.0},
    {"batch_size": 32, "alpha": 0.1},
)
"""What the peer is tuned over."""


def beside_a_tuned_peer(
    quick: bool, say: Callable[[str], None], names: tuple[str, ...] = ()
) -> Finding:
    """The error of a default network less that of the tuned peer, by cross-validation."""
    from thetahat.evaluation.score_intervals import fold_interval

    rows: list[dict[str, Any]] = []
    bars: list[Judged] = []
    for data in tables(quick):
        if len(data.y) > MOST_ROWS or (names and data.name not in names):
            continue
        say(f"{data.name}: {len(data.y)} rows")
        ours, theirs, seconds = _errors(data, SETTINGS[:2] if quick else SETTINGS)
        difference = fold_interval(ours - theirs, 1 / (FOLDS - 1), 0.95)
        rows.append(
            {
                "data": data.name,
                "rows": len(data.y),
                "default": float(ours.mean()),
                "tuned": float(theirs.mean()),
                "difference": difference.estimate,
                "low": difference.low,
                "high": difference.high,
                "seconds": seconds[0],
                "theirs, tuned": seconds[1],
            }
        )
        text = f"{data.name}: a default network is not worse than a tuned one of scikit-learn"
        bars.append((text, difference.estimate, difference.low <= 0.0))
    numbers = ("default", "tuned", "difference", "low", "high")
    show = dict.fromkeys(numbers, "{:.4f}".format)
    return Finding(rows, show | dict.fromkeys(("seconds", "theirs, tuned"), "{:.2f}".format), bars)


def _errors(data: RealData, settings: tuple[dict[str, Any], ...]) -> tuple[Any, Any, Any]:
    """Errors of both in every fold, and seconds per fold."""
    from sklearn import neural_network
    from sklearn.model_selection import KFold, StratifiedKFold

    import thetahat as th

    name = "MLPClassifier" if data.is_classification else "MLPRegressor"
    split = StratifiedKFold if data.is_classification else KFold
    errors = np.empty((2, FOLDS))
    seconds = np.zeros(2)
    for fold, (train, test) in enumerate(
        split(FOLDS, shuffle=True, random_state=0).split(data.y, data.y)
    ):
        X, X_test = _prepared(data, train, test)
        y = data.y[train]
        begun = perf_counter()
        model = getattr(th, name)(random_state=fold)
        errors[0, fold] = _error(data, model, (X, y), (X_test, data.y[test]))
        done = perf_counter()
        best = _tuned(data, getattr(neural_network, name), settings, X, y, fold)
        errors[1, fold] = _error(data, best, (X, y), (X_test, data.y[test]))
        seconds += (done - begun) / FOLDS, (perf_counter() - done) / FOLDS
    return errors[0], errors[1], seconds.tolist()


def _tuned(
    data: RealData, kind: Any, settings: tuple[dict[str, Any], ...], X: Any, y: Any, seed: int
) -> Any:
    """The peer with the setting of the least error on a quarter of the rows."""
    from sklearn.model_selection import train_test_split

    rows, held = train_test_split(
        np.arange(len(y)),
        test_size=0.25,
        random_state=seed,
        stratify=y if data.is_classification else None,
    )
    given, judged = (X[rows], y[rows]), (X[held], y[held])
    found = [
        _error(data, kind(random_state=seed, **setting), given, judged) for setting in settings
    ]
    return kind(random_state=seed, **settings[int(np.argmin(found))])


def _error(data: RealData, model: Any, given: tuple[Any, Any], judged: tuple[Any, Any]) -> float:
    """The error on rows of a model fitted to others."""
    (X, y), (X_new, y_new) = given, judged
    centre, spread = (0.0, 1.0) if data.is_classification else (np.mean(y), np.std(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y if data.is_classification else (y - centre) / spread)
    predicted = model.predict(X_new)
    if data.is_classification:
        return float(np.mean(predicted != y_new))
    return float(np.sqrt(np.mean((centre + spread * predicted - y_new) ** 2)) / np.std(data.y))


def _prepared(data: RealData, train: Any, test: Any) -> tuple[Any, Any]:
    """Training and test rows as numbers of similar size."""
    import pandas as pd

    import thetahat as th

    table = data.X
    if not hasattr(table, "iloc"):
        table = pd.DataFrame(table, columns=[f"x{place}" for place in range(table.shape[1])])
    vectorizer = th.TableVectorizer().fit(table.iloc[train])
    dense = [vectorizer.transform(table.iloc[rows]) for rows in (train, test)]
    first, second = (each.toarray() if hasattr(each, "toarray") else each for each in dense)
    return first, second


STUDIES = (Study("Beside a tuned peer", beside_a_tuned_peer),)
