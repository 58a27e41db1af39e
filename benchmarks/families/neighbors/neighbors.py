"""Neighbours: searches by tree and by products, beside SciPy's tree and scikit-learn's.

Quality is the largest difference of a distance from the true one, so that only exact neighbours
count. A call fits and searches, except where one row is predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study
from benchmarks.peers import SKLEARN, contenders, with_intelex

TREE = "SciPy cKDTree"
FAISS = "faiss flat"
K = 10
CHECKED = 20
"""Queries whose distances are compared with all rows."""


def rows(n: int, d: int, queries: int, *, dtype: str = "float64", kind: str = "uniform") -> Any:
    """Uniform or Gaussian rows, and queries from the same distribution."""

    def build(quick: bool) -> Data:
        count, asked = (min(n, 2000), min(queries, 300)) if quick else (n, queries)
        random = np.random.default_rng(0)
        draw = random.random if kind == "uniform" else random.standard_normal
        X = draw((count + asked, d)).astype(dtype)
        return {"X": X[:count], "new": X[count:]}

    return build


def search(module: str, **parameters: Any) -> Contender:
    """Fit, and find the ten nearest rows of every query."""

    def load() -> Callable[[Data], Call]:
        kind = import_module(module).NearestNeighbors

        def prepare(data: Data) -> Call:
            def call() -> Any:
                options = {"n_neighbors": K, "n_jobs": -1, **parameters}
                return kind(**options).fit(data["X"]).kneighbors(data["new"])[0]

            return call

        return prepare

    return load


def faiss_flat() -> Callable[[Data], Call]:
    """Exact search by products in float32."""
    import faiss

    def prepare(data: Data) -> Call:
        def call() -> Any:
            index = faiss.IndexFlatL2(data["X"].shape[1])
            index.add(data["X"])
            return np.sqrt(np.maximum(index.search(data["new"], K)[0], 0))

        return call

    return prepare


def scipy_tree() -> Callable[[Data], Call]:
    from scipy.spatial import cKDTree

    def prepare(data: Data) -> Call:
        return lambda: cKDTree(data["X"]).query(data["new"], K, workers=-1)[0]

    return prepare


def one_row(library: str) -> Contender:
    """One prediction by a fitted classifier."""

    def load() -> Callable[[Data], Call]:
        module = import_module("thetahat" if library == OURS else "sklearn.neighbors")

        def prepare(data: Data) -> Call:
            X, row = data["X"], data["new"][:1]
            model = module.KNeighborsClassifier().fit(X, (X[:, 0] > X[:, 1]).astype(int))
            return lambda: model.predict(row)

        return prepare

    return load


def deviation(data: Data, distance: Any) -> float:
    """The largest difference from the sorted distances to all rows, relative."""
    X, new = data["X"], data["new"][:CHECKED]
    X, new = (np.asarray(each.todense() if hasattr(each, "todense") else each) for each in (X, new))
    worst = 0.0
    for query, found in zip(new.astype(float), distance, strict=False):
        true = np.sort(np.sqrt(((X.astype(float) - query) ** 2).sum(axis=1)))[:K]
        worst = max(worst, float(np.abs(true - found).max() / true.max()))
    return max(worst, 1e-6)  # rounding is no difference


def nothing(data: Data, result: Any) -> float:
    return 0.0


def searches(**peer: Any) -> dict[str, Contender]:
    """Ours by its own choice of the algorithm, the peers with these options."""
    return same_search(**peer) | {OURS: search(OURS)}


def same_search(**options: Any) -> dict[str, Contender]:
    """All with the same options."""
    return contenders(
        lambda module: search(module, **options), "sklearn.neighbors", "NearestNeighbors"
    )


WITH_TREE = {**searches(), TREE: scipy_tree}
LARGEST = "largest relative error of a distance"

CASES = (
    Case(
        "kd-tree 200k×3, fit and 200k queries",
        rows(200_000, 3, 200_000),
        WITH_TREE,
        deviation,
        LARGEST,
        bars=(Bar(TREE, 1.0), Bar(SKLEARN, 1 / 2.5)),
    ),
    Case("kd-tree 100k×8, 10k queries", rows(100_000, 8, 10_000), WITH_TREE, deviation, LARGEST),
    Case(
        "brute 20k×100 float32, 20k queries",
        rows(20_000, 100, 20_000, dtype="float32", kind="normal"),
        {**searches(algorithm="brute"), FAISS: faiss_flat},
        deviation,
        LARGEST,
        bars=with_intelex("NearestNeighbors", Bar(SKLEARN, 1 / 1.8), Bar(FAISS, 1.0)),
    ),
    *(
        Case(
            f"{n}×100 {dtype}, {n} queries",
            rows(n, 100, n, dtype=dtype, kind="normal"),
            searches(algorithm="brute"),
            deviation,
            LARGEST,
            bars=(Bar(SKLEARN, 1.0),),
        )
        for n in (100, 1000, 10_000)
        for dtype in ("float32", "float64")
    ),
    *(
        Case(f"{n}×10, {n} queries", rows(n, 10, n, kind="normal"), WITH_TREE, deviation, LARGEST)
        for n in (100, 1000, 10_000)
    ),
    Case(
        "KNeighborsClassifier 100k×10, one row",
        rows(100_000, 10, 10),
        {OURS: one_row(OURS), SKLEARN: one_row(SKLEARN)},
        nothing,
        "not compared",
    ),
)

STUDIES: tuple[Study, ...] = ()
