"""Non-negative factors: whole fits with the same tolerance.

Quality is the relative error of the factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.factors import digits, iris
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn NMF"


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
            PEER: factorise("sklearn.decomposition", count, settings),
        },
        relative_error,
        "relative error of the factorisation",
        bars=(Bar(PEER, bar),),
        slack=1e-3,
    )


KULLBACK: dict[str, Any] = {"solver": "mu", "beta_loss": "kullback-leibler"}

CASES = (
    nonnegative("20k×100", parts(20_000, 100, 10), 10, 1 / 1.5),
    nonnegative("digits", digits, 30, 1 / 1.5),
    nonnegative("topics", topics, 10, 1 / 1.5),
    nonnegative("iris", iris, 2, 1.0),
    nonnegative("digits, Kullback–Leibler", digits, 10, 1 / 1.5, max_iter=100, **KULLBACK),
    nonnegative("topics, Kullback–Leibler", topics, 10, 1 / 1.5, max_iter=50, **KULLBACK),
)

STUDIES: tuple[Study, ...] = ()
