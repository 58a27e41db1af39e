"""The features behind the Gaussian kernel, written out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from array_api_compat import array_namespace

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.given import FeatureMap


@dataclass(frozen=True)
class GaussianPowers:
    """The functions φ_l(x) = e^{−γx²}·x^l for l = 0, …, terms − 1, of one column."""

    gamma: float
    terms: int

    def __call__(self, X: Array) -> Array:
        if X.shape[1] != 1:
            raise DataError(
                f"rbf_series: X has {X.shape[1]} columns, but the expansion is for one column. Use "
                "th.Nystroem or th.kernels.RBF itself."
            )
        xp = array_namespace(X)
        decay, size = -self.gamma * X * X, xp.abs(X)
        logarithm = xp.log(xp.where(size > 0, size, xp.ones_like(size)))
        features = [xp.exp(decay)]
        for power in range(1, self.terms):
            feature = xp.exp(decay + power * logarithm)  # e^{−γx²} alone may be 0, and x^l infinite
            feature = xp.where(size > 0, feature, xp.zeros_like(feature))
            features.append(xp.where(X < 0, -feature, feature) if power % 2 else feature)
        return xp.concat(features, axis=1)


def rbf_series(gamma: float = 0.5, terms: int = 12) -> FeatureMap:
    """Expand the Gaussian kernel of one column into a sum of products of features.

    Formula: exp(−γ(x − z)²) = Σ_l λ_l φ_l(x) φ_l(z) with φ_l(x) = e^{−γx²}x^l and
    λ_l = (2γ)^l/l!, l = 0, 1, …; the kernel has infinitely many features, of which the first are
    kept. The error is at most (2γ|xz|)^terms/terms! for small |xz|. Cost: O(n·terms) for the
    features.

    Parameters
    ----------
    gamma : float, default=0.5
        The inverse squared width of the kernel (γ). Must be positive.
    terms : int, default=12
        The number of terms of the series that are kept. More terms are more accurate.

    Returns
    -------
    FeatureMap
        The kernel of the first features, an approximation of ``RBF(gamma=gamma)``.

    Examples
    --------
    >>> import thetahat as th
    >>> series, exact = th.kernels.rbf_series(), th.kernels.RBF(gamma=0.5)
    >>> float(abs(series([[1.0]], [[-0.5]]) - exact([[1.0]], [[-0.5]])).max()) < 1e-9
    True
    """
    if not gamma > 0 or not math.isfinite(gamma):
        raise ParameterError(f"rbf_series: gamma={gamma!r} must be a finite number > 0.")
    if not isinstance(terms, int) or terms < 1:
        raise ParameterError(f"rbf_series: terms={terms!r} must be a whole number ≥ 1.")
    weights = tuple(_weight(gamma, power) for power in range(terms))
    if not all(0 < weight < math.inf for weight in weights):
        most = next(i for i, weight in enumerate(weights) if not 0 < weight < math.inf)
        raise ParameterError(
            f"rbf_series: terms={terms!r} is too large for gamma={gamma:g}: the weight "
            f"(2·gamma)^l/l! of the term l = {most} is beyond the range of floating-point numbers. "
            f"Use at most {most} terms, or th.kernels.RBF itself."
        )
    return FeatureMap(GaussianPowers(float(gamma), terms), weights)


def _weight(gamma: float, power: int) -> float:
    """(2γ)^l/l!, without the overflow of its factors."""
    if power <= 20:
        return (2 * gamma) ** power / math.factorial(power)
    exponent = power * math.log(2 * gamma) - math.lgamma(power + 1)
    return math.exp(exponent) if exponent < 709 else math.inf
