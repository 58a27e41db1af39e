"""Poisson regression: log E[y | x] = xᵀβ + b for counts and rates y ≥ 0."""

from __future__ import annotations

from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor


@with_parameters
class PoissonRegressor(DevianceRegressor):
    """Poisson regression for counts and rates, with a log link and an L2 penalty.

    Formula: β̂, b̂ = argmin (Σ wᵢ dᵢ)/(2Σ wᵢ) + α/2·‖β‖² with the deviance dᵢ = 2(yᵢ log(yᵢ/μᵢ) −
    yᵢ + μᵢ) and the predicted mean μᵢ = exp(xᵢᵀβ + b). With α = 0 this is the maximum-likelihood
    estimate, for which `summary` reports standard errors and tests, and `predict_interval` gives
    intervals for the mean.

    Cost: O(n d²) for each of about five Newton steps; O(n d) per iteration of L-BFGS with more than
    500 columns. Rows may be dense or sparse, and may be read block by block.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.log([[1.0], [2.0], [4.0], [8.0]]), [2.0, 4.0, 8.0, 16.0]
    >>> model = th.PoissonRegressor(alpha=0.0, solver="newton").fit(X, y)
    >>> model.predict(np.log([[3.0]])).round(2)
    array([6.])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _loss(self) -> Poisson:
        return Poisson()

    def _slope_unit(self, mean: float) -> float:
        return mean
