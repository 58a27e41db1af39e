"""How often conformal intervals and sets hold the truth on rows that were held back.

Every data set is split at random, six tenths of the rows (at most 1000) for the fit and the rest
(at most 1000) for the test, ten times. `conformal` at 90% should then cover 88 to 92% of the test
rows. A set of classes always holds the predicted class, so that a model that is right for more than
90% of the rows covers more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Finding, Judged, Study
from benchmarks.real_tables import RealData, tables

CASES: tuple[Any, ...] = ()
LEVEL, LEAST, MOST = 0.9, 0.88, 0.92
SPLITS, MOST_ROWS = 10, 1000
ROWS = 1200
"""Rows of a data set that is made."""


def made() -> list[RealData]:
    """Tables of numbers whose errors are even, spread unevenly, skewed, or heavy-tailed."""
    from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

    random = np.random.default_rng(3)
    X = random.standard_normal((ROWS, 5))
    plane = X @ [3.0, 2.0, 1.0, 0.0, 0.0]
    uneven = plane + np.exp(0.4 * plane) * random.standard_normal(ROWS)
    skewed = np.exp(0.3 * plane + 0.5 * random.standard_normal(ROWS))
    heavy = plane + random.standard_t(3, ROWS)
    smooth = [
        (f"friedman {number}", *make(ROWS, noise=noise, random_state=0))
        for number, make, noise in (
            (1, make_friedman1, 1.0),
            (2, make_friedman2, 100.0),
            (3, make_friedman3, 0.1),
        )
    ]
    rest = [("uneven errors", X, uneven), ("skewed", X, skewed), ("heavy tails", X, heavy)]
    return [RealData(name, X, y, False) for name, X, y in [*smooth, *rest]]


def covered(data: RealData, model: Any, split: int) -> tuple[float, float, float]:
    """Share of test rows covered, mean width over the spread or size of sets, and accuracy."""
    import thetahat as th
    from thetahat.data.resampling import take_rows

    order = np.random.default_rng(split).permutation(len(data.y))
    cut = min(MOST_ROWS, len(order) * 6 // 10)
    train, test = order[:cut], order[cut : cut + MOST_ROWS]
    found = th.conformal(model, take_rows(data.X, train), data.y[train], random_state=split)
    X, y = take_rows(data.X, test), data.y[test]
    share = found.coverage(X, y, LEVEL).estimate
    if data.is_classification:
        right = float(np.mean(found.model.predict(X) == y))
        return share, float(found.sets(X, LEVEL).sum(axis=1).mean()), right
    ends = found.interval(X, LEVEL)
    return share, float(np.diff(ends, axis=1).mean() / np.std(y)), float("nan")


def models(is_classification: bool) -> dict[str, Any]:
    """A linear model and boosted trees, each after the preparation of the columns."""
    from sklearn.pipeline import make_pipeline

    import thetahat as th

    kinds: dict[str, Any] = {
        "linear": th.LogisticRegression() if is_classification else th.Ridge(),
        "boosted trees": (
            th.HistGradientBoostingClassifier(max_iter=40)
            if is_classification
            else th.HistGradientBoostingRegressor(max_iter=40)
        ),
    }
    return {name: make_pipeline(th.TableVectorizer(), model) for name, model in kinds.items()}


def coverage(quick: bool, say: Callable[[str], None]) -> Finding:
    """Coverage on real and made tables, of numbers and of classes."""
    rows: list[dict[str, Any]] = []
    bars: list[Judged] = []
    splits = 2 if quick else SPLITS
    for data in [*made(), *tables(quick)]:
        say(data.name)
        for name, model in models(data.is_classification).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = np.array([covered(data, model, split) for split in range(splits)])
            share, size, right = found.mean(axis=0)
            rows.append(
                {
                    "data": data.name,
                    "predicts": "classes" if data.is_classification else "numbers",
                    "model": name,
                    "covers": float(share),
                    "width or set size": float(size),
                    "accuracy": None if np.isnan(right) else float(right),
                }
            )
            slack = 2 * float(found[:, 0].std(ddof=1)) / splits**0.5
            most = max(MOST, right + 0.02) if data.is_classification else MOST
            held = LEAST - slack <= share <= most + slack
            named = f"{data.name}, {name}: covers {LEAST:.0%} to {most:.0%}"
            bars.append((named, float(share), bool(held)))
    show = {"covers": "{:.1%}".format, "width or set size": "{:.2f}".format, "accuracy": _percent}
    return Finding(rows, show, bars)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


STUDIES = (Study("Coverage of conformal intervals and sets", coverage),)
