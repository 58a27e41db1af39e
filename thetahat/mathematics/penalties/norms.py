"""None, L2, L1 and elastic net: sums of |θ_j| and θ_j²."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import require_number
from thetahat.mathematics.penalties.base import SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import CoordinateTerms, Coordinatewise


@dataclass(frozen=True)
class NoPenalty(Coordinatewise, SmoothPenalty):
    """No penalty: R(θ) = 0. Cost: O(d).

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
    """The ridge penalty R(θ) = alpha/2·‖θ‖₂²: shrinks all coefficients. Cost: O(d).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength; ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L2(alpha=0.5).value(np.array([1.0, -2.0]))
    1.25
    """

    alpha: float = 1.0

    name = "l2"
    aliases = ("ridge",)

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0)

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
    """The lasso penalty R(θ) = alpha·‖θ‖₁: sets coefficients exactly to zero. Cost: O(d).

    Its prox is soft thresholding, sign(θ)·[|θ| − step·alpha]₊.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength; ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L1(alpha=0.5).prox(np.array([2.0, -0.25]), step=1.0)
    array([1.5, 0. ])
    """

    alpha: float = 1.0

    name = "l1"
    aliases = ("lasso",)

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0)

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(l1=self.alpha)


@dataclass(frozen=True)
class ElasticNet(Coordinatewise):
    """The elastic net R(θ) = alpha·(l1_ratio·‖θ‖₁ + (1 − l1_ratio)/2·‖θ‖₂²). Cost: O(d).

    Sparse like the lasso, but correlated columns share their weight.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength; ≥ 0.
    l1_ratio : float, default=0.5
        Share of the L1 norm, between 0 (ridge) and 1 (lasso).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.ElasticNet(alpha=1.0, l1_ratio=0.5).value(np.array([2.0, -2.0]))
    4.0
    """

    alpha: float = 1.0
    l1_ratio: float = 0.5

    name = "elastic_net"
    aliases = ("elasticnet",)

    def __post_init__(self) -> None:
        require_number(self, "alpha", at_least=0)
        require_number(self, "l1_ratio", at_least=0, at_most=1)

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(l1=self.alpha * self.l1_ratio, l2=self.alpha * (1 - self.l1_ratio))
