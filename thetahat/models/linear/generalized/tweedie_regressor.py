"""Regression with a Tweedie distribution: the variance of y is φ·μ^p."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import from_to, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.losses.base import Curved
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.losses.tweedie import Gamma, Tweedie
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor


@with_parameters
class TweedieRegressor(DevianceRegressor):
    """A generalised linear model whose variance is a power of the mean, with an L2 penalty.

    Power 0 is the normal distribution, 1 the Poisson and 2 the Gamma distribution; between 1 and 2
    lie amounts that are often 0 and positive otherwise, such as rainfall or the claims of an
    insured.

    Formula: β̂, b̂ = argmin (Σ wᵢ dᵢ)/(2Σ wᵢ) + α/2·‖β‖² with the deviance dᵢ = 2(yᵢ²⁻ᵖ/((1 − p)(2
    − p)) − yᵢ μᵢ¹⁻ᵖ/(1 − p) + μᵢ²⁻ᵖ/(2 − p)), or its limit at p = 1 and 2, and the predicted mean
    μᵢ = exp(xᵢᵀβ + b), or xᵢᵀβ + b with the identity link.

    Cost: O(n d²) for each of about five Newton steps; O(n d) per iteration of L-BFGS with more than
    500 columns. Rows may be dense or sparse, and may be read block by block.

    Parameters
    ----------
    power : float, default=0.0
        Power of the mean in the variance (p): 0, or from 1 to 2. Larger values give large amounts
        less influence.
    link : {"auto", "identity", "log"}, default="auto"
        Link between the mean and the linear predictor. "auto" is "identity" for power 0 and "log"
        otherwise; other combinations are not available.

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
        "power": from_to(0, 2),
        "link": one_of("auto", "identity", "log"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = bool(self.power)
        return tags

    def _loss(self) -> Curved:
        power, link = self.power, self.link
        if power == 0 and link != "log":
            return Squared()
        if not 1 <= power <= 2 or link == "identity":
            raise ParameterError(
                f"TweedieRegressor: power={self.power!r} with link={link!r} is not available. Use "
                "power=0 with the identity link, or a power from 1 to 2 with the log link."
            )
        if power == 1:
            return Poisson()
        return Gamma() if power == 2 else Tweedie(float(power))

    def _slope_unit(self, mean: float) -> float:
        return 1.0 if self.power == 0 else mean ** (2.0 - self.power)
