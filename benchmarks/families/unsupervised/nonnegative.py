"""Non-negative factors and topics: whole fits with the same tolerance.

Quality is the relative error of the factorisation, or the perplexity of the documents.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.unsupervised.factors import digits, iris
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn NMF"
TOPICS_PEER = "scikit-learn LatentDirichletAllocation"


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


def allocate(module: str, count: int, settings: dict[str, Any]) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = import_module(module).LatentDirichletAllocation

        def prepare(data: Data) -> Call:
            return lambda: model(count, random_state=0, **settings).fit(data["X"])

        return prepare

    return load


def small_counts(quick: bool) -> Data:
    return {"X": np.random.default_rng(0).poisson(1.0, (150, 4)).astype(float)}


def dense_topics(quick: bool) -> Data:
    return {"X": topics(quick)["X"].toarray()}


def allocation(name: str, build: Callable[[bool], Data], count: int, **settings: Any) -> Case:
    """Quality is the perplexity, which depends on the start, so that some of it may be lost."""
    return Case(
        f"LatentDirichletAllocation {name}, k={count}",
        build,
        {
            OURS: allocate("thetahat", count, settings),
            TOPICS_PEER: allocate("sklearn.decomposition", count, settings),
        },
        lambda data, model: float(model.bound_),
        "perplexity of the documents",
        bars=(Bar(TOPICS_PEER, 1.0),),
        slack=0.05,
    )


KULLBACK: dict[str, Any] = {"solver": "mu", "beta_loss": "kullback-leibler"}

CASES = (
    nonnegative("20k×100", parts(20_000, 100, 10), 10, 1 / 1.5),
    nonnegative("digits", digits, 30, 1 / 1.5),
    nonnegative("topics", topics, 10, 1 / 1.5),
    nonnegative("iris", iris, 2, 1.0),
    nonnegative("digits, Kullback–Leibler", digits, 10, 1 / 1.5, max_iter=100, **KULLBACK),
    nonnegative("topics, Kullback–Leibler", topics, 10, 1 / 1.5, max_iter=50, **KULLBACK),
    allocation("topics", topics, 10),
    allocation("topics online", topics, 10, learning_method="online"),
    allocation("dense topics", dense_topics, 10),
    allocation("small counts", small_counts, 3),
)

STUDIES: tuple[Study, ...] = ()
