"""Logistic regression: two classes, ten, and an L1 penalty, beside scikit-learn's solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN, fit
from benchmarks.harness import OURS, Bar, Case, Contender, Data
from benchmarks.peers import contenders, with_intelex

CHOLESKY, SAGA = "newton-cholesky", "saga"
STRENGTH = 0.01
"""C of the L1 case: a third of the columns matter, and the rest are set to zero."""


def two_classes(rows: int, columns: int, used: float = 1.0) -> Callable[[bool], Data]:
    """Labels drawn from σ(xᵀθ + b), columns of different location and scale."""

    def build(quick: bool) -> Data:
        n, d = (min(rows, 2000), min(columns, 20)) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((n, d))
        if used == 1.0:
            X *= random.uniform(0.5, 2.0, d)
            X += random.uniform(-1.0, 1.0, d)
        theta = random.standard_normal(d) * (random.random(d) < used)
        z = X @ theta * (2.0 / max(1.0, np.linalg.norm(theta))) + 0.3
        y = (random.random(n) < 1 / (1 + np.exp(-z))).astype(int)
        return {"X": X, "y": y, "weight": None}

    return build


def pixels(rows: int) -> Callable[[bool], Data]:
    """Ten classes of 784 grey values in [0, 1]: low rank, noise, many columns (nearly) always 0."""

    def build(quick: bool) -> Data:
        n, d, rank = (1500, 64, 10) if quick else (rows, 784, 40)
        random = np.random.default_rng(0)
        y = random.integers(0, 10, n)
        latent = 0.3 * random.standard_normal((10, rank))[y] + random.standard_normal((n, rank))
        X = latent @ random.standard_normal((rank, d)) / np.sqrt(rank)
        X += 0.3 * random.standard_normal((n, d))
        X = np.clip(0.3 * X, 0.0, 1.0)
        edge = random.permutation(d)[: d // 4]
        dark, dim = edge[: d // 8], edge[d // 8 :]
        X[:, dark] = 0.0
        X[:, dim] *= random.random((n, len(dim))) < 0.002
        return {"X": X, "y": y, "weight": None}

    return build


def objective(C: float = 1.0, l1_ratio: float = 0.0) -> Callable[[Data, Any], float]:
    """Mean negative log-likelihood + R/(C·n) of a fitted model."""

    def quality(data: Data, model: Any) -> float:
        z = data["X"] @ model.coef_.T + model.intercept_
        if z.shape[1] == 1:
            z = np.column_stack([np.zeros(len(z)), z[:, 0]])
        right = z[np.arange(len(z)), data["y"]]
        largest = z.max(axis=1)
        loss = largest + np.log(np.exp(z - largest[:, None]).sum(axis=1)) - right
        size = l1_ratio * np.abs(model.coef_).sum()
        size += (1 - l1_ratio) / 2 * (model.coef_**2).sum()
        return float(loss.mean() + size / (C * len(z)))

    return quality


def sklearn(**parameters: Any) -> Any:
    return fit("sklearn.linear_model", "LogisticRegression", **parameters)


def rivals() -> dict[str, Contender]:
    """The libraries that have the class, with its default settings."""
    return contenders(
        lambda module: fit(module, "LogisticRegression"),
        "sklearn.linear_model",
        "LogisticRegression",
    )


def ours(**parameters: Any) -> Any:
    return fit("thetahat", "LogisticRegression", **parameters)


CASES = (
    Case(
        "LogisticRegression 200k×200",
        two_classes(200_000, 200),
        {**rivals(), CHOLESKY: sklearn(solver=CHOLESKY)},
        objective(),
        "mean loss + penalty",
        bars=with_intelex("LogisticRegression", Bar(SKLEARN, 1 / 1.5), Bar(CHOLESKY, 1 / 4)),
    ),
    Case(
        "LogisticRegression 60k×784, 10 classes",
        pixels(60_000),
        rivals(),
        objective(),
        "mean loss + penalty",
        bars=(Bar(SKLEARN, 1 / 2),),
    ),
    Case(
        "LogisticRegression 50k×100, L1",
        two_classes(50_000, 100, used=0.3),
        {
            OURS: ours(C=STRENGTH, l1_ratio=1.0),
            SAGA: sklearn(C=STRENGTH, l1_ratio=1.0, solver=SAGA, tol=1e-4, max_iter=1000),
        },
        objective(STRENGTH, l1_ratio=1.0),
        "mean loss + penalty",
        bars=(Bar(SAGA, 1 / 3),),
    ),
    Case(
        "LogisticRegression 500×10",
        two_classes(500, 10),
        rivals(),
        objective(),
        "mean loss + penalty",
    ),
)

STUDIES = ()
