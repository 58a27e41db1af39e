"""Quantile regression: β̂, b̂ = argmin (Σ wᵢ ρ_q(yᵢ − xᵢᵀβ − b))/(Σ wᵢ) + α‖β‖₁."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.residual.pinball import Quantile
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.penalties.norms import L1
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex", "interior_point")
"""scikit-learn's names of linear-programming solvers; one serves all: the optimum is the same."""
OPTIONS = {"maxiter": None, "tol": 1e-10}
"""What may be set of the solver, and its default."""


def _are_levels(value: Any) -> bool:
    try:
        levels = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return bool(
        levels.ndim <= 1 and levels.size > 0 and np.all((levels > 0) & (levels < 1))
    ) and not isinstance(value, bool | str)


class QuantileRegressor(Watched, LinearRegressor):
    """Linear conditional quantiles, to the exact optimum of their linear program.

    Formula: β̂, b̂ = argmin (Σ wᵢ ρ_q(rᵢ))/(Σ wᵢ) + α‖β‖₁ with r = y − xᵀβ − b, and ρ_q(r) = q·r for
    r ≥ 0, (q − 1)·r below. A share q of the rows lies below the fit, whatever the noise; q = ½ is
    the conditional median (least absolute deviations).

    An interior point method finds which rows the fit passes through, and solves their equations:
    ``solution_.gap`` is the duality gap, zero to rounding, which proves that no fit is better.

    Cost: O(n d²) for each of 10 to 30 steps, O(n + d²) memory beside the data, in memory or out of
    core.

    Parameters
    ----------
    quantile : float or sequence of float, default=0.5
        q, strictly between 0 and 1. Several are fitted at once, and their predictions put in order,
        so that they never cross (which cannot raise the loss).
    alpha : float, default=1.0
        α, the strength of the L1 penalty.
    fit_intercept : bool, default=True
        Whether b is fitted.
    solver : str, default="highs"
        scikit-learn's names are accepted; the interior point method serves them all.
    solver_options : dict, optional
        "maxiter", the most steps, and "tol", the duality gap to reach as a share of the loss of the
        best constant (1e-10 by default). Other options of SciPy's solvers have no counterpart.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_quantiles, d)
        β̂; exactly 0 where the penalty rules a column out.
    intercept_ : float or array of shape (n_quantiles,)
        b̂.
    solution_ : Solution
        Outcome, steps and duality gap; of the worst, where there are several quantiles.
    n_iter_ : int
        Steps taken.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.arange(5.0)[:, None], np.array([1.0, 3.0, 5.0, 7.0, 90.0])
    >>> model = th.QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y)
    >>> np.round([model.coef_[0], model.intercept_], 9).tolist()
    [2.0, 1.0]
    """

    _why_no_errors = "the pinball loss is not the likelihood of a distribution"
    _ranges = {  # noqa: RUF012
        "quantile": Range(_are_levels, "a number strictly between 0 and 1, or several"),
        "alpha": at_least(0),
        "fit_intercept": boolean,
        "solver": one_of(*SOLVERS),
        "solver_options": Range(lambda value: isinstance(value, dict), "a dict") | none,
    }
    _multi_output = False

    def __init__(
        self,
        *,
        quantile: Any = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> QuantileRegressor:
        """Fit; parameters as in `LinearRegression.fit`, with one target per row."""
        source = self._open(X, y, sample_weight)
        options = OPTIONS | (self.solver_options or {})
        predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
        risk = EmpiricalRisk(predictor, Quantile(), L1(float(self.alpha)), source)
        attributes = partial(self._attributes, risk=risk)
        solutions = []
        with self._watching(options["maxiter"], attributes, X, y) as watch:
            for level in np.atleast_1d(np.asarray(self.quantile, dtype=float)):
                one = replace(risk, loss=Quantile(float(level)))
                solutions.append(
                    minimise(
                        one,
                        InteriorPoint(),
                        tolerance=_number(options, "tol"),
                        max_steps=options["maxiter"],
                        watch=watch,
                        reason="a loss of lines: linear programming",
                    )
                )
        self._keep_all([attributes(solution.theta) for solution in solutions])
        self.solution_ = max(solutions, key=_badness)
        self.n_iter_ = max(1, *(solution.steps for solution in solutions))
        self._warn_unless_converged()
        return self

    def _keep_all(self, fits: list[dict[str, Array]]) -> None:
        if np.ndim(self.quantile) == 0:
            self.__dict__.update(fits[0])
            return
        self.coef_ = np.stack([fit["coef_"] for fit in fits])
        self.intercept_ = np.stack([fit["intercept_"] for fit in fits])

    def predict(self, X: Any) -> Array:
        """The quantile of y given x; one column for each, where there are several. Cost: O(n d)."""
        z = super().predict(X)
        if z.ndim == 1:
            return z
        rank = np.argsort(np.argsort(np.asarray(self.quantile, dtype=float), kind="stable"))
        return np.sort(z, axis=1)[:, rank]


def _badness(solution: Solution) -> tuple[bool, float]:
    return not solution.outcome.success, solution.gap


def _number(options: dict[str, Any], name: str) -> float:
    value = options[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ParameterError(
            f"QuantileRegressor: solver_options[{name!r}]={value!r} must be a number ≥ 0."
        )
    return float(value)
