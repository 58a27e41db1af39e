"""Clusters: k-means from the same centres, from its own starts, by batches, and on small tables.

Quality is the loss that was reached: with the same start and the same number of iterations it is
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness import Bar, Call, Case, Contender, Data, Study
from benchmarks.peers import SKLEARN, contenders, with_intelex


def groups(n: int, d: int, k: int, *, spread: float = 3.0, dtype: str = "float64") -> Any:
    """Rows around k centres, and k of the rows as a start."""

    def build(quick: bool) -> Data:
        count = min(n, 3000) if quick else n
        random = np.random.default_rng(0)
        centres = random.uniform(-10, 10, (k, d))
        X = centres[random.integers(0, k, count)] + spread * random.standard_normal((count, d))
        X = X.astype(dtype)
        return {"X": X, "start": X[random.choice(count, k, replace=False)]}

    return build


def flowers(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    X = load_iris().data
    return {"X": X, "start": X[[0, 60, 120]]}


def sparse_groups(quick: bool) -> Data:
    """Rows of words, of which each group has its own."""
    import scipy.sparse as sp

    n, d, k = (1000 if quick else 20_000), 2000, 20
    random = np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 20)
    columns = (random.integers(0, k, n)[rows] * 100 + random.integers(0, 150, 20 * n)) % d
    X = sp.csr_array((np.ones(20 * n), (rows, columns)), shape=(n, d))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return {"X": X, "start": X[random.choice(n, k, replace=False)].toarray()}


def cluster(module: str, name: str, *, given: bool = True, **parameters: Any) -> Contender:
    """Fit, from the given start or from an own one."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            start = {"init": data["start"], "n_init": 1} if given else {"random_state": 0}
            k = len(data["start"])
            return lambda: model(k, **start, **parameters).fit(data["X"])

        return prepare

    return load


def faiss_kmeans(iterations: int) -> Contender:
    """From the given start, all rows in every iteration; the centres are the result."""

    def load() -> Callable[[Data], Call]:
        from faiss import Kmeans

        def prepare(data: Data) -> Call:
            X, start = data["X"], data["start"]

            def call() -> Any:
                model = Kmeans(
                    X.shape[1], len(start), niter=iterations, max_points_per_centroid=len(X)
                )
                model.train(X, init_centroids=start)
                return model.centroids

            return call

        return prepare

    return load


def loss(data: Data, result: Any) -> float:
    """Σ of the squared distances of the rows to the nearest centre."""
    if hasattr(result, "inertia_"):
        return float(result.inertia_)
    from sklearn.metrics import pairwise_distances_argmin

    near = pairwise_distances_argmin(data["X"], result)
    return float(np.sum(np.square(data["X"] - result[near], dtype=np.float64)))


def pair(name: str, **parameters: Any) -> dict[str, Contender]:
    return contenders(lambda module: cluster(module, name, **parameters), "sklearn.cluster", name)


STEPS = {"max_iter": 20, "tol": 0}
FAISS = {"faiss": faiss_kmeans(20)} if find_spec("faiss") else {}

CASES = (
    Case(
        "KMeans 200k×50, k = 100, 20 iterations",
        groups(200_000, 50, 100),
        pair("KMeans", **STEPS),
        loss,
        "loss",
        bars=with_intelex("KMeans", Bar(SKLEARN, 0.5)),
    ),
    Case(
        "KMeans 200k×50, k = 100, 20 iterations, float32",
        groups(200_000, 50, 100, dtype="float32"),
        pair("KMeans", **STEPS) | FAISS,
        loss,
        "loss",
        bars=with_intelex("KMeans", *(Bar(each, 1) for each in FAISS)),
        slack=1e-4,
    ),
    Case(
        "KMeans 200k×50, k = 100, 20 iterations, no groups",
        groups(200_000, 50, 100, spread=1000.0),
        pair("KMeans", **STEPS),
        loss,
        "loss",
    ),
    Case(
        "KMeans 200k×5, k = 20, to convergence",
        groups(200_000, 5, 20),
        pair("KMeans"),
        loss,
        "loss",
        slack=1e-3,
    ),
    Case(
        "KMeans 20k×2000 sparse, k = 20, 10 iterations",
        sparse_groups,
        pair("KMeans", max_iter=10, tol=0),
        loss,
        "loss",
    ),
    Case(
        "KMeans iris, k = 3",
        flowers,
        pair("KMeans"),
        loss,
        "loss",
        bars=(Bar(SKLEARN, 1),),
    ),
    Case(
        "MiniBatchKMeans 200k×50, k = 100, own start",
        groups(200_000, 50, 100),
        pair("MiniBatchKMeans", given=False),
        loss,
        "loss",
        slack=0.05,
    ),
    Case(
        "BisectingKMeans 100k×10, k = 30, own start",
        groups(100_000, 10, 30),
        pair("BisectingKMeans", given=False, init="k-means++"),
        loss,
        "loss",
        slack=0.05,
        bars=(Bar(SKLEARN, 1),),
    ),
)

STUDIES: tuple[Study, ...] = ()
