"""Clusters by density: DBSCAN and HDBSCAN on many rows of few columns, and on small tables.

Quality is the share of rows that belong to a cluster, which is the same for equal labels: clusters
are equal up to ties of distances.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Bar, Call, Case, Contender, Data, Study
from benchmarks.peers import SKLEARN, contenders


def groups(n: int, d: int, k: int) -> Any:
    """Rows around k centres, and some between them."""

    def build(quick: bool) -> Data:
        count = min(n, 3000) if quick else n
        random = np.random.default_rng(0)
        centres = random.uniform(-10, 10, (k, d))
        X = centres[random.integers(0, k, count)] + 0.7 * random.standard_normal((count, d))
        X[: count // 20] = random.uniform(-12, 12, (count // 20, d))
        return {"X": X}

    return build


def flowers(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    return {"X": load_iris().data}


def cluster(module: str, name: str, **parameters: Any) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            return lambda: model(**parameters).fit(data["X"])

        return prepare

    return load


def share_in_clusters(data: Data, model: Any) -> float:
    """Share of the rows that are no noise, which is the same for equal labels."""
    return -float((model.labels_ >= 0).mean())


def pair(name: str, theirs: dict[str, Any] | None = None, **parameters: Any) -> Any:
    def contender(module: str) -> Contender:
        extra = {} if module == "thetahat" else theirs or {}
        return cluster(module, name, **extra, **parameters)

    return contenders(contender, "sklearn.cluster", name)


CASES = (
    Case(
        "DBSCAN 200k×3, eps = 0.2",
        groups(200_000, 3, 20),
        pair("DBSCAN", eps=0.2, min_samples=10),
        share_in_clusters,
        "share of noise − 1",
        bars=(Bar(SKLEARN, 0.5),),
    ),
    Case(
        "DBSCAN 20k×20, eps = 3",
        groups(20_000, 20, 20),
        pair("DBSCAN", eps=3.0, min_samples=10),
        share_in_clusters,
        "share of noise − 1",
    ),
    Case(
        "DBSCAN iris",
        flowers,
        pair("DBSCAN"),
        share_in_clusters,
        "share of noise − 1",
        bars=(Bar(SKLEARN, 1),),
    ),
    Case(
        "HDBSCAN 50k×5",
        groups(50_000, 5, 20),
        pair("HDBSCAN", {"copy": True}, min_cluster_size=20),
        share_in_clusters,
        "share of noise − 1",
        slack=1e-3,
        bars=(Bar(SKLEARN, 0.5),),
    ),
    Case(
        "HDBSCAN iris",
        flowers,
        pair("HDBSCAN", {"copy": True}),
        share_in_clusters,
        "share of noise − 1",
        slack=0.02,
        bars=(Bar(SKLEARN, 1),),
    ),
)

STUDIES: tuple[Study, ...] = ()
