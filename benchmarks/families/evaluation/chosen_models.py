"""The model that ``thetahat fit`` chooses, beside LightGBM tuned over thirty random settings.

A third of the rows of each table is held back. The command gets the other rows as a file and its
default time; LightGBM's settings are compared by cross-validation on the same rows and by the
metric that the command has chosen. Differences are paired by row: their intervals are quantiles of
bootstrap samples of the rows that were held back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import Finding, Judged, Study
from benchmarks.real_tables import RealData, tables

CASES: tuple[Any, ...] = ()
SETTINGS, FOLDS = 30, 5
LEAST_ROWS, MOST_ROWS = 800, 5000
"""Smaller tables tell no difference; larger ones are left out."""
BOOTSTRAPS = 1000


def beside_a_tuned_peer(
    quick: bool, say: Callable[[str], None], names: tuple[str, ...] = ()
) -> Finding:
    """The score of the chosen model less that of the tuned peer, on rows that neither has seen."""
    rows: list[dict[str, Any]] = []
    bars: list[Judged] = []
    for data in tables(quick):
        asked = data.name in names if names else LEAST_ROWS <= len(data.y) <= MOST_ROWS
        if not asked:
            continue
        say(f"{data.name}: {len(data.y)} rows")
        found = _compared(data, quick)
        rows.append({"data": data.name, "rows": len(data.y), **found})
        text = f"{data.name}: the chosen model is not worse than tuned LightGBM"
        bars.append((text, found["difference"], found["high"] >= 0.0))
    numbers = ("thetahat", "LightGBM", "difference", "low", "high")
    show = dict.fromkeys(numbers, "{:.4f}".format)
    return Finding(rows, show | dict.fromkeys(("seconds", "theirs"), "{:.0f}".format), bars)


def _compared(data: RealData, quick: bool) -> dict[str, Any]:
    from sklearn.model_selection import train_test_split

    table, y = _table(data), np.asarray(data.y)
    train, test = train_test_split(
        np.arange(len(y)),
        test_size=1 / 3,
        random_state=0,
        stratify=y if data.is_classification else None,
    )
    begun = perf_counter()
    metric, name, ours = _of_the_command(table, y, train, test, data.is_classification, quick)
    done = perf_counter()
    theirs = _of_the_peer(table, y, train, test, data.is_classification, metric, quick)
    ended = perf_counter()
    score = _score_of(metric)
    random = np.random.default_rng(0)
    differences = []
    for _ in range(BOOTSTRAPS):
        drawn = random.integers(0, test.size, test.size)
        truth = y[test][drawn]
        differences.append(score(truth, ours[drawn]) - score(truth, theirs[drawn]))
    scores = score(y[test], ours), score(y[test], theirs)
    low, high = np.quantile(differences, [0.025, 0.975])
    return {
        "metric": metric,
        "chosen": name,
        "thetahat": scores[0],
        "LightGBM": scores[1],
        "difference": scores[0] - scores[1],
        "low": float(low),
        "high": float(high),
        "seconds": done - begun,
        "theirs": ended - done,
    }


def _table(data: RealData) -> Any:
    import pandas as pd

    if hasattr(data.X, "iloc"):
        return data.X
    return pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])])


def _of_the_command(
    table: Any, y: Any, train: Any, test: Any, classes: bool, quick: bool
) -> tuple[str, str, Any]:
    """The metric, the chosen model, and its predictions: probabilities of class 1, or numbers."""
    import pandas as pd

    from thetahat.interfaces.command_line import main

    with TemporaryDirectory() as folder:
        paths = {each: str(Path(folder) / each) for each in ("train.csv", "test.csv", "m.theta")}
        target = "the_target"
        table.iloc[train].assign(**{target: y[train]}).to_csv(paths["train.csv"], index=False)
        table.iloc[test].to_csv(paths["test.csv"], index=False)
        task = "classification" if classes else "regression"
        argv = ["fit", paths["train.csv"], "-t", target, "-o", paths["m.theta"], "--task", task]
        said = StringIO()
        with redirect_stdout(said):
            main([*argv, "--json", "-q", *(["--time-limit", "0"] if quick else [])])
            out = str(Path(folder) / "out.csv")
            main(["predict", paths["m.theta"], paths["test.csv"], "-o", out, "-q"])
        told = json.loads(said.getvalue())
        found = pd.read_csv(out)
    column = "P(1)" if classes else target
    if column not in found:
        raise LookupError(f"predictions have the columns {list(found)}, but not {column}")
    return told["score"].split()[0], told["model"], found[column].to_numpy()


def _of_the_peer(
    table: Any, y: Any, train: Any, test: Any, classes: bool, metric: str, quick: bool
) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.model_selection import RandomizedSearchCV

    settings = {
        "num_leaves": [4, 8, 16, 31, 63],
        "learning_rate": [0.01, 0.02, 0.05, 0.1, 0.2],
        "n_estimators": [50, 100, 200, 400, 800],
        "min_child_samples": [5, 10, 20, 50],
        "subsample": [0.6, 0.8, 1.0],
        "subsample_freq": [1],
        "colsample_bytree": [0.4, 0.7, 1.0],
        "reg_lambda": [0.0, 0.1, 1.0, 10.0],
    }
    kind = LGBMClassifier if classes else LGBMRegressor
    search = RandomizedSearchCV(
        kind(verbose=-1, random_state=0, n_jobs=2),
        settings,
        n_iter=2 if quick else SETTINGS,
        scoring=metric,
        cv=FOLDS,
        random_state=0,
    )
    search.fit(table.iloc[train], y[train])
    rows = table.iloc[test]
    return search.predict_proba(rows)[:, 1] if classes else search.predict(rows)


def _score_of(metric: str) -> Callable[[Any, Any], float]:
    """A metric of probabilities of class 1, or of numbers."""
    from sklearn.metrics import get_scorer

    scorer = get_scorer(metric)
    function, sign = scorer._score_func, scorer._sign
    if scorer._response_method == "predict":
        binary = metric not in ("r2",) and not metric.startswith("neg_")
        return lambda y, p: sign * function(y, p >= 0.5 if binary else p)
    return lambda y, p: sign * function(y, p)


STUDIES = (Study("Beside tuned LightGBM", beside_a_tuned_peer),)
