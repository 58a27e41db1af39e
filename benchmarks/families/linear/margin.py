"""Linear support vector machines: speed beside LIBLINEAR, which scikit-learn calls.

The quality is scikit-learn's own: the penalty of coefficients and bias, and C times the losses.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import GRAM
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

LIBLINEAR = "scikit-learn (LIBLINEAR)"


def two_clouds(rows: int, columns: int, classes: int = 2) -> Callable[[bool], Data]:
    """Labels by the quantiles of a noisy linear score, so that no plane separates them."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 2000), min(columns, 20)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        score = X @ random.standard_normal(d) / d**0.5 + 0.5 * random.standard_normal(n)
        cuts = np.quantile(score, np.arange(1, classes) / classes)
        return {"X": X, "y": np.searchsorted(cuts, score), "target": score}

    return build


def words(rows: int, columns: int) -> Callable[[bool], Data]:
    """Sparse rows of unit length, as of texts: few of many words, frequent ones first."""

    def build(quick: bool) -> Data:
        import scipy.sparse

        n, d = (500, 1000) if quick else (rows, columns)
        random = np.random.default_rng(0)
        per_row = 60
        columns_of = np.minimum(random.pareto(0.7, (n, per_row)) * 20, d - 1).astype(np.int32)
        X = scipy.sparse.csr_array(
            (
                random.random(n * per_row),
                columns_of.ravel(),
                np.arange(n + 1, dtype=np.int32) * per_row,
            ),
            (n, d),
        )
        X.sum_duplicates()
        X = scipy.sparse.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
        score = X @ random.standard_normal(d) + 0.3 * random.standard_normal(n)
        return {"X": X, "y": (score > np.median(score)).astype(int), "target": score}

    return build


def fit(module: str, name: str, target: str = "y", **parameters: Any) -> Contender:
    def load() -> Callable[[Data], Call]:
        estimator = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            def call() -> Any:
                with warnings.catch_warnings():
                    # A peer that does not converge is judged by the objective it reached.
                    warnings.simplefilter("ignore")
                    return estimator(**parameters).fit(data["X"], data[target])

            return call

        return prepare

    return load


def rivals(name: str, target: str = "y", **parameters: Any) -> dict[str, Contender]:
    return {
        OURS: fit("thetahat", name, target, **parameters),
        LIBLINEAR: fit("sklearn.svm", name, target, **parameters),
    }


def size_of(result: Any, norm: str = "l2") -> float:
    theta = np.append(np.ravel(result.coef_), np.ravel(result.intercept_))
    return float(np.abs(theta).sum() if norm == "l1" else theta @ theta / 2)


def hinge_objective(power: int, norm: str = "l2") -> Callable[[Data, Any], float]:
    def quality(data: Data, result: Any) -> float:
        z = data["X"] @ result.coef_.T + result.intercept_
        codes = np.arange(z.shape[1]) if z.shape[1] > 1 else np.array([1])
        signs = np.where(data["y"][:, None] == codes, 1.0, -1.0)
        return size_of(result, norm) + float(np.sum(np.maximum(0.0, 1 - signs * z) ** power))

    return quality


def crammer_singer_objective(data: Data, result: Any, cost: float = 0.1) -> float:
    z, rows = data["X"] @ result.coef_.T + result.intercept_, np.arange(len(data["y"]))
    behind = 1 + z - z[rows, data["y"]][:, None]
    behind[rows, data["y"]] = 0.0
    return size_of(result) + cost * float(np.sum(behind.max(axis=1)))


def tube_objective(data: Data, result: Any) -> float:
    residual = np.abs(data["target"] - data["X"] @ result.coef_ - result.intercept_)
    return size_of(result) + float(np.sum(np.maximum(0.0, residual - 0.1)))


OBJECTIVE = "½‖θ‖² + C·Σ losses"

CASES = (
    Case(
        "LinearSVC 50k×200",
        two_clouds(50_000, 200),
        rivals("LinearSVC"),
        hinge_objective(2),
        OBJECTIVE,
        GRAM,
        "X.T @ X",
        (Bar(LIBLINEAR, 1 / 1.5),),
    ),
    Case(
        "LinearSVC hinge 20k×50",
        two_clouds(20_000, 50),
        rivals("LinearSVC", loss="hinge"),
        hinge_objective(1),
        OBJECTIVE,
        bars=(Bar(LIBLINEAR, 1 / 1.5),),
    ),
    Case(
        "LinearSVC 20k×100, 5 classes",
        two_clouds(20_000, 100, classes=5),
        rivals("LinearSVC"),
        hinge_objective(2),
        OBJECTIVE,
    ),
    Case(
        "LinearSVC Crammer-Singer 5k×20, 4 classes",
        two_clouds(5000, 20, classes=4),
        rivals("LinearSVC", multi_class="crammer_singer", C=0.1),
        crammer_singer_objective,
        OBJECTIVE.replace("C", "0.1"),
        slack=1e-4,
    ),
    Case(
        "LinearSVC sparse 20k×50k",
        words(20_000, 50_000),
        rivals("LinearSVC"),
        hinge_objective(2),
        OBJECTIVE,
        slack=1e-5,
    ),
    Case(
        "LinearSVC hinge sparse 20k×50k",
        words(20_000, 50_000),
        rivals("LinearSVC", loss="hinge"),
        hinge_objective(1),
        OBJECTIVE,
        slack=1e-5,
    ),
    Case(
        "LinearSVR 20k×50, ε = 0.1",
        two_clouds(20_000, 50),
        rivals("LinearSVR", "target", epsilon=0.1),
        tube_objective,
        OBJECTIVE,
    ),
)

STUDIES: tuple[Study, ...] = ()
