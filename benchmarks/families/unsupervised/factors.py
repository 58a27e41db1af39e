"""Latent factors: whole fits with the same tolerance.

Factor analysis: quality is the mean −log p of the rows. Independent components: both start from the
same matrix, and quality is 1 − the smallest |correlation| of a source with its component.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn FactorAnalysis"
PEER_ICA = "scikit-learn FastICA"


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


def mixtures(rows: int, columns: int) -> Callable[[bool], Data]:
    """Mixtures of independent sources: Laplace, uniform and exponential ones in turn."""

    def build(quick: bool) -> Data:
        n = min(rows, 2000) if quick else rows
        random = np.random.default_rng(0)
        kinds = (random.laplace, random.uniform, random.exponential)
        S = np.column_stack([kinds[j % 3](size=n) for j in range(columns)])
        return {
            "X": S @ random.standard_normal((columns, columns)),
            "S": S,
            "start": random.standard_normal((columns, columns)),
        }

    return build


def unmix(module: str, params: dict[str, Any]) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = import_module(module).FastICA

        def prepare(data: Data) -> Call:
            return lambda: model(w_init=data["start"], **params).fit(data["X"])

        return prepare

    return load


def confusion(data: Data, model: Any) -> float:
    found, k = model.transform(data["X"]), data["S"].shape[1]
    return 1.0 - float(np.abs(np.corrcoef(data["S"].T, found.T)[:k, k:]).max(axis=1).min())


def roundness(data: Data, model: Any) -> float:
    """−Σ(E log cosh s)², where there is no truth to compare with."""
    return -float((np.log(np.cosh(model.transform(data["X"]))).mean(axis=0) ** 2).sum())


def iris_start(quick: bool) -> Data:
    return {**iris(quick), "start": np.random.default_rng(0).standard_normal((4, 4))}


def unmixing(name: str, build: Callable[[bool], Data], bar: float, **params: Any) -> Case:
    known = name != "iris"
    return Case(
        f"FastICA {name}" + "".join(f", {each}" for each in params.values()),
        build,
        {OURS: unmix("thetahat", params), PEER_ICA: unmix("sklearn.decomposition", params)},
        confusion if known else roundness,
        "1 − least |correlation| with a source" if known else "−Σ(E log cosh s)²",
        bars=(Bar(PEER_ICA, bar),),
        slack=1e-4,
    )


CASES = (
    whole_fit("20k×50", planted(20_000, 50, 5), 5, 1 / 5),
    whole_fit("digits", digits, 7, 1 / 5),
    whole_fit("200×500", planted(200, 500, 5), 5, 1.0),
    whole_fit("iris", iris, 2, 1.0),
    unmixing("100k×20", mixtures(100_000, 20), 1 / 3),
    unmixing("100k×20", mixtures(100_000, 20), 1 / 3, fun="exp"),
    unmixing("20k×10", mixtures(20_000, 10), 1 / 3, algorithm="deflation"),
    unmixing("iris", iris_start, 1.0),
)

STUDIES: tuple[Study, ...] = ()
