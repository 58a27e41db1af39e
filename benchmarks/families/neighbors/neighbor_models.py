"""Neighbours of sparse rows and by other distances, learned metrics, and local regression.

Quality is the largest difference from the true distances or from the formula. A call fits and
searches or predicts. Learned metrics are compared by their objective.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.families.neighbors.neighbors import (
    CHECKED,
    LARGEST,
    deviation,
    nothing,
    rows,
    same_search,
    searches,
)
from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Study
from benchmarks.peers import SKLEARN

NUMPY, STATSMODELS = "NumPy", "statsmodels"
FORMULA = "largest difference from the formula"


def labelled(n: int, d: int) -> Callable[[bool], Data]:
    """Rows of five classes, of which eight columns give information."""

    def build(quick: bool) -> Data:
        from sklearn.datasets import make_classification

        count = 200 if quick else n
        X, y = make_classification(count, d, n_informative=8, n_classes=5, random_state=0)
        return {"X": X, "y": y}

    return build


def codes(n: int, d: int, queries: int) -> Callable[[bool], Data]:
    """Rows of yes and no."""

    def build(quick: bool) -> Data:
        data = rows(n, d, queries)(quick)
        return {name: each > 0.5 for name, each in data.items()}

    return build


def text(n: int, d: int, queries: int) -> Callable[[bool], Data]:
    """Sparse rows of counts, of which few columns are common."""

    def build(quick: bool) -> Data:
        import scipy.sparse as sp

        count, asked = (800, 100) if quick else (n, queries)
        random = np.random.default_rng(0)
        columns = np.minimum(random.zipf(1.3, 60 * (count + asked)) - 1, d - 1)
        places = np.repeat(np.arange(count + asked), 60)
        X = sp.csr_array((np.ones(places.size), (places, columns)), shape=(count + asked, d))
        return {"X": X[:count], "new": X[count:]}

    return build


def radius(library: str, r: float, **parameters: Any) -> Contender:
    """Fit, and count the rows within a radius of every query."""

    def load() -> Callable[[Data], Call]:
        module = import_module("thetahat" if library == OURS else "sklearn.neighbors")

        def prepare(data: Data) -> Call:
            def call() -> Any:
                search = module.NearestNeighbors(radius=r, n_jobs=-1, **parameters).fit(data["X"])
                return sum(map(len, search.radius_neighbors(data["new"])[1]))

            return call

        return prepare

    return load


def components(library: str, n_components: int) -> Contender:
    def load() -> Callable[[Data], Call]:
        module = import_module("thetahat" if library == OURS else "sklearn.neighbors")

        def prepare(data: Data) -> Call:
            model = module.NeighborhoodComponentsAnalysis(n_components, random_state=0)
            return lambda: model.fit(data["X"], data["y"]).components_

        return prepare

    return load


def badly_chosen(data: Data, A: Any) -> float:
    """The mean probability of a neighbour from another class."""
    Z, y = data["X"] @ A.T, data["y"]
    wrong = 0.0
    for i in range(len(Z)):
        squares = ((Z - Z[i]) ** 2).sum(axis=1)
        squares[i] = np.inf
        p = np.exp(squares.min() - squares)
        wrong += float(p[y != y[i]].sum() / p.sum())
    return wrong / len(Z)


def curve(n: int, d: int, queries: int) -> Callable[[bool], Data]:
    """Rows, a smooth target with noise, queries, and a bandwidth."""

    def build(quick: bool) -> Data:
        count, asked = (min(n, 500), min(queries, 100)) if quick else (n, queries)
        random = np.random.default_rng(0)
        X = random.random((count + asked, d))
        y = np.sin(6 * X[:, 0]) + X[:, -1] + 0.3 * random.standard_normal(count + asked)
        h = 0.2 * count ** (-1 / (d + 4)) * d**0.5
        return {"X": X[:count], "y": y[:count], "new": X[count:], "h": h}

    return build


def our_average() -> Callable[[Data], Call]:
    import thetahat as th

    def prepare(data: Data) -> Call:
        return lambda: th.NadarayaWatson(data["h"]).fit(data["X"], data["y"]).predict(data["new"])

    return prepare


def average_by_numpy() -> Callable[[Data], Call]:
    """The formula by matrix products, in blocks of queries."""

    def prepare(data: Data) -> Call:
        def call() -> Any:
            X, y, new, h = (data[name] for name in ("X", "y", "new", "h"))
            found, square = np.empty(len(new)), (X**2).sum(axis=1)
            for start in range(0, len(new), 256):
                q = new[start : start + 256]
                g = (q**2).sum(axis=1)[:, None] + square - 2 * q @ X.T
                np.exp(g * (-0.5 / h**2), out=g)
                found[start : start + 256] = (g @ y) / g.sum(axis=1)
            return found

        return call

    return prepare


def kernel_regression(kind: str) -> Contender:
    """statsmodels' KernelReg with a Gaussian kernel and a given bandwidth."""

    def load() -> Callable[[Data], Call]:
        from statsmodels.nonparametric.kernel_regression import KernelReg

        def prepare(data: Data) -> Call:
            def call() -> Any:
                import warnings

                X = data["X"]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)
                    options = {"var_type": "c" * X.shape[1], "reg_type": kind}
                    model = KernelReg(data["y"], X, bw=[data["h"]] * X.shape[1], **options)
                    return model.fit(data["new"])[0]

            return call

        return prepare

    return load


