"""Non-linear least squares: digits on certified fits, and speed, beside SciPy's curve_fit.

The score of a fit is the log relative error of its worst parameter (or standard error): between 0,
nothing right, and 11, all that was certified. Each library runs with its default settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.families.linear.linear_accuracy import digits
from benchmarks.harness import OURS, Call, Case, Data, Finding, Judged, Study

SCIPY = "SciPy curve_fit"
LEAST_PARAMETERS, LEAST_ERRORS = 6, 4


def certified_digits(quick: bool, say: Callable[[str], None]) -> Finding:
    """Digits per problem, start and library; quick takes the first three problems."""
    from thetahat.data.datasets.certified_curves import CURVES, load_nonlinear

    rows = []
    for name in list(CURVES)[: 3 if quick else None]:
        say(f"digits: {name}")
        problem = load_nonlinear(name)
        for place, start in enumerate(problem.starts):
            row: dict[str, Any] = {"problem": name, "start": ("far", "near")[place]}
            for library, solve in SOLVERS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        theta, errors = solve(problem.model, start, problem.X, problem.y)
                    except RuntimeError:  # curve_fit, when it gives up
                        theta = errors = np.full(len(start), np.nan)
                row[library] = min(digits(theta, problem.theta), 11.0)
                row[f"{library}, errors"] = min(digits(errors, problem.standard_errors), 11.0)
            rows.append(row)
    shown = [f"{library}{what}" for library in SOLVERS for what in ("", ", errors")]
    return Finding(rows, dict.fromkeys(shown, "{:.1f}".format), _bars(rows))


def _thetahat(model: Any, start: Any, X: Any, y: Any) -> tuple[Any, Any]:
    import thetahat as th

    found = th.NonlinearRegression(model, start).fit(X, y)
    return found.theta_, found.standard_errors_


def _scipy(model: Any, start: Any, X: Any, y: Any) -> tuple[Any, Any]:
    from scipy.optimize import curve_fit

    theta, covariance = curve_fit(lambda rows, *theta: model(rows, theta), X, y, p0=start)
    return theta, np.sqrt(np.diagonal(covariance))


SOLVERS = {OURS: _thetahat, SCIPY: _scipy}


def _bars(rows: list[dict[str, Any]]) -> list[Judged]:
    worst = min(row[OURS] for row in rows)
    errors = min(row[f"{OURS}, errors"] for row in rows)
    return [
        (f"at least {LEAST_PARAMETERS} digits of all parameters", worst, worst >= LEAST_PARAMETERS),
        (f"at least {LEAST_ERRORS} of their standard errors", errors, errors >= LEAST_ERRORS),
    ]


def growth(X: Any, theta: Any) -> Any:
    """Logistic growth."""
    return theta[0] / (1 + np.exp(theta[1] - theta[2] * X[:, 0]))


def many_rows(quick: bool) -> Data:
    n = 2000 if quick else 200_000
    random = np.random.default_rng(0)
    X = random.uniform(0.0, 10.0, (n, 1))
    return {"X": X, "y": growth(X, np.array([3.0, 4.0, 1.0])) + 0.1 * random.standard_normal(n)}


def fit_thetahat() -> Callable[[Data], Call]:
    import thetahat as th

    def prepare(data: Data) -> Call:
        model = th.NonlinearRegression(growth, [1.0, 1.0, 0.5])
        return lambda: model.fit(data["X"], data["y"]).theta_

    return prepare


def fit_scipy() -> Callable[[Data], Call]:
    from scipy.optimize import curve_fit

    def prepare(data: Data) -> Call:
        def call() -> Any:
            curve = lambda rows, *theta: growth(rows, theta)  # noqa: E731
            return curve_fit(curve, data["X"], data["y"], p0=[1.0, 1.0, 0.5])[0]

        return call

    return prepare


def mean_squared_residual(data: Data, theta: Any) -> float:
    return float(np.mean((growth(data["X"], theta) - data["y"]) ** 2))


CASES = (
    Case(
        "NonlinearRegression 200k×1, 3 parameters",
        many_rows,
        {OURS: fit_thetahat, SCIPY: fit_scipy},
        mean_squared_residual,
        "mean squared residual",
    ),
)

STUDIES = (Study("Correct digits on certified curves", certified_digits),)
