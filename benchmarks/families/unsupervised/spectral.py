"""Graphs of rows: embeddings and clusters by the eigenvectors of their Laplacian.

Quality of an embedding is the sum of λ_t = u_tᵀ(D − W)u_t over its columns, with uᵀDu = 1; both
libraries are measured on the graph of ours. Quality of clusters is one minus the agreement with
the groups from which the rows were drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import SKLEARN
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study


def roll(n: int) -> Callable[[bool], Data]:
    """Rows on a rolled sheet."""

    def build(quick: bool) -> Data:
        from sklearn.datasets import make_swiss_roll

        X, position = make_swiss_roll(min(n, 500) if quick else n, random_state=0)
        return {"X": X, "y": position > np.median(position)}

    return build


def digits(quick: bool) -> Data:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return {"X": X[:300] if quick else X, "y": y[:300] if quick else y}


def flowers(quick: bool) -> Data:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return {"X": X, "y": y}


def fit(module: str, name: str, *size: int, **parameters: Any) -> Contender:
    def load() -> Callable[[Data], Call]:
        model = getattr(import_module(module), name)

        def prepare(data: Data) -> Call:
            return lambda: model(*size, random_state=0, **parameters).fit(data["X"])

        return prepare

    return load


def pair(module: str, name: str, *size: int, **parameters: Any) -> dict[str, Contender]:
    return {
        OURS: fit("thetahat", name, *size, **parameters),
        SKLEARN: fit(f"sklearn.{module}", name, *size, **parameters),
    }


def roughness(data: Data, model: Any) -> float:
    """Σ_t u_tᵀ(D − W)u_t / u_tᵀDu_t of the columns of the embedding."""
    W, u = model.affinity_matrix_, model.embedding_
    degree = np.asarray(W.sum(axis=1)).ravel() - W.diagonal()
    both = np.einsum("ij,ij->j", u, degree[:, None] * u)
    edges = np.einsum("ij,ij->j", u, W @ u - W.diagonal()[:, None] * u)
    return float(np.sum(1.0 - edges / both))


def disagreement(data: Data, model: Any) -> float:
    from sklearn.metrics import adjusted_rand_score

    return 1.0 - float(adjusted_rand_score(data["y"], model.labels_))


CASES = (
    Case(
        "SpectralEmbedding roll 10k×3, 12 neighbours",
        roll(10_000),
        pair("manifold", "SpectralEmbedding", 2, n_neighbors=12),
        roughness,
        "roughness",
        bars=(Bar(SKLEARN, 1 / 1.5),),
        slack=1e-3,
    ),
    Case(
        "SpectralEmbedding digits",
        digits,
        pair("manifold", "SpectralEmbedding", 2),
        roughness,
        "roughness",
        bars=(Bar(SKLEARN, 1 / 1.5),),
        slack=1e-3,
    ),
    Case(
        "SpectralEmbedding digits, Gaussian weights",
        digits,
        pair("manifold", "SpectralEmbedding", 2, affinity="rbf", gamma=1e-3),
        roughness,
        "roughness",
        bars=(Bar(SKLEARN, 1 / 1.5),),
        slack=1e-6,
    ),
    Case(
        "SpectralEmbedding iris",
        flowers,
        pair("manifold", "SpectralEmbedding", 2, n_neighbors=60),
        roughness,
        "roughness",
        bars=(Bar(SKLEARN, 1),),
        slack=1e-2,
    ),
    Case(
        "SpectralClustering digits, 10 neighbours, k = 10",
        digits,
        pair("cluster", "SpectralClustering", 10, affinity="nearest_neighbors"),
        disagreement,
        "disagreement",
        slack=0.1,
    ),
    Case(
        "SpectralClustering iris, k = 3",
        flowers,
        pair("cluster", "SpectralClustering", 3),
        disagreement,
        "disagreement",
        bars=(Bar(SKLEARN, 1),),
        slack=0.1,
    ),
)

STUDIES: tuple[Study, ...] = ()
