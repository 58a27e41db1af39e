"""Kernel methods beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.families.linear import fit
from benchmarks.harness import OURS, Bar, Case, Data, Finding, Judged, Study
from benchmarks.peers import SKLEARN

GAMMA = 0.05
ALPHA = 1.0


def smooth(rows: int, columns: int, dtype: Any = np.float64) -> Callable[[bool], Data]:
    """Rows with a target that is a smooth function of them, and noise."""

    def build(quick: bool) -> Data:
        n = min(rows, 200) if quick else rows
        random = np.random.default_rng(0)
        X = random.standard_normal((n, columns))
        y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.standard_normal(n)
        return {"X": X.astype(dtype), "y": y.astype(dtype), "weight": None}

    return build


def ridge_objective(data: Data, model: Any) -> float:
    """Σ(y − Kc)² + α·cᵀKc, from the coefficients alone."""
    from sklearn.metrics.pairwise import rbf_kernel

    K = rbf_kernel(data["X"].astype(np.float64), gamma=GAMMA)
    c = np.asarray(model.dual_coef_, dtype=np.float64)
    f = K @ c
    return float(np.sum((data["y"] - f) ** 2) + ALPHA * c @ f)


def lost_variance(data: Data, model: Any) -> float:
    """n minus the sum of the eigenvalues that were found: the variance that is left."""
    return float(len(data["X"]) - np.sum(model.eigenvalues_))


def _ridge() -> dict[str, Any]:
    options = {"alpha": ALPHA, "kernel": "rbf", "gamma": GAMMA}
    return {
        OURS: fit("thetahat", "KernelRidge", **options),
        SKLEARN: fit("sklearn.kernel_ridge", "KernelRidge", **options),
    }


def _components() -> dict[str, Any]:
    options = {"n_components": 10, "kernel": "rbf", "gamma": GAMMA}
    return {
        OURS: fit("thetahat", "KernelPCA", **options),
        SKLEARN: fit("sklearn.decomposition", "KernelPCA", **options),
    }


def ridge(rows: int, *bars: Bar, dtype: Any = np.float64) -> Case:
    """Kernel ridge regression of this many rows."""
    single = dtype is np.float32
    return Case(
        f"kernel ridge {counted(rows)} × 20{', float32' if single else ''}",
        smooth(rows, 20, dtype),
        _ridge(),
        ridge_objective,
        "objective",
        bars=bars,
        slack=1e-3 if single else 1e-8,
    )


def components(rows: int, *bars: Bar, dtype: Any = np.float64) -> Case:
    """Ten kernel components of this many rows."""
    single = dtype is np.float32
    return Case(
        f"kernel PCA {counted(rows)} × 20{', float32' if single else ''}",
        smooth(rows, 20, dtype),
        _components(),
        lost_variance,
        "lost variance",
        bars=bars,
        slack=1e-3 if single else 1e-8,
    )


def counted(rows: int) -> str:
    return f"{rows // 1000}k" if rows >= 1000 else str(rows)


def lost_likelihood(data: Data, model: Any) -> float:
    """10n − log p(y | X) of the fitted hyper-parameters, which is positive."""
    return 10.0 * len(data["X"]) - float(model.log_marginal_likelihood_value_)


def _process(per_column: bool) -> dict[str, Any]:
    """A Gaussian process with noise; both libraries take scikit-learn's kernel."""
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF([1.0] * 5 if per_column else 1.0) + WhiteKernel()
    return {
        OURS: fit("thetahat", "GaussianProcessRegressor", kernel=kernel),
        SKLEARN: fit("sklearn.gaussian_process", "GaussianProcessRegressor", kernel=kernel),
    }


def process(rows: int, per_column: bool, *bars: Bar) -> Case:
    """Gaussian process regression with fitted hyper-parameters."""
    lengths = "5 length scales" if per_column else "1 length scale"
    return Case(
        f"Gaussian process {counted(rows)} × 5, {lengths}",
        smooth(rows, 5),
        _process(per_column),
        lost_likelihood,
        "lost likelihood",
        bars=bars,
        slack=1e-7,
    )


def labelled(rows: int, columns: int, dtype: Any = np.float64) -> Callable[[bool], Data]:
    """Two classes: whether a smooth function of the rows is positive."""

    def build(quick: bool) -> Data:
        found = smooth(rows, columns, dtype)(quick)
        noise = 0.3 * np.random.default_rng(1).standard_normal(len(found["y"]))
        return found | {"y": (found["y"] + noise > 0).astype(np.int64)}

    return build


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
    process(2000, True, Bar(SKLEARN, 1 / 3)),
    process(2000, False),
    process(1000, False, Bar(SKLEARN, 1)),
    process(100, False, Bar(SKLEARN, 1)),
    ridge(10_000, Bar(SKLEARN, 1)),
    ridge(6000, Bar(SKLEARN, 1 / 2)),
    ridge(1000, Bar(SKLEARN, 1)),
    ridge(100, Bar(SKLEARN, 1)),
    ridge(1000, Bar(SKLEARN, 1), dtype=np.float32),
    components(3000, Bar(SKLEARN, 1 / 3)),
    components(1000, Bar(SKLEARN, 1)),
    components(100, Bar(SKLEARN, 1)),
    components(1000, Bar(SKLEARN, 1), dtype=np.float32),
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
