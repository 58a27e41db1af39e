"""Isomap and locally linear embedding of rolled sheets and iris, beside scikit-learn.

Quality is the reconstruction error of the embedding that was found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

SKLEARN = "scikit-learn"


def roll(rows: int) -> Callable[[bool], Data]:
    def build(quick: bool) -> Data:
        from sklearn.datasets import make_swiss_roll

        return {"X": make_swiss_roll(400 if quick else rows, random_state=0)[0]}

    return build


def iris(quick: bool) -> Data:
    """Slightly moved, because ties between neighbours are decided differently."""
    from sklearn.datasets import load_iris

    X = load_iris().data
    return {"X": X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)}


def fits(module: str, name: str, **parameters: Any) -> Contender:
    """Fit the rows; the model is the answer."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            def call() -> Any:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of graphs that are not connected
                    return model(**parameters).fit(data["X"])

            return call

        return prepare

    return load


def error(data: Data, model: Any) -> float:
    found = getattr(model, "reconstruction_error_", None)
    return float(model.reconstruction_error() if found is None else found)


def case(
    title: str, build: Callable[[bool], Data], name: str, faster: float, **options: Any
) -> Case:
    return Case(
        title,
        build,
        {
            OURS: fits("thetahat", name, **options),
            SKLEARN: fits("sklearn.manifold", name, **options),
        },
        error,
        "reconstruction error",
        slack=1e-3,
        bars=(Bar(SKLEARN, 1 / faster),),
    )


LLE = "LocallyLinearEmbedding"
CASES = (
    case("Isomap, roll of 3,000 rows", roll(3000), "Isomap", 2.0, n_neighbors=10),
    case("Isomap, iris", iris, "Isomap", 1.0, n_neighbors=10),
    *(
        case(f"{LLE} {method}, {title}", build, LLE, faster, method=method, n_neighbors=k)
        for method in ("standard", "modified", "ltsa")
        for title, build, faster, k in (
            ("roll of 3,000 rows", roll(3000), 1.5, 12),
            ("iris", iris, 1.0, 30),  # with fewer, some row is the neighbour of no other row
        )
    ),
)

STUDIES: tuple[Study, ...] = ()
