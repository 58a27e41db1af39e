"""Correct digits of θ̂ on problems whose answer is certified to 15 digits.

The score of a solver is the log relative error of its worst coefficient, intercept included:
min_j −log₁₀(|θ̂_j − θ_j| / |θ_j|), between 0 (nothing right) and 15 (all that was certified).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Finding, Judged


def correct_digits(quick: bool, say: Callable[[str], None]) -> Finding:
    """Digits per problem and library; the problems are small, so quick is the same."""
    from thetahat.data.datasets import filip, load_longley, wampler

    problems = {"Longley": load_longley(), "Filip": filip()}
    problems |= {f"Wampler {k}": wampler(k) for k in range(1, 6)}
    rows = []
    for name in sorted(problems):
        say(f"digits: {name}")
        problem = problems[name]
        certified = np.array([problem.intercept, *problem.coef])
        row: dict[str, Any] = {"problem": name}
        for library, solve in SOLVERS.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                row[library] = digits(solve(problem.X, problem.y), certified)
            if library == OURS:
                warned = any(w.category.__name__ == "IllConditionedWarning" for w in caught)
        rows.append(row | {"thetahat warns": warned})
    return Finding(rows, {library: "{:.1f}".format for library in SOLVERS}, _bars(rows))


def digits(theta: Any, certified: Any) -> float:
    """The log relative error of the worst coefficient, between 0 and 15."""
    error = float(np.max(np.abs((theta - certified) / certified)))
    return float(np.clip(-np.log10(max(error, 1e-15)), 0.0, 15.0)) if np.isfinite(error) else 0.0


def _thetahat(X: Any, y: Any) -> Any:
    import thetahat as th

    model = th.LinearRegression().fit(X, y)
    return np.array([model.intercept_, *model.coef_])


def _scikit_learn(X: Any, y: Any) -> Any:
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(X, y)
    return np.array([model.intercept_, *model.coef_])


def _numpy(X: Any, y: Any) -> Any:
    return np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y)[0]


def _statsmodels(X: Any, y: Any) -> Any:
    from statsmodels.regression.linear_model import OLS

    return OLS(y, np.column_stack([np.ones(len(y)), X])).fit().params


SOLVERS = {
    OURS: _thetahat,
    "scikit-learn": _scikit_learn,
    "numpy.linalg.lstsq": _numpy,
    "statsmodels": _statsmodels,
}


def _bars(rows: list[dict[str, Any]]) -> list[Judged]:
    scores = {row["problem"]: row for row in rows}
    bars: list[Judged] = []
    for problem, least in (("Longley", 9), ("Wampler 3", 6), ("Wampler 4", 6), ("Wampler 5", 6)):
        score = scores[problem][OURS]
        bars.append((f"{problem}: at least {least} correct digits", score, score >= least))
    score, warned = scores["Filip"][OURS], scores["Filip"]["thetahat warns"]
    bars.append(("Filip: at least 6 correct digits, or a warning", score, score >= 6 or warned))
    return bars
