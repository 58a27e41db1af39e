"""Trees in corners: sparse rows, many columns per draw, many classes, single random trees.

Sparse cases stand beside the peers that keep sparse rows sparse; quality is the error on rows held
out, of small forests its mean over several seeds. scikit-learn's histogram boosting takes no sparse
rows, so LightGBM is the peer there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from benchmarks.families.linear.linear import fit
from benchmarks.families.trees.boosting import LIGHTGBM
from benchmarks.families.trees.tree import held_out_error, predict
from benchmarks.harness import OURS, Bar, Case, Contender, Data
from benchmarks.peers import SKLEARN, contenders


def sparse_rows(rows: int, columns: int, density: float) -> Callable[[bool], Data]:
    """Uniform entries; 50 columns matter and are less sparse than the others; two classes."""

    def build(quick: bool) -> Data:
        n, d = (400, 300) if quick else (rows, columns)
        random = np.random.default_rng(0)
        common = sp.random_array((2 * n, 50), density=0.1, rng=random)
        others = sp.random_array((2 * n, d - 50), density=density, rng=random)
        X = sp.csr_matrix(sp.hstack([common, others]))
        y = (common @ random.standard_normal(50) + 0.1 * random.standard_normal(2 * n) > 0) * 1
        return {"X": X[:n], "y": y[:n], "weight": None, "new_X": X[n:], "new_y": y[n:]}

    return build


def dense_rows(rows: int, columns: int, classes: int) -> Callable[[bool], Data]:
    """Classes by thresholds of a sum of ten columns with noise."""

    def build(quick: bool) -> Data:
        n, d = (400, columns) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = random.standard_normal((2 * n, d))
        score = X[:, :10].sum(axis=1) + random.standard_normal(2 * n)
        y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
        return {"X": X[:n], "y": y[:n], "weight": None, "new_X": X[n:], "new_y": y[n:]}

    return build


def beside_sklearn(
    task: Callable[..., Contender], module: str, name: str, **parameters: Any
) -> dict[str, Contender]:
    parameters = {"random_state": 0, **parameters}
    return contenders(lambda path: task(path, name, **parameters), module, name)


def mean_held_out_error(data: Data, model: Any) -> float:
    """Mean over several seeds: of one forest of ten trees, chance alone changes the error by 3%."""
    others = (clone(model).set_params(random_state=seed) for seed in range(1, SEEDS))
    models = [model, *(other.fit(data["X"], data["y"]) for other in others)]
    return float(np.mean([held_out_error(data, each) for each in models]))


def case(
    title: str,
    data: Callable[[bool], Data],
    rivals: dict[str, Contender],
    bar: str = SKLEARN,
    quality: Callable[[Data, Any], float] = held_out_error,
) -> Case:
    name = "held-out error" if quality is held_out_error else "mean held-out error"
    slack = 0.1 if quality is held_out_error else 0.05
    return Case(title, data, rivals, quality, name, bars=(Bar(bar, 1.0),), slack=slack)


SEEDS = 10
"""Number of forests over whose seeds errors are averaged."""
TREE, FOREST = "sklearn.tree", "sklearn.ensemble"
SPARSE, WIDE = sparse_rows(10_000, 10_000, 0.002), sparse_rows(50_000, 100_000, 2e-4)
BOOSTED = {
    OURS: fit("thetahat", "HistGradientBoostingClassifier", early_stopping=False),
    LIGHTGBM: fit("lightgbm", "LGBMClassifier", n_jobs=-1, verbose=-1),
}
CASES = (
    case(
        "DecisionTree sparse 10k×10k, depth 10",
        SPARSE,
        beside_sklearn(fit, TREE, "DecisionTreeClassifier", max_depth=10),
    ),
    case(
        "DecisionTree sparse 10k×10k, predict",
        SPARSE,
        beside_sklearn(predict, TREE, "DecisionTreeClassifier", max_depth=10),
    ),
    case(
        "RandomForest sparse 10k×10k, 10 trees",
        SPARSE,
        beside_sklearn(fit, FOREST, "RandomForestClassifier", n_estimators=10, n_jobs=-1),
        quality=mean_held_out_error,
    ),
    case(
        "ExtraTrees sparse 10k×10k, 10 trees",
        SPARSE,
        beside_sklearn(fit, FOREST, "ExtraTreesClassifier", n_estimators=10, n_jobs=-1),
        quality=mean_held_out_error,
    ),
    case("Boosting sparse 10k×10k", SPARSE, BOOSTED, LIGHTGBM),
    case(
        "DecisionTree sparse 50k×100k, depth 5",
        WIDE,
        beside_sklearn(fit, TREE, "DecisionTreeClassifier", max_depth=5),
    ),
    case("Boosting sparse 50k×100k", WIDE, BOOSTED, LIGHTGBM),
    case(
        "DecisionTree 2000×2000, max_features sqrt",
        dense_rows(2000, 2000, 2),
        beside_sklearn(fit, TREE, "DecisionTreeClassifier", max_features="sqrt"),
    ),
    case(
        "DecisionTree 15k×16, 26 classes",
        dense_rows(15_000, 16, 26),
        beside_sklearn(fit, TREE, "DecisionTreeClassifier"),
    ),
    case(
        "ExtraTree 15k×16, 26 classes",
        dense_rows(15_000, 16, 26),
        beside_sklearn(fit, TREE, "ExtraTreeClassifier"),
    ),
    case(
        "ExtraTree 2000×200, 2 classes",
        dense_rows(2000, 200, 2),
        beside_sklearn(fit, TREE, "ExtraTreeClassifier"),
    ),
)

STUDIES = ()
