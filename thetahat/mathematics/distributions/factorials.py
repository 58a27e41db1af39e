"""The Γ and B functions, which normalise many densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import beta, gamma

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


def gamma_function(x: Any) -> Array:
    """Compute Γ(x), the factorial of x − 1 for any positive number.

    Formula: Γ(x) = ∫₀^∞ t^{x−1} e^{−t} dt, with Γ(x + 1) = x·Γ(x) and Γ(n) = (n − 1)! for whole n.
    It is infinite in float64 beyond x = 171. Cost: O(1) per number.

    Parameters
    ----------
    x : array-like
        Positive numbers, whole or not.

    Returns
    -------
    array of the shape of x

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.gamma_function([3, 0.5]).round(6)
    array([2.      , 1.772454])
    """
    return np.asarray(gamma(_positive(x, "x", "gamma_function")))


def beta_function(alpha: Any, beta_: Any) -> Array:
    """Compute B(α, β), the normalising constant of the Beta distribution.

    Formula: B(α, β) = ∫₀¹ t^{α−1}(1 − t)^{β−1} dt = Γ(α)Γ(β)/Γ(α + β). Cost: O(1) per number.

    Parameters
    ----------
    alpha : array-like
        Positive numbers (α), the first shape parameter.
    beta_ : array-like
        Positive numbers (β), the second shape parameter.

    Returns
    -------
    array of the broadcast shape of both

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.beta_function(2, 3).round(6)
    np.float64(0.083333)
    """
    a, b = _positive(alpha, "alpha", "beta_function"), _positive(beta_, "beta_", "beta_function")
    return np.asarray(beta(a, b))


def _positive(given: Any, name: str, who: str) -> Array:
    values = numbers(given, name, who)
    if (values <= 0).any():
        raise ParameterError(
            f"{who}: {name} must be > 0, but it contains {values[values <= 0].flat[0]:g}. Give "
            "positive numbers."
        )
    return values
