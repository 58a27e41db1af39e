"""Small, sparse, wide and many-class problems of linear classifiers, beside scikit-learn.

Each case has the same parameters in both libraries. Its quality is the objective: for support
vector machines with the penalised intercept of LIBLINEAR, for logistic regression without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.logistic import objective
from benchmarks.families.linear.margin import (
    crammer_singer_objective,
    fit,
    hinge_objective,
    size_of,
)
from benchmarks.harness import Bar, Case, Data
from benchmarks.peers import SKLEARN, contenders, with_intelex

L1 = {"l1_ratio": 1.0, "solver": "liblinear"}


def classes(
    rows: int, columns: int, n_classes: int = 2, density: float = 1.0, dtype: Any = np.float64
) -> Callable[[bool], Data]:
    """Labels by the largest of noisy linear scores, in which three columns of ten count."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 300), min(columns, 50)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X: Any = (
            random.standard_normal((n, d)) if density == 1.0 else _sparse(random, n, d, density)
        )
        theta = random.standard_normal((d, n_classes)) * (random.random((d, 1)) < 0.3)
        z = X @ theta
        z = 2 * z / max(z.std(), 1e-9) + random.gumbel(size=(n, n_classes))
        y = z.argmax(axis=1)
        y[:n_classes] = np.arange(n_classes)
        return {"X": X.astype(dtype), "y": y, "target": z[:, 0]}

    return build


def _sparse(random: np.random.Generator, n: int, d: int, density: float) -> Any:
    import scipy.sparse

    places = np.unique(random.integers(0, n * d, int(n * d * density)))
    entries = random.standard_normal(len(places))
    # LIBLINEAR takes indices of 32 bits only.
    row, column = (index.astype(np.int32) for index in np.divmod(places, d))
    return scipy.sparse.csr_array((entries, (row, column)), shape=(n, d))


def letters(rows: int) -> Callable[[bool], Data]:
    """Twenty-six classes of sixteen correlated whole numbers from 0 to 15."""

    def build(quick: bool) -> Data:
        n = min(rows, 1000) if quick else rows
        random = np.random.default_rng(0)
        centres, y = random.uniform(2, 12, (26, 16)), random.integers(0, 26, n)
        mix = 0.5 * random.standard_normal((16, 16)) + np.eye(16)
        noise = random.standard_normal((n, 16)) @ mix
        X = np.clip(np.round(centres[y] / 2 + 3 + noise), 0, 15)
        return {"X": X, "y": y}

    return build


def iris(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return {"X": X, "y": y}


def tube_objective(power: int) -> Callable[[Data, Any], float]:
    def quality(data: Data, result: Any) -> float:
        residual = np.abs(data["target"] - data["X"] @ result.coef_ - result.intercept_)
        return size_of(result) + float(np.sum(residual**power))

    return quality


def _case(
    name: str,
    data: Callable[[bool], Data],
    estimator: str,
    quality: Callable[[Data, Any], float],
    target: str = "y",
    **parameters: Any,
) -> Case:
    theirs = "sklearn.linear_model" if estimator == "LogisticRegression" else "sklearn.svm"
    # scikit-learn's coefficients are float32 where X is, so their last digits are rounding.
    slack = 1e-6 if "float32" in name else 1e-9
    return Case(
        f"{estimator} {name}",
        data,
        contenders(lambda module: fit(module, estimator, target, **parameters), theirs, estimator),
        quality,
        "objective",
        bars=with_intelex(estimator, Bar(SKLEARN, 1.0)),
        slack=slack,
    )


def _logistic() -> list[Case]:
    made = []
    for name, rows, columns, density in (
        ("20000×5000 at 1%", 20_000, 5000, 0.01),
        ("2000×500 at 1%", 2000, 500, 0.01),
        ("1000×10000 at 1%", 1000, 10_000, 0.01),
        ("100×20", 100, 20, 1.0),
        ("1000×20", 1000, 20, 1.0),
        ("10000×20", 10_000, 20, 1.0),
        ("100×1000", 100, 1000, 1.0),
    ):
        data = classes(rows, columns, density=density)
        made.append(_case(f"L1 {name}", data, "LogisticRegression", objective(l1_ratio=1.0), **L1))
        made.append(_case(f"L2 {name}", data, "LogisticRegression", objective()))
    single = classes(1000, 20, dtype=np.float32)
    made.append(
        _case("L1 1000×20 float32", single, "LogisticRegression", objective(l1_ratio=1.0), **L1)
    )
    for name, data in (
        ("letters 15000×16, 26 classes", letters(15_000)),
        ("15000×16, 26 classes", classes(15_000, 16, 26)),
        ("3750×40, 3 classes", classes(3750, 40, 3)),
        ("iris", iris),
        ("100×20, 3 classes", classes(100, 20, 3)),
        ("1000×20, 30 classes", classes(1000, 20, 30)),
        ("10000×20, 3 classes", classes(10_000, 20, 3)),
        ("2000×500 at 1%, 3 classes", classes(2000, 500, 3, 0.01)),
        ("100×1000, 3 classes", classes(100, 1000, 3)),
        ("3750×40, 3 classes float32", classes(3750, 40, 3, dtype=np.float32)),
        ("1000×20, 30 classes float32", classes(1000, 20, 30, dtype=np.float32)),
    ):
        made.append(_case(name, data, "LogisticRegression", objective()))
    return made


def support_vectors() -> list[Case]:
    made = []
    sizes = (
        ("100×20", classes(100, 20)),
        ("1000×20", classes(1000, 20)),
        ("10000×20", classes(10_000, 20)),
        ("100×1000", classes(100, 1000)),
        ("2000×500 at 1%", classes(2000, 500, density=0.01)),
        ("20000×5000 at 1%", classes(20_000, 5000, density=0.01)),
        ("1000×20, 30 classes", classes(1000, 20, 30)),
        ("1000×20 float32", classes(1000, 20, dtype=np.float32)),
    )
    kinds: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("hinge", hinge_objective(1), {"loss": "hinge"}),
        ("squared hinge", hinge_objective(2), {}),
        ("L1", hinge_objective(2, "l1"), {"penalty": "l1", "dual": False}),
    )
    for kind, quality, parameters in kinds:
        for name, data in sizes:
            if kind == "hinge" and name.startswith("20000"):
                continue  # neither library converges within its limit of passes
            made.append(_case(f"{kind} {name}", data, "LinearSVC", quality, **parameters))
    for name, data in sizes[:6]:
        if not name.startswith("20000"):
            made.append(_case(name, data, "LinearSVR", tube_objective(1), "target"))
        squared = {"loss": "squared_epsilon_insensitive"}
        quality = tube_objective(2)
        made.append(_case(f"squared {name}", data, "LinearSVR", quality, "target", **squared))
    for name, data in (
        ("100×20, 3 classes", classes(100, 20, 3)),
        ("1000×20, 3 classes", classes(1000, 20, 3)),
        ("2000×500 at 1%, 3 classes", classes(2000, 500, 3, 0.01)),
    ):
        joint = {"multi_class": "crammer_singer", "C": 0.1}
        quality = crammer_singer_objective
        made.append(_case(f"Crammer-Singer {name}", data, "LinearSVC", quality, **joint))
    return made


CASES = tuple(_logistic())

STUDIES = ()
