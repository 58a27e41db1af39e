"""Support vector machines beside scikit-learn, which calls LIBSVM, and scikit-learn-intelex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.kernels.kernel_features import words
from benchmarks.families.kernels.kernels import counted, labelled, smooth
from benchmarks.families.linear.linear import fit
from benchmarks.harness import Bar, Case, Data, Study
from benchmarks.peers import SKLEARN, contenders, with_intelex


def many_classes(rows: int, columns: int) -> Callable[[bool], Data]:
    """Thirty classes, each around a point of its own."""

    def build(quick: bool) -> Data:
        random = np.random.default_rng(0)
        y = np.arange(120 if quick else rows) % 30
        X = random.standard_normal((len(y), columns))
        return {"X": X + random.standard_normal((30, columns))[y], "y": y, "weight": None}

    return build


def digits(quick: bool) -> Data:
    """Ten classes of pictures."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    n = 300 if quick else len(X)
    return {"X": X[:n], "y": y[:n], "weight": None}


def dual_value(data: Data, model: Any) -> float:
    """½βᵀKβ − Σ(gain of β), from the coefficients alone; for one function only."""
    beta = np.asarray(model.dual_coef_)[0].astype(np.float64)
    f = model.decision_function if hasattr(model, "decision_function") else model.predict
    inner = f(model.support_vectors_) - model.intercept_[0]
    y = np.asarray(data["y"])[np.asarray(model.support_)].astype(np.float64)
    if hasattr(model, "classes_"):
        return float(0.5 * beta @ inner - np.abs(beta).sum())
    return float(0.5 * beta @ inner - beta @ y + model.epsilon * np.abs(beta).sum())


def training_errors(data: Data, model: Any) -> float:
    """The share of training rows that are classified wrongly."""
    return float(np.mean(model.predict(data["X"]) != data["y"]))


def _machine(name: str, **options: Any) -> dict[str, Any]:
    return contenders(lambda module: fit(module, name, **options), "sklearn.svm", name)


def _predictions(name: str) -> dict[str, Any]:
    """Predictions for all rows of a model that was fitted to 6,000 of them."""

    def contender(module: str) -> Any:
        def load() -> Any:
            from importlib import import_module

            estimator = getattr(import_module(module), name)

            def prepare(data: Data) -> Any:
                model = estimator().fit(data["X"][:6000], data["y"][:6000])
                return lambda: model.predict(data["X"])

            return prepare

        return load

    return contenders(contender, "sklearn.svm", name)


def machine(rows: int, dtype: Any = np.float64, *bars: Bar) -> Case:
    """A support vector classifier of this many rows."""
    kind = "" if dtype is np.float64 else ", float32"
    return Case(
        f"support vectors {counted(rows)} × 20{kind}",
        labelled(rows, 20, dtype),
        _machine("SVC"),
        dual_value,
        "dual objective",
        bars=with_intelex("SVC", *bars),
        slack=1e-3,
    )


def regression(rows: int, *bars: Bar, dtype: Any = np.float64) -> Case:
    """Support vector regression of this many rows."""
    kind = "" if dtype is np.float64 else ", float32"
    return Case(
        f"support vector regression {counted(rows)} × 20{kind}",
        smooth(rows, 20, dtype),
        _machine("SVR"),
        dual_value,
        "dual objective",
        bars=with_intelex("SVR", *bars),
        slack=1e-3,
    )


CASES = (
    machine(100, np.float64, Bar(SKLEARN, 1)),
    machine(1000, np.float64, Bar(SKLEARN, 1)),
    machine(1000, np.float32, Bar(SKLEARN, 1)),
    machine(10000, np.float64, Bar(SKLEARN, 1)),
    machine(10000, np.float32, Bar(SKLEARN, 1)),
    machine(15000, np.float64, Bar(SKLEARN, 1 / 3)),
    regression(100, Bar(SKLEARN, 1)),
    regression(1000, Bar(SKLEARN, 1)),
    regression(1000, Bar(SKLEARN, 1), dtype=np.float32),
    regression(10_000, Bar(SKLEARN, 1)),
    regression(15_000, Bar(SKLEARN, 1 / 4)),
    Case(
        "support vectors 300 × 10",
        labelled(300, 10),
        _machine("SVC"),
        dual_value,
        "dual objective",
        bars=(Bar(SKLEARN, 1),),
        slack=1e-3,
    ),
    Case(
        "support vectors, digits",
        digits,
        _machine("SVC"),
        training_errors,
        "errors",
        bars=(Bar(SKLEARN, 1),),
        slack=1e-3,
    ),
    *(
        Case(
            f"support vectors {counted(rows)} × {width}, 30 classes",
            many_classes(rows, width),
            _machine("SVC"),
            training_errors,
            "errors",
            bars=(Bar(SKLEARN, 1),),
            slack=1e-3,
        )
        for rows, width in ((300, 10), (1000, 20), (10_000, 20))
    ),
    Case(
        "support vectors, predict 2k × 20, 30 classes",
        many_classes(2000, 20),
        _predictions("SVC"),
        lambda data, found: float(np.mean(found != data["y"])),
        "errors",
        bars=(Bar(SKLEARN, 1),),
        slack=1e-2,
    ),
    Case(
        "support vectors, sparse words",
        words,
        _machine("SVC", kernel="linear"),
        training_errors,
        "errors",
        bars=(Bar(SKLEARN, 1),),
        slack=1e-3,
    ),
    Case(
        "support vectors, predict 12k × 20",
        labelled(12000, 20),
        _predictions("SVC"),
        lambda data, found: float(np.mean(found != data["y"])),
        "errors",
        bars=with_intelex("SVC", Bar(SKLEARN, 1 / 10)),
        slack=1e-2,
    ),
)

STUDIES: tuple[Study, ...] = ()