def our_local_line() -> Callable[[Data], Call]:
    import thetahat as th

    def prepare(data: Data) -> Call:
        return lambda: (
            th.LocallyWeightedRegression(data["h"]).fit(data["X"], data["y"]).predict(data["new"])
        )

    return prepare


def our_loess() -> Callable[[Data], Call]:
    import thetahat as th

    def prepare(data: Data) -> Call:
        kernel = th.smoothing.Nearest(int(0.1 * len(data["X"]) + 1e-10), "tricube")
        model = th.LocallyWeightedRegression(kernel=kernel)
        return lambda: model.fit(data["X"], data["y"]).predict(data["X"])

    return prepare


def statsmodels_lowess() -> Callable[[Data], Call]:
    from statsmodels.nonparametric.smoothers_lowess import lowess

    def prepare(data: Data) -> Call:
        return lambda: lowess(data["y"], data["X"][:, 0], frac=0.1, it=0, return_sorted=False)

    return prepare


def local_error(degree: int, at: str, k_share: float | None = None) -> Callable[[Data, Any], float]:
    """The largest difference from the formula at some queries."""

    def quality(data: Data, found: Any) -> float:
        X, y, worst = data["X"], data["y"], 1e-7
        for query, value in zip(data[at][:CHECKED], found, strict=False):
            distance = np.sqrt(((X - query) ** 2).sum(axis=1))
            if k_share is None:
                g = np.exp(-0.5 * (distance / data["h"]) ** 2)
            else:
                h = np.sort(distance)[int(k_share * len(X) + 1e-10) - 1]
                g = np.maximum(1 - np.minimum(distance / h, 1) ** 3, 0) ** 3
            root = np.sqrt(g)[:, None]
            design = np.hstack([np.ones((len(X), 1)), X - query][: degree + 1])
            expected = np.linalg.lstsq(root * design, root[:, 0] * y, rcond=None)[0][0]
            worst = max(worst, abs(float(value) - expected))
        return worst

    return quality


CASES = (
    *(
        Case(
            f"sparse {n}×20k, {m} queries",
            text(n, 20_000, m),
            searches(),
            deviation,
            LARGEST,
            bars=(Bar(SKLEARN, 1.0),),
        )
        for n, m in ((1000, 1000), (10_000, 2000))
    ),
    Case(
        "sparse 10k×20k, Manhattan, 100 queries",
        text(10_000, 20_000, 100),
        same_search(metric="manhattan"),
        nothing,
        "not compared",
        bars=(Bar(SKLEARN, 1.0),),
    ),
    Case(
        "radius, 10k×50, 2k queries",
        rows(10_000, 50, 2000),
        {each: radius(each, 2.2, algorithm="brute") for each in (OURS, SKLEARN)},
        nothing,
        "not compared",
        bars=(Bar(SKLEARN, 1.0),),
    ),
    *(
        Case(
            f"{metric} 5k×30, 1k queries",
            (codes if metric == "jaccard" else rows)(5000, 30, 1000),
            same_search(metric=metric, algorithm="brute"),
            nothing,
            "not compared",
            bars=(Bar(SKLEARN, 1.0),),
        )
        for metric in ("canberra", "braycurtis", "jaccard")
    ),
    Case(
        "haversine 100k×2, 10k queries",
        rows(100_000, 2, 10_000),
        same_search(metric="haversine", algorithm="ball_tree"),
        nothing,
        "not compared",
        bars=(Bar(SKLEARN, 1.0),),
    ),
    Case(
        "NeighborhoodComponentsAnalysis 2000×20, 4 components",
        labelled(2000, 20),
        {OURS: components(OURS, 4), SKLEARN: components(SKLEARN, 4)},
        badly_chosen,
        "probability of a neighbour of another class",
        slack=1e-3,
    ),
    Case(
        "NadarayaWatson 50k×1, 5k queries",
        curve(50_000, 1, 5000),
        {OURS: our_average, NUMPY: average_by_numpy},
        local_error(0, "new"),
        FORMULA,
    ),
    Case(
        "NadarayaWatson 20k×2, 5k queries",
        curve(20_000, 2, 5000),
        {OURS: our_average, NUMPY: average_by_numpy},
        local_error(0, "new"),
        FORMULA,
    ),
    Case(
        "NadarayaWatson 2k×20, 2k queries",
        curve(2000, 20, 2000),
        {OURS: our_average, NUMPY: average_by_numpy, STATSMODELS: kernel_regression("lc")},
        local_error(0, "new"),
        FORMULA,
    ),
    Case(
        "LocallyWeightedRegression 1k×2, 1k queries",
        curve(1000, 2, 1000),
        {OURS: our_local_line, STATSMODELS: kernel_regression("ll")},
        local_error(1, "new"),
        FORMULA,
    ),
    Case(
        "loess 5k×1, a tenth of the rows",
        curve(5000, 1, 10),
        {OURS: our_loess, STATSMODELS: statsmodels_lowess},
        local_error(1, "X", 0.1),
        FORMULA,
    ),
)

STUDIES: tuple[Study, ...] = ()
