"""Robust losses whose pull fades: ρ(r) of r = z − y with ψ = ρ′ → 0 as |r| → ∞.

Not convex: an outlier far enough away is ignored, and a start far enough away can be stuck. The
default scales keep 95% of the efficiency of least squares when the noise is Gaussian of unit
variance; divide residuals by the noise scale first, or multiply the scale by it. With u = r/scale:

=========  =========================  =============  ==============
loss       ρ(r)                       ψ(r)           weight ψ(r)/r
=========  =========================  =============  ==============
Forsyth    u²/(1 + u²)                2u/a·w²        2/a²·w²
Cauchy     a²/2·log(1 + u²)           r·w            w
Tukey      a²/6·(1 − [1 − u²]₊³)      r·[1 − u²]₊²   [1 − u²]₊²
=========  =========================  =============  ==============

where a is the scale and w = 1/(1 + u²).
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import residuals
from thetahat.mathematics.losses.base import Curved, Reweightable
from thetahat.mathematics.losses.constants import robust_constant
from thetahat.mathematics.parts import require_number


@dataclass(frozen=True)
class Forsyth(Curved, Reweightable):
    """Forsyth's bounded loss ℓ(y, z) = r²/(scale² + r²), with r = z − y.

    No row costs more than 1. Also known as Geman-McClure. Cost: O(n).

    Parameters
    ----------
    scale : float, default=3.787
        The |r| that costs one half; > 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Forsyth(scale=1.0).value(np.zeros(2), np.array([1.0, 1000.0])).round(3)
    array([0.5, 1. ])
    """

    scale: float = 3.787

    name = "forsyth"
    aliases = ("geman_mcclure",)
    convex = False

    def __post_init__(self) -> None:
        require_number(self, "scale", above=0)

    def value(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        square = (r / self.scale) ** 2
        return square / (1 + square)

    def gradient(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return self.irls_weight(y, z) * r

    def curvature(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        square = (r / self.scale) ** 2
        return self.irls_weight(y, z) * ((1 - 3 * square) / (1 + square))

    def irls_weight(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return 2 * (1 / (1 + (r / self.scale) ** 2) / self.scale) ** 2

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return robust_constant(self, y, weight)


@dataclass(frozen=True)
class Cauchy(Curved, Reweightable):
    """The Cauchy loss ℓ(y, z) = scale²/2·log(1 + (r/scale)²), with r = z − y.

    Near 0 it is r²/2; far out it grows like a logarithm. It is the negative log-likelihood of
    Cauchy noise, up to factor and constant. Cost: O(n).

    Parameters
    ----------
    scale : float, default=2.385
        The |r| of the strongest pull; > 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Cauchy(scale=1.0).value(np.zeros(1), np.ones(1)).round(6)
    array([0.346574])
    """

    scale: float = 2.385

    name = "cauchy"
    aliases = ("lorentzian",)
    convex = False

    def __post_init__(self) -> None:
        require_number(self, "scale", above=0)

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return self.scale**2 / 2 * xp.log1p((r / self.scale) ** 2)

    def gradient(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return self.irls_weight(y, z) * r

    def curvature(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        square = (r / self.scale) ** 2
        return (1 - square) / (1 + square) / (1 + square)

    def irls_weight(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return 1 / (1 + (r / self.scale) ** 2)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return robust_constant(self, y, weight)


@dataclass(frozen=True)
class Tukey(Curved, Reweightable):
    """Tukey's biweight: scale²/6·(1 − (1 − (r/scale)²)³) while |r| ≤ scale, then constant.

    Here r = z − y. Rows farther than the scale have no pull at all. Cost: O(n).

    Parameters
    ----------
    scale : float, default=4.685
        Where the loss becomes constant; > 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Tukey(scale=3.0).value(np.zeros(3), np.array([0.0, 3.0, 50.0]))
    array([0. , 1.5, 1.5])
    """

    scale: float = 4.685

    name = "tukey"
    aliases = ("biweight", "bisquare")
    convex = False

    def __post_init__(self) -> None:
        require_number(self, "scale", above=0)

    def value(self, y: Array, z: Array) -> Array:
        square = self._clipped_square(y, z)
        return self.scale**2 / 6 * square * (3 - 3 * square + square * square)

    def gradient(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return self.irls_weight(y, z) * r

    def curvature(self, y: Array, z: Array) -> Array:
        square = self._clipped_square(y, z)
        return (1 - square) * (1 - 5 * square)

    def irls_weight(self, y: Array, z: Array) -> Array:
        return (1 - self._clipped_square(y, z)) ** 2

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return robust_constant(self, y, weight)

    def _clipped_square(self, y: Array, z: Array) -> Array:
        """min(|r|/scale, 1)²."""
        xp, r = residuals(y, z)
        return xp.clip(xp.abs(r) / self.scale, None, 1) ** 2
