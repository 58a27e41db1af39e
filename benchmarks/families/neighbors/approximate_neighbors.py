"""Approximate neighbours beside hnswlib. A call fits and searches.

Quality is the share of true neighbours that is missing beyond 5%.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.neighbors.neighbors import CHECKED, K, rows, search
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

HNSW = "hnswlib"


def mixture(n: int, d: int, queries: int) -> Callable[[bool], Data]:
    """float32 rows around 200 centres that overlap, as embeddings do."""

    def build(quick: bool) -> Data:
        count, asked = (2000, 300) if quick else (n, queries)
        random = np.random.default_rng(0)
        centres = random.standard_normal((200, d))
        X = centres[random.integers(0, 200, count + asked)] + random.standard_normal(
            (count + asked, d)
        )
        return {"X": X[:count].astype("float32"), "new": X[count:].astype("float32")}

    return build


def hnsw(width: int) -> Contender:
    """Its defaults for links, and the width of the search that reaches the recall."""

    def load() -> Callable[[Data], Call]:
        import hnswlib

        def prepare(data: Data) -> Call:
            def call() -> Any:
                X = data["X"]
                index = hnswlib.Index("l2", X.shape[1])
                index.init_index(len(X), M=16, ef_construction=100, random_seed=1)
                index.add_items(X)
                index.set_ef(width)
                return np.sqrt(index.knn_query(data["new"], K)[1])

            return call

        return prepare

    return load


def missing(data: Data, distance: Any) -> float:
    """The share of the true neighbours that were not found, beyond 5%."""
    X, new = data["X"], data["new"][: 10 * CHECKED]
    found = 0
    for query, near in zip(new.astype(float), distance, strict=False):
        far = np.partition(((X - query) ** 2).sum(axis=1), K - 1)[K - 1]
        found += int((np.asarray(near) ** 2 <= far * (1 + 1e-5)).sum())
    return max(0.0, 0.95 - found / (K * len(new)))


CASES = (
    Case(
        "approximate 200k×64 float32, mixture, 10k queries",
        mixture(200_000, 64, 10_000),
        {OURS: search(OURS, algorithm="approximate"), HNSW: hnsw(100)},
        missing,
        "neighbours missing beyond 5%",
        bars=(Bar(HNSW, 1.0),),
        slack=0.01,
    ),
    Case(
        "approximate 100k×64 float32, one Gaussian, 1k queries",
        rows(100_000, 64, 1000, dtype="float32", kind="normal"),
        {OURS: search(OURS, algorithm="approximate"), HNSW: hnsw(1000)},
        missing,
        "neighbours missing beyond 5%",
        slack=0.01,
    ),
)

STUDIES: tuple[Study, ...] = ()
