"""Principal components and truncated singular values: tall, wide, square and sparse rows.

Quality is the share of the variance that the components leave unexplained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import GRAM
from benchmarks.families.unsupervised.factors import iris
from benchmarks.families.unsupervised.spectral import fit
from benchmarks.harness import Bar, Case, Data, Study
from benchmarks.peers import SKLEARN, contenders, with_intelex


def noisy(rows: int, columns: int) -> Callable[[bool], Data]:
    """Rows in a subspace of eight dimensions, with noise."""

    def build(quick: bool) -> Data:
        n, random = min(rows, 300) if quick else rows, np.random.default_rng(0)
        plane = random.standard_normal((n, 8)) @ random.standard_normal((8, columns))
        return {"X": 2 * plane + random.standard_normal((n, columns))}

    return build


def sparse_rows(quick: bool) -> Data:
    import scipy.sparse as sp

    return {"X": sp.random(500 if quick else 20_000, 1000, 0.01, format="csr", random_state=0)}


def unexplained(data: Data, model: Any) -> float:
    return 1.0 - float(model.explained_variance_ratio_.sum())


def components(
    name: str, build: Callable[[bool], Data], kind: str = "PCA", count: int = 10, **settings: Any
) -> Case:
    return Case(
        f"{kind} {name}, k={count}",
        build,
        contenders(
            lambda module: fit(module, kind, count, **settings), "sklearn.decomposition", kind
        ),
        unexplained,
        "share of the variance not explained",
        bars=with_intelex(kind, Bar(SKLEARN, 1.0)),
        slack=1e-3,
    )


def beside_gram(case: Case) -> Case:
    """Tall rows, whose products of columns no solver can avoid."""
    return replace(case, limits=GRAM, limit_name="X.T @ X", bars=(*case.bars, Bar("limit", 1.5)))


CASES = (
    beside_gram(components("tall 100k×50", noisy(100_000, 50))),
    beside_gram(components("tall 200k×200", noisy(200_000, 200))),
    components("tall 5k×50, full", noisy(5000, 50), svd_solver="full"),
    components("wide 200×2000", noisy(200, 2000)),
    components("wide 200×2000, randomized", noisy(200, 2000), svd_solver="randomized"),
    components("square 600×600", noisy(600, 600)),
    components("2000×1500, randomized", noisy(2000, 1500), svd_solver="randomized"),
    components("sparse 20k×1000", sparse_rows),
    components("sparse 20k×1000, ARPACK", sparse_rows, svd_solver="arpack"),
    components("iris", iris, count=2),
    components("sparse 20k×1000", sparse_rows, "TruncatedSVD"),
    components("sparse 20k×1000, ARPACK", sparse_rows, "TruncatedSVD", algorithm="arpack"),
    components("dense 5k×300", noisy(5000, 300), "TruncatedSVD"),
)

STUDIES: tuple[Study, ...] = ()
