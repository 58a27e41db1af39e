"""Regression with a Tweedie distribution: the variance of y is φ·μ^p."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Real
from typing import Any

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import from_to, one_of
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.power_deviance import PowerDeviance
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.losses.tweedie import Gamma, Tweedie
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor
from thetahat.objective.predictor import LinearPredictor


@with_parameters
class TweedieRegressor(DevianceRegressor):
    """A generalised linear model whose variance is a power of the mean, with an L2 penalty.

    Power 0 is the normal distribution, 1 the Poisson, 2 the Gamma and 3 the inverse Gaussian
    distribution; between 1 and 2 lie amounts that are often 0 and positive otherwise, such as
    rainfall or the claims of an insured.

    Formula: β̂, b̂ = argmin (Σ wᵢ dᵢ)/(2Σ wᵢ) + α/2·‖β‖² with the deviance dᵢ = 2(yᵢ²⁻ᵖ/((1 − p)(2
    − p)) − yᵢ μᵢ¹⁻ᵖ/(1 − p) + μᵢ²⁻ᵖ/(2 − p)), or its limit at p = 1 and 2, and the predicted mean
    μᵢ = exp(xᵢᵀβ + b), or xᵢᵀβ + b for power 0 with the identity link.

    Cost: O(n d²) for each of about five Newton steps; O(n d) per iteration of L-BFGS with more than
    500 columns, and for powers below 1 or above 2 with the log link. These have no convex deviance,
    and the fit is a local minimum. Rows may be dense or sparse, and may be read block by block.

    Parameters
    ----------
    power : float, default=0.0
        Power of the mean in the variance (p). Larger values give large amounts less influence. Must
        be from −100 to 0 or from 1 to 100: there is no distribution between 0 and 1. Targets can be
        any numbers for powers up to 0, must be ≥ 0 from power 1 on, and > 0 from power 2 on.
    link : {"auto", "identity", "log"}, default="auto"
        Link between the mean and the linear predictor. "auto" is "identity" for power 0 and "log"
        otherwise. "identity" is available for power 0 only.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.log([[1.0], [2.0], [4.0], [8.0]]), [2.0, 4.0, 8.0, 16.0]
    >>> model = th.TweedieRegressor(power=1.5, alpha=0.0).fit(X, y)
    >>> model.predict(np.log([[3.0]])).round(2)
    array([6.])
    """

    _: KW_ONLY
    power: float = 0.0
    alpha: float = 1.0
    fit_intercept: bool = True
    link: str = "auto"

    _ranges = {  # noqa: RUF012
        **DevianceRegressor._ranges,
        "power": from_to(-100, 0) | from_to(1, 100),
        "link": one_of("auto", "identity", "log"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Tags are read before parameters are checked.
        tags.target_tags.positive_only = isinstance(self.power, Real) and self.power >= 1
        return tags

    def _loss(self) -> Curved:
        power = float(self.power)
        if power == 0 and self.link != "log":
            return Squared()
        if self.link == "identity":
            raise ParameterError(
                f"TweedieRegressor: power={self.power!r} with link='identity' is not available, "
                "because the mean must be positive. Use link='log', or power=0."
            )
        if 1 < power < 2:
            return Tweedie(power)
        return {1.0: Poisson(), 2.0: Gamma()}.get(power) or PowerDeviance(power)

    def _start(
        self, loss: Curved, mean: float, source: Source, predictor: LinearPredictor
    ) -> Array:
        if isinstance(loss, PowerDeviance) and not mean > 0:
            raise DataError(
                f"TweedieRegressor: the mean of y is {mean:.6g}, but with the log link all means "
                "are positive. Use link='identity' with power=0, or other targets."
            )
        return super()._start(loss, mean, source, predictor)

    def _slope_unit(self, mean: float) -> float:
        return 1.0 if self._loss().quadratic else abs(mean) ** (2.0 - self.power)
