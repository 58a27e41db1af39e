"""Gaussian mixtures: the same start and number of iterations, and whole fits of small tables.

Quality is the mean −log p(x) of the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn GaussianMixture"
BAYES_PEER = "scikit-learn BayesianGaussianMixture"


def heaps(rows: int, columns: int, count: int) -> Callable[[bool], Data]:
    """Heaps that overlap, each stretched along its own directions."""

    def build(quick: bool) -> Data:
        n = 1500 if quick else rows
        random = np.random.default_rng(0)
        centres = 3.0 * random.standard_normal((count, columns))
        shapes = 0.5 * random.standard_normal((count, columns, columns))
        kind = random.integers(0, count, n)
        noise = random.standard_normal((n, columns))
        return {"X": centres[kind] + np.einsum("nj,njk->nk", noise, shapes[kind])}

    return build


def iris(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    return {"X": load_iris().data}


def unit_precisions(kind: str, k: int, d: int) -> Any:
    return {
        "full": np.tile(np.eye(d), (k, 1, 1)),
        "tied": np.eye(d),
        "diag": np.ones((k, d)),
        "spherical": np.ones(k),
    }[kind]


def iterate(module: str, kind: str, k: int, iterations: int) -> Contender:
    """Iterations from the first rows as means, with unit covariances and equal weights."""

    def load() -> Callable[[Data], Call]:
        model = import_module(module).GaussianMixture

        def prepare(data: Data) -> Call:
            X = data["X"]
            mixture = model(
                k,
                covariance_type=kind,
                tol=0.0,
                max_iter=iterations,
                weights_init=np.full(k, 1 / k),
                means_init=X[:k],
                precisions_init=unit_precisions(kind, k, X.shape[1]),
            )

            def call() -> Any:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return mixture.fit(X)

            return call

        return prepare

    return load


def fit(module: str, name: str = "GaussianMixture", **parameters: Any) -> Contender:
    """A whole fit, with its start."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            return lambda: model(random_state=0, **parameters).fit(data["X"])

        return prepare

    return load


def surprise(data: Data, model: Any) -> float:
    return -float(model.lower_bound_)


def same_steps(kind: str) -> Case:
    return Case(
        f"GaussianMixture {kind} 100k×20, k=10, 20 iterations",
        heaps(100_000, 20, 10),
        {
            OURS: iterate("thetahat", kind, 10, 20),
            PEER: iterate("sklearn.mixture", kind, 10, 20),
        },
        surprise,
        "mean −log p of the rows",
        bars=(Bar(PEER, 1 / 4 if kind == "full" else 1.0),),
        slack=1e-8,
    )


def with_priors(name: str, build: Callable[[bool], Data], kind: str, k: int, bar: float) -> Case:
    """Quality is that of the mixture with the expected parameters, equal up to the start."""
    settings: dict[str, Any] = dict(
        name="BayesianGaussianMixture", n_components=k, covariance_type=kind, max_iter=500
    )
    return Case(
        f"BayesianGaussianMixture {kind}, {name}, k={k}",
        build,
        {
            OURS: fit("thetahat", **settings),
            BAYES_PEER: fit("sklearn.mixture", **settings),
        },
        expected_surprise,
        "mean −log p of the rows",
        bars=(Bar(BAYES_PEER, bar),),
        slack=0.05,
    )


def expected_surprise(data: Data, model: Any) -> float:
    """Mean −log p(x) at the expected parameters."""
    from sklearn.mixture import GaussianMixture

    plain = GaussianMixture(len(model.weights_), covariance_type=model.covariance_type)
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
        setattr(plain, name, getattr(model, name))
    return -float(plain.score(data["X"]))


CASES = (
    *(
        with_priors("20k×10", heaps(20_000, 10, 5), kind, 8, 1 / 2)
        for kind in ("full", "tied", "diag", "spherical")
    ),
    *(with_priors("iris", iris, kind, 3, 1.0) for kind in ("full", "diag")),
    *(same_steps(kind) for kind in ("full", "tied", "diag", "spherical")),
    Case(
        "GaussianMixture full, iris, k=3",
        iris,
        {
            OURS: fit("thetahat", n_components=3),
            PEER: fit("sklearn.mixture", n_components=3),
        },
        surprise,
        "mean −log p of the rows",
        bars=(Bar(PEER, 1.0),),
        slack=1e-3,
    ),
)

STUDIES: tuple[Study, ...] = ()
