"""NoPenalty, L2, L1 and ElasticNet: sums of |θ_j| and θ_j²."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import number
from thetahat.mathematics.penalties.base import SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import CoordinateTerms, Coordinatewise


@dataclass(frozen=True)
class NoPenalty(Coordinatewise, SmoothPenalty):
    """No penalty: R(θ) = 0. Cost: O(d).

    Constraints and other penalties can be added to it with ``&``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.NoPenalty().value(np.ones(3))
    0.0
    """

    name = "none"

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms()

    def gradient(self, theta: Array) -> Array:
        return array_namespace(theta).zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return array_namespace(theta).zeros_like(theta)


@dataclass(frozen=True)
class L2(Coordinatewise, SmoothPenalty):
    """The ridge penalty R(θ) = alpha/2·‖θ‖₂², which shrinks all coefficients. Cost: O(d).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. Larger values shrink the coefficients more; 0 removes the penalty.
        Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L2(alpha=0.5).value(np.array([1.0, -2.0]))
    1.25
    """

    alpha: float = number(1.0, at_least=0)

    name = "l2"
    aliases = ("ridge",)

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(l2=self.alpha)

    def value(self, theta: Array) -> float:
        return self.alpha / 2 * float(namespace(theta).sum(theta * theta))

    def gradient(self, theta: Array) -> Array:
        return self.alpha * theta

    def curvature(self, theta: Array) -> Array:
        return namespace(theta).full_like(theta, self.alpha)


@dataclass(frozen=True)
class L1(Coordinatewise):
    """The lasso penalty R(θ) = alpha·‖θ‖₁, which sets coefficients exactly to zero. Cost: O(d).

    Its prox is soft thresholding, sign(θ)·[|θ| − step·alpha]₊.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. Larger values set more coefficients to zero; 0 removes the penalty.
        Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L1(alpha=0.5).prox(np.array([2.0, -0.25]), step=1.0)
    array([1.5, 0. ])
    """

    alpha: float = number(1.0, at_least=0)

    name = "l1"
    aliases = ("lasso",)

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(l1=self.alpha)


@dataclass(frozen=True)
class ElasticNet(Coordinatewise):
    """The elastic net R(θ) = alpha·(l1_ratio·‖θ‖₁ + (1 − l1_ratio)/2·‖θ‖₂²). Cost: O(d).

    It sets coefficients exactly to zero like the lasso, but gives correlated columns similar
    coefficients instead of choosing one of them.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. Larger values shrink the coefficients more and set more of them to
        zero; 0 removes the penalty. Must be non-negative.
    l1_ratio : float, default=0.5
        Share of the L1 norm in the penalty: 0 gives the ridge penalty, 1 the lasso. Larger values
        set more coefficients to zero. Must lie between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.ElasticNet(alpha=1.0, l1_ratio=0.5).value(np.array([2.0, -2.0]))
    4.0
    """

    alpha: float = number(1.0, at_least=0)
    l1_ratio: float = number(0.5, at_least=0, at_most=1)

    name = "elastic_net"
    aliases = ("elasticnet",)

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(l1=self.alpha * self.l1_ratio, l2=self.alpha * (1 - self.l1_ratio))
