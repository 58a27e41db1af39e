"""Kernel methods beside scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import fit
from benchmarks.harness import OURS, Bar, Case, Data, Study
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
)

STUDIES: tuple[Study, ...] = ()
