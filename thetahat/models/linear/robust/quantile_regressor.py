"""Quantile regression: β̂, b̂ = argmin (Σ wᵢ ρ_q(yᵢ − xᵢᵀβ − b))/(Σ wᵢ) + α‖β‖₁."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, boolean, none, one_of
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.residual.pinball import Quantile
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.penalties.norms import L1
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex", "interior_point")
"""Solver names of scikit-learn; the same interior-point method is used for all of them."""
OPTIONS = {"maxiter": None, "tol": 1e-10}
"""Options of the solver and their defaults."""


def _are_levels(value: Any) -> bool:
    try:
        levels = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return bool(
        levels.ndim <= 1 and levels.size > 0 and np.all((levels > 0) & (levels < 1))
    ) and not isinstance(value, bool | str)


@with_parameters
class QuantileRegressor(WatchedSolver, OneTargetRegressor):
    """Linear regression that predicts conditional quantiles.

    Formula: β̂, b̂ = argmin (Σ wᵢ ρ_q(rᵢ))/(Σ wᵢ) + α‖β‖₁ with r = y − xᵀβ − b, where ρ_q(r) = q·r
    for r ≥ 0 and (q − 1)·r for r < 0 (pinball loss). A share q of the rows lies below the fit, for
    any distribution of the noise; q = ½ gives the conditional median (least absolute deviations).

    The solver is an interior-point method followed by an exact solution for the rows that the fit
    passes through. ``solution_.gap`` is the duality gap, zero up to rounding, which proves that the
    solution is optimal.

    Cost: O(n d²) for each of 10 to 30 iterations and O(n + d²) memory in addition to the data, in
    memory or block by block.

    Parameters
    ----------
    quantile : float or sequence of float, default=0.5
        Quantile to predict (q), strictly between 0 and 1. If several are given, they are fitted
        together, and the predictions of each row are sorted so that the quantiles never cross.
    alpha : float, default=1.0
        Strength of the L1 penalty (α). Larger values set more coefficients to zero. Must be ≥ 0; 0
        fits without a penalty.
    solver : str, default="highs"
        Has no effect on the result. scikit-learn's names are accepted, and the same interior-point
        method is used for all of them.
    solver_options : dict or None, default=None
        Options of the solver: "maxiter", the maximum number of iterations, and "tol", the duality
        gap relative to the loss of the best constant (1e-10 by default). Other options of SciPy's
        solvers are not supported.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_quantiles, d)
        Estimated coefficients (β̂), one row per quantile if there are several.
    intercept_ : float or array of shape (n_quantiles,)
        Estimated intercept (b̂) of each quantile; 0 if ``fit_intercept=False``.
    solution_ : Solution
        Report of the solver: how it stopped, the number of iterations and the duality gap, for the
        quantile with the worst result.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.arange(5.0)[:, None], np.array([1.0, 3.0, 5.0, 7.0, 90.0])
    >>> model = th.QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y)
    >>> np.round([model.coef_[0], model.intercept_], 9).tolist()
    [2.0, 1.0]
    """

    _: KW_ONLY
    quantile: Any = 0.5
    alpha: float = 1.0
    fit_intercept: bool = True
    solver: str = "highs"
    solver_options: dict[str, Any] | None = None

    _why_no_errors = "the pinball loss is not the likelihood of a distribution"
    _search_space = {  # noqa: RUF012
        "alpha": (0.0, 1e-4, 0.001, 0.01, 0.1, 1.0),
    }
    _ranges = {  # noqa: RUF012
        "quantile": Range(_are_levels, "a number strictly between 0 and 1, or several"),
        "alpha": at_least(0, LARGEST_FACTOR),
        "fit_intercept": boolean,
        "solver": one_of(*SOLVERS),
        "solver_options": Range(lambda value: isinstance(value, dict), "a dict") | none,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> QuantileRegressor:
        source = self._open(X, y, sample_weight)
        require_squares_of_rows(source, who=type(self).__name__)
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
        self.solution_ = worst(solutions)
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
        """Predict the quantiles of y. Cost: O(n d).

        Returns
        -------
        y : array of shape (n,) or (n, n_quantiles)
            Predicted quantiles, one column for each if there are several.
        """
        z = super().predict(X)
        if z.ndim == 1:
            return z
        rank = np.argsort(np.argsort(np.asarray(self.quantile, dtype=float), kind="stable"))
        return np.sort(z, axis=1)[:, rank]


def _number(options: dict[str, Any], name: str) -> float:
    value = options[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ParameterError(
            f"QuantileRegressor: solver_options[{name!r}]={value!r} must be a number ≥ 0."
        )
    return float(value)
