"""Sketches of kernels beside scikit-learn's, kernel models of many rows, and single predictions."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.families.kernels.kernels import labelled, smooth
from benchmarks.harness import OURS, Bar, Case, Data, Finding, Judged, Study
from benchmarks.peers import SKLEARN


def words(quick: bool) -> Data:
    """Sparse rows, as of counted words, of two classes."""
    import scipy.sparse

    n = 200 if quick else 3000
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((n, 10000), density=0.008, format="csr", rng=random)
    y = (X @ random.standard_normal(10000) > 0).astype(np.int64)
    return {"X": X, "y": y, "weight": None}


def sketches() -> dict[str, Any]:
    """Random features of a polynomial kernel."""
    options = {"degree": 3, "coef0": 1.0, "n_components": 500, "random_state": 0}
    return {
        OURS: transformed("thetahat", "PolynomialCountSketch", **options),
        SKLEARN: transformed("sklearn.kernel_approximation", "PolynomialCountSketch", **options),
    }


def transformed(module: str, name: str, **options: Any) -> Any:
    """Fit a transformer, and transform the rows."""

    def load() -> Any:
        from importlib import import_module

        estimator = getattr(import_module(module), name)
        return lambda data: lambda: estimator(**options).fit_transform(data["X"])

    return load


def sketch_error(data: Data, features: Any) -> float:
    """The mean error of the kernel of some rows, beyond 10% of its mean diagonal."""
    some = data["X"][:100]
    some = np.asarray(some.todense() if hasattr(some, "todense") else some, dtype=np.float64)
    K, found = (some @ some.T + 1.0) ** 3, np.asarray(features[:100], dtype=np.float64)
    return max(0.1, float(np.abs(found @ found.T - K).mean() / K.diagonal().mean()))


CASES = (
    *(
        Case(
            f"polynomial sketches, {named}",
            rows,
            sketches(),
            sketch_error,
            "error beyond 10%",
            bars=(Bar(SKLEARN, 1),),
            slack=0.2,
        )
        for named, rows in (
            ("100 × 20", smooth(100, 20)),
            ("10k × 20", smooth(10_000, 20)),
            ("10k × 20, float32", smooth(10_000, 20, np.float32)),
            ("sparse words", words),
        )
    ),
)
EXACT_ROWS, MANY_ROWS = 20_000, 500_000
LEVEL = 0.9


def _errors(loss: str, y: Any, predicted: Any) -> float:
    """The share of wrong classes, the root mean squared error, or the mean quantile loss."""
    if loss in ("logistic", "hinge"):
        return float(np.mean(predicted != y))
    if loss == "squared":
        return float(np.sqrt(np.mean((predicted - y) ** 2)))
    return float(np.mean(np.maximum(LEVEL * (y - predicted), (1 - LEVEL) * (predicted - y))))


def many_rows(quick: bool, say: Callable[[str], None]) -> Finding:
    """The usual centres for many rows beside the exact model of fewer rows, on new rows."""
    import thetahat as th

    few, many = (300, 600) if quick else (EXACT_ROWS, MANY_ROWS)
    found, bars = [], list[Judged]()
    for loss in ("squared", "logistic", "hinge", "quantile"):
        data = (labelled if loss in ("logistic", "hinge") else smooth)(many + 20_000, 20)(False)
        X, y = data["X"], data["y"]
        part = th.losses.Quantile(LEVEL) if loss == "quantile" else loss
        options: dict[str, Any] = {"alpha": 1e-4, "tol": 1e-4, "random_state": 0}
        measured = {}
        for name, n, components in (
            ("exact", few, None),
            ("Nyström", many, 50 if quick else "auto"),
        ):
            say(f"{loss} loss, {name} model of {n} rows")
            model = th.KernelModel(part, n_components=components, **options)
            wall, cpu = perf_counter(), process_time()
            model.fit(X[:n], y[:n])
            wall, cpu = perf_counter() - wall, process_time() - cpu
            error = _errors(loss, y[many:], model.predict(X[many:]))
            measured[name] = (wall, error)
            found.append({"loss": loss, "model": name, "rows": n, "centres": len(model.support_),
                          "seconds": wall, "CPU seconds": cpu, "error": error})  # fmt: skip
        seconds, ratio = measured["Nyström"][0], measured["Nyström"][1] / measured["exact"][1]
        bars.append((f"{loss}: {many} rows in at most 120 s", seconds, seconds <= 120))
        bars.append((f"{loss}: at most 1.1 times the exact error", ratio, ratio <= 1.1))
    show = {"seconds": "{:.1f}".format, "CPU seconds": "{:.1f}".format, "error": "{:.4g}".format}
    return Finding(found, show, bars)


ONE_ROW = 100e-6
"""Seconds that one prediction may take."""


def one_row(quick: bool, say: Callable[[str], None]) -> Finding:
    """Predictions of a single row by models of many training rows."""
    import thetahat as th

    neighbours = labelled(2000 if quick else 100_000, 10)(False)
    support = labelled(500 if quick else 4500, 20)(False)
    found, bars = [], list[Judged]()
    for named, model, data in (
        ("KNeighborsClassifier, 100k × 10", th.KNeighborsClassifier(), neighbours),
        ("SVC, 2,000 support vectors × 20", th.SVC(), support),
    ):
        say(named)
        model.fit(data["X"], data["y"])
        row, best = data["X"][:1], np.inf
        for _ in range(20):
            began = perf_counter()
            for _ in range(50):
                model.predict(row)
            best = min(best, (perf_counter() - began) / 50)
        kept = len(model.support_) if hasattr(model, "support_") else len(data["X"])
        found.append({"model": named, "rows kept": kept, "µs": 1e6 * best})
        bars.append((f"{named}: one row in at most 100 µs", 1e6 * best, best <= ONE_ROW))
    return Finding(found, {"µs": "{:.0f}".format}, bars)


STUDIES = (
    Study("Predictions of one row", one_row),
    Study("Kernel models of 500,000 rows beside exact ones of 20,000", many_rows),
)
