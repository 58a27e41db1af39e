"""Kernel models of a number for many rows, beside exact models of fewer rows."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.families.kernels.kernels import labelled, smooth
from benchmarks.harness import Case, Finding, Judged, Study

EXACT_ROWS, MANY_ROWS = 20_000, 500_000
LEVEL = 0.9


def _errors(loss: str, y: Any, predicted: Any) -> float:
    """The share of wrong classes, the root mean squared error, or the mean quantile loss."""
    if loss in ("logistic", "hinge"):
        return float(np.mean(predicted != y))
    if loss == "squared":
        return float(np.sqrt(np.mean((predicted - y) ** 2)))
    return float(np.mean(np.maximum(LEVEL * (y - predicted), (1 - LEVEL) * (predicted - y))))


def many_rows(losses: tuple[str, ...]) -> Study:
    """The usual centres for many rows beside the exact model of fewer rows, on new rows."""
    return Study(
        f"Kernel models of 500,000 rows beside exact ones of 20,000: {' and '.join(losses)} loss",
        lambda quick, say: _compared(losses, quick, say),
    )


def _compared(losses: tuple[str, ...], quick: bool, say: Callable[[str], None]) -> Finding:
    import thetahat as th

    few, many = (300, 600) if quick else (EXACT_ROWS, MANY_ROWS)
    found, bars = [], list[Judged]()
    for loss in losses:
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


CASES: tuple[Case, ...] = ()

STUDIES = (many_rows(("squared", "quantile")),)
