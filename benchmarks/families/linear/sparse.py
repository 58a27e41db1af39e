"""The lasso: by folds, along a path, on text-like rows; beside scikit-learn and celer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear import GRAM, SKLEARN, dense, fit, rivals
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
    in_new_process,
)

CELER = "celer"
N_ALPHAS, EPS, TOL = 50, 1e-2, 1e-4
SHARE = 0.02
"""The penalty of a single fit, as a share of the smallest that sets all coefficients to zero."""


def many_columns(rows: int, columns: int) -> Callable[[bool], Data]:
    """Gaussian columns in Fortran order, 100 of them in use, and noise a third of the signal."""

    def build(quick: bool) -> Data:
        n, d = (60, 300) if quick else (rows, columns)
        random = np.random.default_rng(0)
        X = np.asfortranarray(random.standard_normal((n, d)))
        theta = np.zeros(d)
        theta[random.choice(d, min(100, d // 10), replace=False)] = random.standard_normal(
            min(100, d // 10)
        )
        signal = X @ theta
        y = signal + random.standard_normal(n) * signal.std() / 3
        return {"X": X, "y": y, "weight": None}

    return build


def words(rows: int, columns: int, per_row: int = 100) -> Callable[[bool], Data]:
    """Rows like weighted word counts: frequent columns and rare ones, each row of length one."""

    def build(quick: bool) -> Data:
        import scipy.sparse

        n, d = (300, 600) if quick else (rows, columns)
        random = np.random.default_rng(0)
        share = np.cumsum(1.0 / np.arange(1, d + 1))
        which = np.searchsorted(share / share[-1], random.random(n * per_row))
        counts = scipy.sparse.coo_array(
            (np.ones(n * per_row), (np.repeat(np.arange(n), per_row), np.minimum(which, d - 1))),
            shape=(n, d),
        ).tocsr()
        counts.sum_duplicates()
        holders = np.bincount(counts.indices, minlength=d)
        rarity = np.log((1 + n) / (1 + holders)) + 1
        counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
        lengths = np.sqrt(np.asarray((counts * counts).sum(axis=1)).ravel())
        X = scipy.sparse.csc_matrix(scipy.sparse.diags_array(1 / lengths) @ counts)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        theta = np.zeros(d)
        theta[random.choice(min(d, 2000), 100, replace=False)] = 5 * random.standard_normal(100)
        signal = X @ theta
        y = signal + 0.5 * signal.std() * random.standard_normal(n)
        largest = np.abs(X.T @ (y - y.mean())).max() / n
        return {"X": X, "y": y, "weight": None, "alpha": SHARE * largest}

    return build


def our_path() -> Callable[[Data], Call]:
    from thetahat import lasso_path

    return lambda data: lambda: lasso_path(data["X"], data["y"], eps=EPS, alphas=N_ALPHAS, tol=TOL)


def scikit_learn_path() -> Callable[[Data], Call]:
    from sklearn.linear_model import lasso_path

    return lambda data: lambda: lasso_path(data["X"], data["y"], eps=EPS, alphas=N_ALPHAS, tol=TOL)


def celer_path() -> Callable[[Data], Call]:
    from celer import celer_path

    return lambda data: (
        lambda: celer_path(data["X"], data["y"], pb="lasso", eps=EPS, n_alphas=N_ALPHAS, tol=TOL)
    )


def at_alpha(module: str, name: str) -> Contender:
    """Fit with the penalty that comes with the data."""

    def load() -> Callable[[Data], Call]:
        from importlib import import_module

        estimator = getattr(import_module(module), name)
        return lambda data: lambda: estimator(data["alpha"], tol=TOL).fit(data["X"], data["y"])

    return load


def gap_share(data: Data, result: Any) -> float:
    """The largest duality gap along the path as a share of ‖y‖²/n; at least the tolerance."""
    X, y = data["X"], data["y"]
    alphas, coefs = result[:2]
    residuals = y[:, None] - X @ coefs
    slopes = np.abs(X.T @ residuals).max(axis=0) / y.size
    scale = np.minimum(1.0, alphas / slopes)
    squared = (residuals**2).sum(axis=0) / y.size
    gaps = squared * (1 + scale**2) / 2 - scale * (y @ residuals) / y.size
    gaps += alphas * np.abs(coefs).sum(axis=0)
    return max(TOL, float(gaps.max()) / float(np.mean(y**2)))


def lasso_objective(data: Data, result: Any) -> float:
    residual = data["y"] - data["X"] @ result.coef_ - result.intercept_
    return float(np.mean(residual**2) / 2 + data["alpha"] * np.abs(result.coef_).sum())


def held_out_error(data: Data, result: Any) -> float:
    """The smallest mean squared error over the folds."""
    return float(result.mse_path_.mean(axis=-1).min())


PATH = "lasso path 1000×10000, 50 alphas"
COLD_RATIO = 10.0


def cold_start(quick: bool, say: Callable[[str], None]) -> Finding:
    """Import and first path in a new process: what a script that runs once waits for."""
    best = dict.fromkeys((OURS, CELER), math.inf)
    for _ in range(1 if quick else 5):  # in turn, so that both see the same hours of the machine
        for name in best:
            say(f"{PATH}: {name}, import and first call in a new process")
            run = in_new_process(
                "benchmarks.first_call", "sparse", PATH, name, *(["--quick"] if quick else [])
            )
            best[name] = min(best[name], run["import_seconds"] + run["cold_seconds"])
    rows: list[dict[str, Any]] = [
        {"contender": name, "import and first path": seconds} for name, seconds in best.items()
    ]
    ratio = rows[1]["import and first path"] / rows[0]["import and first path"]
    warm: Judged = (f"cold start at least {COLD_RATIO:g}× faster than celer", ratio,
                    ratio >= COLD_RATIO)  # fmt: skip
    return Finding(rows, {"import and first path": lambda value: f"{value:.3f} s"}, [warm])


CASES = (
    Case(
        "LassoCV 200k×200, 5 folds",
        dense(200_000, 200),
        rivals("LassoCV", cv=5),
        held_out_error,
        "mean squared error held out",
        GRAM,
        "X.T @ X",
        (Bar(SKLEARN, 1 / 5),),
        slack=1e-4,
    ),
    Case(
        PATH,
        many_columns(1000, 10_000),
        {OURS: our_path, SKLEARN: scikit_learn_path, CELER: celer_path},
        gap_share,
        "largest duality gap / (‖y‖²/n)",
        bars=(Bar(CELER, 1.0),),
        slack=1e-2,
    ),
    Case(
        "Lasso sparse 20k×50k",
        words(20_000, 50_000),
        {
            OURS: at_alpha("thetahat", "Lasso"),
            SKLEARN: at_alpha("sklearn.linear_model", "Lasso"),
            CELER: at_alpha("celer", "Lasso"),
        },
        lasso_objective,
        "objective",
        bars=(Bar(CELER, 1.0),),
        slack=1e-4,
    ),
    Case(
        "Lasso 100×5",
        dense(100, 5),
        {
            OURS: fit("thetahat", "Lasso", alpha=0.1),
            SKLEARN: fit("sklearn.linear_model", "Lasso", alpha=0.1),
        },
        lambda data, result: lasso_objective({**data, "alpha": 0.1}, result),
        "objective",
        slack=1e-4,
    ),
)

STUDIES = (Study("Cold start of the lasso path", cold_start),)
