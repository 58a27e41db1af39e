"""Sketches of kernels beside scikit-learn's, and single predictions by kernels and neighbours."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
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
ONE_ROW = 100e-6
"""Seconds that one prediction may take."""
SAMPLES = 400
"""Each is of few calls, so that some end before another process takes the core or its cache."""


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
        for _ in range(SAMPLES):
            began = perf_counter()
            for _ in range(5):
                model.predict(row)
            best = min(best, (perf_counter() - began) / 5)
        kept = len(model.support_) if hasattr(model, "support_") else len(data["X"])
        found.append({"model": named, "rows kept": kept, "µs": 1e6 * best})
        bars.append((f"{named}: one row in at most 100 µs", 1e6 * best, best <= ONE_ROW))
    return Finding(found, {"µs": "{:.0f}".format}, bars)


STUDIES = (Study("Predictions of one row", one_row),)
