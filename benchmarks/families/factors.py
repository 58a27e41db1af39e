"""Factor analysis: whole fits with the same tolerance; quality is the mean −log p of the rows."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn FactorAnalysis"


def planted(rows: int, columns: int, count: int) -> Callable[[bool], Data]:
    """Rows of a few factors, with noise that differs between the columns."""

    def build(quick: bool) -> Data:
        n = min(rows, 500) if quick else rows
        random = np.random.default_rng(0)
        factors = random.standard_normal((n, count)) @ random.standard_normal((count, columns))
        noise = random.uniform(0.2, 2.0, columns) * random.standard_normal((n, columns))
        return {"X": factors + noise}

    return build


def iris(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    return {"X": load_iris().data}


def digits(quick: bool) -> Data:
    from sklearn.datasets import load_digits

    return {"X": load_digits().data}


def fit(module: str, count: int) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = import_module(module).FactorAnalysis

        def prepare(data: Data) -> Call:
            return lambda: model(count).fit(data["X"])

        return prepare

    return load


def surprise(data: Data, model: Any) -> float:
    return -float(model.score(data["X"]))


def whole_fit(name: str, build: Callable[[bool], Data], count: int, bar: float) -> Case:
    return Case(
        f"FactorAnalysis {name}, k={count}",
        build,
        {OURS: fit("thetahat", count), PEER: fit("sklearn.decomposition", count)},
        surprise,
        "mean −log p of the rows",
        bars=(Bar(PEER, bar),),
        slack=1e-6,
    )


CASES = (
    whole_fit("20k×50", planted(20_000, 50, 5), 5, 1 / 5),
    whole_fit("digits", digits, 7, 1 / 5),
    whole_fit("200×500", planted(200, 500, 5), 5, 1.0),
    whole_fit("iris", iris, 2, 1.0),
)

STUDIES: tuple[Study, ...] = ()
