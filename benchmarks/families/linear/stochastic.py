"""Stochastic gradient learners: seconds for the same number of epochs, beside scikit-learn.

Both take the same steps in different random orders, so the objectives they reach differ by the
noise of the last iterates. `NOISE` is how far they differ over six seeds of scikit-learn alone, the
largest over the smallest after five epochs; a result worse than that would be a worse method. On
sparse rows scikit-learn takes a hundredth of the step for the intercept, whose noise we keep: up to
0.01.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN, fit
from benchmarks.harness import OURS, Bar, Case, Contender, Data, Study

EPOCHS = 10
NOISE = {"hinge": 0.05, "logistic": 0.03, "squared": 0.005, "errors": 0.15, "sparse": 0.01}
"""Relative slack of the objectives, from the order of the rows alone."""


def rows(n: int, d: int, *, classes: int = 2) -> Callable[[bool], Data]:
    """Standardised columns; y is a noisy linear score, `labels` are equal shares of it."""

    def build(quick: bool) -> Data:
        size = (min(n, 2000), min(d, 20)) if quick else (n, d)
        random = np.random.default_rng(0)
        X = random.standard_normal(size)
        y = X @ random.standard_normal(size[1]) / size[1] ** 0.5 + 0.5 * random.standard_normal(
            size[0]
        )
        return _with_labels(X, y, classes)

    return build


def documents(n: int, d: int, words: int) -> Callable[[bool], Data]:
    """Rows like texts: `words` draws each from a vocabulary of d, frequent words first, norm 1."""

    def build(quick: bool) -> Data:
        import scipy.sparse
        from sklearn.preprocessing import normalize

        size = (2000, 500) if quick else (n, d)
        random = np.random.default_rng(0)
        columns = (size[1] * random.random((size[0], words)) ** 3).astype(np.int32)
        entries = np.ones(columns.size)
        bounds = np.arange(0, columns.size + 1, words, dtype=np.int32)
        X = scipy.sparse.csr_array((entries, columns.ravel(), bounds), shape=size)
        X.sum_duplicates()
        X = scipy.sparse.csr_array(normalize(X))
        y = 3 * (X @ random.standard_normal(size[1])) + 0.3 * random.standard_normal(size[0])
        return _with_labels(X, y, 2)

    return build


def _with_labels(X: Any, y: Any, classes: int) -> Data:
    bounds = np.quantile(y, np.arange(1, classes) / classes)
    return {"X": X, "real": y, "labels": np.searchsorted(bounds, y), "weight": None}


def of(target: str, build: Callable[[bool], Data]) -> Callable[[bool], Data]:
    """The data with one of its targets as y."""

    def chosen(quick: bool) -> Data:
        data = build(quick)
        return {**data, "y": data[target]}

    return chosen


def objective(loss: str, alpha: float = 1e-4) -> Callable[[Data, Any], float]:
    """Mean loss + α/2·‖β‖², summed over the one-against-rest problems."""

    def value(data: Data, model: Any) -> float:
        from thetahat.mathematics.losses import named

        part = named("sign_logistic" if loss == "log_loss" else loss)
        coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
        total = alpha / 2 * float(np.sum(coef * coef))
        for number, (slope, level) in enumerate(zip(coef, intercept, strict=True)):
            y = data["y"]
            if loss != "squared":
                y = np.where(y == (number if len(coef) > 1 else 1), 1.0, -1.0)
            total += float(np.mean(part.value(y, data["X"] @ slope + level)))
        return total

    return value


def error_rate(data: Data, model: Any) -> float:
    return float(np.mean(model.predict(data["X"]) != data["y"]))


def rivals(name: str, **parameters: Any) -> Mapping[str, Contender]:
    """The same class of both libraries, with the same seed."""
    options = {"max_iter": EPOCHS, "tol": None, "random_state": 0} | parameters
    return {
        OURS: fit("thetahat", name, **options),
        SKLEARN: fit("sklearn.linear_model", name, **options),
    }


DENSE = rows(200_000, 50)
TEXT = documents(100_000, 50_000, 80)
PER_EPOCH = (Bar(SKLEARN, 1.0),)

CASES = (
    Case(
        "SGDClassifier 200k×50 hinge",
        of("labels", DENSE),
        rivals("SGDClassifier"),
        objective("hinge"),
        "mean hinge loss + penalty",
        bars=PER_EPOCH,
        slack=NOISE["hinge"],
    ),
    Case(
        "SGDClassifier 200k×50 logistic",
        of("labels", DENSE),
        rivals("SGDClassifier", loss="log_loss"),
        objective("log_loss"),
        "mean logistic loss + penalty",
        bars=PER_EPOCH,
        slack=NOISE["logistic"],
    ),
    Case(
        "SGDClassifier 200k×50 averaged",
        of("labels", DENSE),
        rivals("SGDClassifier", loss="log_loss", average=True),
        objective("log_loss"),
        "mean logistic loss + penalty",
        bars=PER_EPOCH,
        slack=NOISE["logistic"],
    ),
    Case(
        "SGDRegressor 200k×50",
        of("real", DENSE),
        rivals("SGDRegressor"),
        objective("squared"),
        "mean squared loss + penalty",
        bars=PER_EPOCH,
        slack=NOISE["squared"],
    ),
    Case(
        "SGDClassifier sparse 100k×50k hinge",
        of("labels", TEXT),
        rivals("SGDClassifier"),
        objective("hinge"),
        "mean hinge loss + penalty",
        bars=PER_EPOCH,
        slack=NOISE["sparse"],
    ),
    Case(
        "SGDRegressor sparse 100k×50k",
        of("real", TEXT),
        rivals("SGDRegressor"),
        objective("squared"),
        "mean squared loss + penalty",
        bars=PER_EPOCH,
        slack=NOISE["sparse"],
    ),
    Case(
        "SGDClassifier 60k×100, 10 classes",
        of("labels", rows(60_000, 100, classes=10)),
        rivals("SGDClassifier", loss="log_loss", n_jobs=-1),
        objective("log_loss"),
        "mean logistic losses + penalty",
        bars=PER_EPOCH,
        slack=NOISE["logistic"],
    ),
    Case(
        "Perceptron 200k×50",
        of("labels", DENSE),
        rivals("Perceptron"),
        error_rate,
        "share of errors",
        bars=PER_EPOCH,
        slack=NOISE["errors"],
    ),
    Case(
        "SGDClassifier 150×4, until it stops",
        of("labels", rows(150, 4)),
        rivals("SGDClassifier", max_iter=1000, tol=1e-3, alpha=0.01, loss="log_loss"),
        objective("log_loss", 0.01),
        "mean logistic loss + penalty",
        slack=0.1,
    ),
)

STUDIES: tuple[Study, ...] = ()
