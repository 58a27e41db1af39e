"""Gamma regression: log E[y | x] = xᵀβ + b for amounts y > 0."""

from __future__ import annotations

from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.mathematics.losses.tweedie import Gamma
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor


@with_parameters
class GammaRegressor(DevianceRegressor):
    """Gamma regression for positive amounts, with a log link and an L2 penalty.

    The standard deviation of y is proportional to its mean, as for prices, durations or sizes of
    claims: an error of 10% counts the same for small and large amounts.

    Formula: β̂, b̂ = argmin (Σ wᵢ dᵢ)/(2Σ wᵢ) + α/2·‖β‖² with the deviance dᵢ = 2(yᵢ/μᵢ −
    log(yᵢ/μᵢ) − 1) and the predicted mean μᵢ = exp(xᵢᵀβ + b).

    Cost: O(n d²) for each of about five Newton steps; O(n d) per iteration of L-BFGS with more than
    500 columns. Rows may be dense or sparse, and may be read block by block.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.log([[1.0], [2.0], [4.0], [8.0]]), [2.0, 4.0, 8.0, 16.0]
    >>> model = th.GammaRegressor(alpha=0.0).fit(X, y)
    >>> model.predict(np.log([[3.0]])).round(2)
    array([6.])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _loss(self) -> Gamma:
        return Gamma()

    def _slope_unit(self, mean: float) -> float:
        return 1.0
