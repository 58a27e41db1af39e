"""t-SNE of digits and iris, beside scikit-learn and openTSNE.

Quality is the divergence Σ p log(p/q) of the embedding, with the same weights p for all and the sum
over all pairs of points.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study
from benchmarks.peers import SKLEARN

OPENTSNE = "openTSNE"


def rows(name: str) -> Callable[[bool], Data]:
    def build(quick: bool) -> Data:
        X = getattr(import_module("sklearn.datasets"), f"load_{name}")().data
        return {"X": X[:100] if quick else X}

    return build


def fits(module: str) -> Contender:
    """Fit the rows; the embedding is the answer."""

    def load() -> Callable[[Data], Call]:
        model = import_module(module).TSNE

        def prepare(data: Data) -> Call:
            X = data["X"]
            if module == "openTSNE":
                # As many iterations as the others, of which 250 with early exaggeration.
                return lambda: np.asarray(model(n_iter=750, random_state=0).fit(X))
            return lambda: model(random_state=0).fit(X).embedding_

        return prepare

    return load


def divergence(data: Data, Z: Any) -> float:
    from thetahat.models.manifold.student_descent import StudentDivergence, joint_probabilities
    from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors

    n = len(data["X"])
    found = NearestNeighbors(n_neighbors=min(n - 1, 91)).fit(data["X"])._nearest(None)
    problem = StudentDivergence(joint_probabilities(found, 30.0), freedom=1, angle=0.0)
    return problem.value_and_gradient(np.ascontiguousarray(Z, dtype=np.float64))[0]


def case(title: str, name: str, faster: float) -> Case:
    contenders = {OURS: fits("thetahat"), SKLEARN: fits("sklearn.manifold")}
    bars = [Bar(SKLEARN, 1 / faster)]
    if find_spec("openTSNE"):
        contenders[OPENTSNE] = fits("openTSNE")
        bars.append(Bar(OPENTSNE, 1.0))
    return Case(
        title, rows(name), contenders, divergence, "divergence", slack=2e-2, bars=tuple(bars)
    )


CASES = (
    case("t-SNE, digits", "digits", 2.0),
    case("t-SNE, iris", "iris", 1.0),
)

STUDIES: tuple[Study, ...] = ()
