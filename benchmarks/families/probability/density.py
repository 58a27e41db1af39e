"""Densities: trees and forests of them, beside kernel density estimates, and these themselves.

A call fits the rows (100,000 for trees) and asks for the densities of new ones, or of the same
rows; quality is the mean surprise −log p(x) of those.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Call, Case, Contender, Data, Study


def heaps(rows: int, columns: int) -> Callable[[bool], Data]:
    """Eight heaps, each stretched along its own directions."""

    def build(quick: bool) -> Data:
        n, new = (1500, 200) if quick else (rows, 1000)
        random = np.random.default_rng(0)
        centres = 2.5 * random.standard_normal((8, columns))
        shapes = 0.5 * random.standard_normal((8, columns, columns))
        kind = random.integers(0, 8, n + new)
        noise = random.standard_normal((n + new, columns))
        X = centres[kind] + np.einsum("nj,njk->nk", noise, shapes[kind])
        return {"X": X[:n], "new": X[n:]}

    return build


def describe(module: str, name: str, **parameters: Any) -> Contender:
    """Fit a density and say how likely new rows are."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            return lambda: model(**parameters).fit(data["X"]).score_samples(data["new"])

        return prepare

    return load


def surprise(data: Data, logs: Any) -> float:
    return -float(np.mean(logs))


KERNEL = "scikit-learn KernelDensity"
OPEN_GAUSSIAN = {"criterion": "entropy", "leaf": "gaussian", "margin": float("inf")}


def plane(n: int) -> Callable[[bool], Data]:
    """Normal rows in two columns, at which the density is asked for as well."""

    def build(quick: bool) -> Data:
        rows = np.random.default_rng(0).standard_normal((1500 if quick else n, 2))
        return {"X": rows, "new": rows}

    return build


def iris(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    rows = load_iris().data
    return {"X": rows, "new": rows}


def by_kernel(**parameters: Any) -> dict[str, Contender]:
    """The same kernel density here and in scikit-learn."""
    return {
        OURS: describe("thetahat", "KernelDensity", **parameters),
        KERNEL: describe("sklearn.neighbors", "KernelDensity", **parameters),
    }


CASES = (
    Case(
        "KernelDensity 20k×2, rtol 1e-4",
        plane(20_000),
        by_kernel(bandwidth="scott", rtol=1e-4),
        surprise,
        "mean −log p of the rows",
        slack=1e-4,  # what each has been allowed
    ),
    Case(
        "KernelDensity 20k×2, Epanechnikov, rtol 1e-4",
        plane(20_000),
        by_kernel(bandwidth="scott", kernel="epanechnikov", rtol=1e-4),
        surprise,
        "mean −log p of the rows",
        slack=1e-4,  # what each has been allowed
    ),
    Case(
        "KernelDensity 150×4",
        iris,
        by_kernel(bandwidth=0.4),
        surprise,
        "mean −log p of the rows",
    ),
    Case(
        "DensityForest 100k×5, 50 trees",
        heaps(100_000, 5),
        {
            OURS: describe("thetahat", "DensityForest", n_estimators=50, random_state=0),
            f"{KERNEL}, Scott": describe("sklearn.neighbors", "KernelDensity", bandwidth="scott"),
            f"{KERNEL}, 0.25": describe("sklearn.neighbors", "KernelDensity", bandwidth=0.25),
        },
        surprise,
        "mean −log p of new rows",
    ),
    Case(
        "DensityTree 100k×5, Gaussian leaves",
        heaps(100_000, 5),
        {OURS: describe("thetahat", "DensityTree", **OPEN_GAUSSIAN)},
        surprise,
        "mean −log p of new rows",
    ),
    Case(
        "DensityTree 100k×5, uniform leaves",
        heaps(100_000, 5),
        {OURS: describe("thetahat", "DensityTree", criterion="uniformity", margin=0.2, tau=10)},
        surprise,
        "mean −log p of new rows",
    ),
)

STUDIES: tuple[Study, ...] = ()
