"""Naive Bayes: Gaussian columns, counts of words, bits and categories, beside scikit-learn.

A call fits the rows and predicts their labels; quality is the share of wrong labels.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study

PEER = "scikit-learn"


def clouds(rows: int, columns: int, classes: int) -> Callable[[bool], Data]:
    """Overlapping Gaussian clouds, one per class."""

    def build(quick: bool) -> Data:
        n = min(rows, 2000) if quick else rows
        random = np.random.default_rng(0)
        y = random.integers(0, classes, n)
        centres = 0.3 * random.standard_normal((classes, columns))
        return {"X": random.standard_normal((n, columns)) + centres[y], "y": y}

    return build


def iris(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return {"X": X, "y": y}


def words(rows: int, columns: int, classes: int, per_row: int) -> Callable[[bool], Data]:
    """Sparse counts: every row has words drawn from the vocabulary of its class."""

    def build(quick: bool) -> Data:
        from scipy.sparse import csr_array

        n = min(rows, 1000) if quick else rows
        random = np.random.default_rng(0)
        y = random.integers(0, classes, n)
        start = random.integers(0, columns, classes)
        drawn = random.geometric(0.0005, (n, per_row))
        places = (start[y][:, None] * (random.random((n, per_row)) < 0.3) + drawn) % columns
        entries = np.ones(n * per_row)
        of_row = np.repeat(np.arange(n), per_row)
        X = csr_array((entries, (of_row, places.ravel())), shape=(n, columns))
        X.sum_duplicates()
        return {"X": X, "y": y}

    return build


def categories(rows: int, columns: int, classes: int) -> Callable[[bool], Data]:
    """Columns of six categories whose shares depend on the class."""

    def build(quick: bool) -> Data:
        n = min(rows, 2000) if quick else rows
        random = np.random.default_rng(0)
        y = random.integers(0, classes, n)
        noise = random.integers(0, 6, (n, columns))
        own = random.integers(0, 6, (classes, columns))[y]
        return {"X": np.where(random.random((n, columns)) < 0.2, own, noise) * 1.0, "y": y}

    return build


def classify(module: str, name: str, **parameters: Any) -> Contender:
    """Fit, and predict the training rows."""

    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            X, y = data["X"], data["y"]
            return lambda: model(**parameters).fit(X, y).predict(X)

        return prepare

    return load


def one_row(module: str, name: str) -> Contender:
    """A hundred calls of predict_proba with one row each."""

    def load() -> Callable[[Data], Call]:
        kind = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            model, row = kind().fit(data["X"], data["y"]), data["X"][:1]
            return lambda: [model.predict_proba(row) for _ in range(100)]

        return prepare

    return load


def errors(data: Data, labels: Any) -> float:
    return float(np.mean(labels != data["y"]))


def nothing(data: Data, answers: Any) -> float:
    return 0.0


def both(name: str, **parameters: Any) -> dict[str, Contender]:
    return {
        OURS: classify("thetahat", name, **parameters),
        PEER: classify("sklearn.naive_bayes", name, **parameters),
    }


def case(title: str, name: str, build: Callable[[bool], Data], most: float = 1.0) -> Case:
    bars = (Bar(PEER, most),)
    return Case(title, build, both(name), errors, "share of wrong labels", bars=bars)


CASES = (
    case("GaussianNB 200k×200, 5 classes", "GaussianNB", clouds(200_000, 200, 5), 0.5),
    case("GaussianNB 50k×50, 100 classes", "GaussianNB", clouds(50_000, 50, 100)),
    case("GaussianNB iris 150×4", "GaussianNB", iris),
    case("MultinomialNB sparse 20k×50k", "MultinomialNB", words(20_000, 50_000, 20, 100)),
    case("ComplementNB sparse 20k×50k", "ComplementNB", words(20_000, 50_000, 20, 100)),
    case("BernoulliNB sparse 20k×50k", "BernoulliNB", words(20_000, 50_000, 20, 100)),
    case("BernoulliNB 100k×100, 10 classes", "BernoulliNB", clouds(100_000, 100, 10)),
    case("CategoricalNB 100k×30, 5 classes", "CategoricalNB", categories(100_000, 30, 5)),
    *(
        Case(
            f"{name}: 100 × predict_proba of one row",
            categories(150, 4, 3),
            {OURS: one_row("thetahat", name), PEER: one_row("sklearn.naive_bayes", name)},
            nothing,
            "none",
        )
        for name in ("GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB")
    ),
    Case(
        "NaiveBayes 100k×20, histograms",
        clouds(100_000, 20, 3),
        {OURS: classify("thetahat", "NaiveBayes", likelihoods="histogram")},
        errors,
        "share of wrong labels",
    ),
)

STUDIES: tuple[Study, ...] = ()
