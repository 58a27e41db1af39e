"""Isolation forests: fits with the threshold of stray rows, beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.families.trees.forest import error, fits
from benchmarks.harness import Bar, Case, Data
from benchmarks.peers import SKLEARN


def strays(n: int, d: int) -> Callable[[bool], Data]:
    """Usual rows, and one stray row in 50, which the contamination names."""

    def build(quick: bool) -> Data:
        m = 1000 if quick else n
        random = np.random.default_rng(0)
        X = random.standard_normal((m, d))
        y = np.ones(m, dtype=int)
        y[::50] = -1
        X[::50] *= 3.0
        return {"X": X, "y": y, "X_new": X, "y_new": y}

    return build


def isolation(n: int, d: int, bar: float) -> Case:
    """Fit of an isolation forest, and the scores of its training rows for the threshold."""
    return Case(
        f"IsolationForest 100 trees, {n}×{d}",
        strays(n, d),
        fits("IsolationForest", n_estimators=100, contamination=0.02),
        error,
        "share of rows with a wrong label",
        bars=(Bar(SKLEARN, 1 / bar),),
        slack=0.2,
    )


CASES = (isolation(300, 5, 2), isolation(50_000, 20, 1))

STUDIES = ()
