"""Factor analysis and non-negative factors: whole fits with the same tolerance.

Quality is the mean −log p of the rows, or the relative error of the factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn FactorAnalysis"
NMF_PEER = "scikit-learn NMF"


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


def parts(rows: int, columns: int, count: int) -> Callable[[bool], Data]:
    """Rows that are sums of non-negative parts, with noise."""

    def build(quick: bool) -> Data:
        n = min(rows, 500) if quick else rows
        random = np.random.default_rng(0)
        X = random.gamma(0.5, size=(n, count)) @ random.gamma(0.5, size=(count, columns))
        return {"X": X + 0.2 * random.random((n, columns))}

    return build


def topics(quick: bool) -> Data:
    """Counts of 1000 words in texts of ten topics, as sparse rows."""
    import scipy.sparse as sp

    random = np.random.default_rng(0)
    words = random.dirichlet(np.full(1000, 0.05), 10)
    shares = random.dirichlet(np.full(10, 0.1), 500 if quick else 5000)
    return {"X": sp.csr_array(random.poisson(100 * shares @ words).astype(float))}


def factorise(module: str, count: int, settings: dict[str, Any]) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = import_module(module).NMF

        def prepare(data: Data) -> Call:
            return lambda: model(count, random_state=0, **settings).fit(data["X"])

        return prepare

    return load


def relative_error(data: Data, model: Any) -> float:
    X = data["X"]
    entries = X if isinstance(X, np.ndarray) else X.data
    return float(model.reconstruction_err_ / np.sqrt((entries**2).sum()))


def nonnegative(
    name: str,
    build: Callable[[bool], Data],
    count: int,
    bar: float,
    **settings: Any,
) -> Case:
    return Case(
        f"NMF {name}, k={count}",
        build,
        {
            OURS: factorise("thetahat", count, settings),
            NMF_PEER: factorise("sklearn.decomposition", count, settings),
        },
        relative_error,
        "relative error of the factorisation",
        bars=(Bar(NMF_PEER, bar),),
        slack=1e-3,
    )


KULLBACK: dict[str, Any] = {"solver": "mu", "beta_loss": "kullback-leibler"}

CASES = (
    whole_fit("20k×50", planted(20_000, 50, 5), 5, 1 / 5),
    whole_fit("digits", digits, 7, 1 / 5),
    whole_fit("200×500", planted(200, 500, 5), 5, 1.0),
    whole_fit("iris", iris, 2, 1.0),
    nonnegative("20k×100", parts(20_000, 100, 10), 10, 1 / 1.5),
    nonnegative("digits", digits, 30, 1 / 1.5),
    nonnegative("topics", topics, 10, 1 / 1.5),
    nonnegative("iris", iris, 2, 1.0),
    nonnegative("digits, Kullback–Leibler", digits, 10, 1 / 1.5, max_iter=100, **KULLBACK),
    nonnegative("topics, Kullback–Leibler", topics, 10, 1 / 1.5, max_iter=50, **KULLBACK),
)

STUDIES: tuple[Study, ...] = ()
