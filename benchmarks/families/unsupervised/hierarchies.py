"""Hierarchies of clusters beside fastcluster and scikit-learn, and their memory on many rows.

Quality is the sum of the heights of all merges, which is the same for the same merges.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import (
    OURS,
    Bar,
    Call,
    Case,
    Contender,
    Data,
    Finding,
    Judged,
    Study,
)
from benchmarks.memory import peak_of
from benchmarks.peers import SKLEARN

FASTCLUSTER = "fastcluster"
MOST_BYTES = 2 << 30


def cloud(n: int, d: int) -> Callable[[bool], Data]:
    def build(quick: bool) -> Data:
        rows = min(n, 300) if quick else n
        return {"X": np.random.default_rng(0).standard_normal((rows, d))}

    return build


def fits(module: str, linkage: str) -> Contender:
    """All merges, by a model."""

    def load() -> Callable[[Data], Call]:
        kind = import_module(module).AgglomerativeClustering

        def prepare(data: Data) -> Call:
            model = kind(2, linkage=linkage, compute_distances=True)
            return lambda: model.fit(data["X"]).distances_

        return prepare

    return load


def merges(linkage: str) -> Contender:
    """All merges by fastcluster, from the rows where it can."""

    def load() -> Callable[[Data], Call]:
        name = "linkage_vector" if linkage in ("single", "ward") else "linkage"
        merge = getattr(import_module("fastcluster"), name)
        return lambda data: lambda: merge(data["X"], linkage)[:, 2]

    return load


def heights(data: Data, result: Any) -> float:
    return float(np.sum(result))


def case(n: int, d: int, linkage: str) -> Case:
    contenders = {OURS: fits("thetahat", linkage), SKLEARN: fits("sklearn.cluster", linkage)}
    bars = [Bar(SKLEARN, 1.0)]
    if find_spec("fastcluster"):
        contenders[FASTCLUSTER] = merges(linkage)
        bars.append(Bar(FASTCLUSTER, 1.0))
    return Case(
        f"{linkage} linkage {n}×{d}",
        cloud(n, d),
        contenders,
        heights,
        "sum of the heights",
        bars=tuple(bars),
        slack=1e-6,
    )


CASES = (
    *(case(4000, 10, linkage) for linkage in ("ward", "single", "average", "complete")),
    *(case(4000, 50, linkage) for linkage in ("ward", "single", "average", "complete")),
)


def many_rows(quick: bool, say: Callable[[str], None]) -> Finding:
    """Seconds and memory of the linkages that need no distances of all pairs."""
    import thetahat as th

    X = cloud(50_000, 10)(quick)["X"]
    rows: list[dict[str, Any]] = []
    judged: list[Judged] = []
    for linkage in ("ward", "single"):
        say(f"{linkage} linkage of {len(X)} rows")
        model, begun = th.AgglomerativeClustering(2, linkage=linkage), perf_counter()
        _, peak = peak_of(partial(model.fit, X))
        rows.append({"linkage": linkage, "seconds": perf_counter() - begun, "peak": peak})
        text = f"{linkage} linkage of 50,000 rows: less than 2 GiB"
        judged.append((text, peak, peak is not None and peak < MOST_BYTES))
    return Finding(rows, {"seconds": "{:.2f}".format, "peak": "{:,}".format}, judged)


STUDIES = (Study("Memory on many rows", many_rows),)
