"""Robust losses ρ(r) of r = z − y with a bounded influence that vanishes: ψ = ρ′ → 0 as |r| → ∞.

They are not convex: distant outliers are ignored, and a solver that starts far from the solution
may stop at a local minimum. With the default scales the estimates keep 95% of the efficiency of
least squares if the noise is Gaussian with unit variance. For noise of another size, divide the
residuals by its standard deviation, or multiply the scale by it. With u = r/scale:

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
from thetahat.mathematics.parts import number


class Redescending(Curved, Reweightable):
    """Base class of these losses: they state ρ, ρ″ and the weight ψ(r)/r."""

    scale: float
    convex = False

    def gradient(self, y: Array, z: Array) -> Array:
        return self.irls_weight(y, z) * residuals(y, z)[1]

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return robust_constant(self, y, weight)


@dataclass(frozen=True)
class Forsyth(Redescending):
    """Forsyth's bounded loss ℓ(y, z) = r²/(scale² + r²), with r = z − y.

    The loss of a row is at most 1. It is also known as the Geman-McClure loss. Cost: O(n).

    Parameters
    ----------
    scale : float, default=3.787
        The absolute residual |r| at which the loss is one half. Smaller values reduce the influence
        of outliers more. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Forsyth(scale=1.0).value(np.zeros(2), np.array([1.0, 1000.0])).round(3)
    array([0.5, 1. ])
    """

    scale: float = number(3.787, above=0)

    name = "forsyth"
    aliases = ("geman_mcclure",)

    def value(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        square = (r / self.scale) ** 2
        return square / (1 + square)

    def curvature(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        square = (r / self.scale) ** 2
        return self.irls_weight(y, z) * ((1 - 3 * square) / (1 + square))

    def irls_weight(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return 2 * (1 / (1 + (r / self.scale) ** 2) / self.scale) ** 2


@dataclass(frozen=True)
class Cauchy(Redescending):
    """The Cauchy loss ℓ(y, z) = scale²/2·log(1 + (r/scale)²), with r = z − y.

    It is close to r²/2 for small residuals and grows like a logarithm for large ones. It is the
    negative log-likelihood of Cauchy noise, up to a factor and a constant. Cost: O(n).

    Parameters
    ----------
    scale : float, default=2.385
        The absolute residual |r| at which the gradient is largest. Smaller values reduce the
        influence of outliers more. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Cauchy(scale=1.0).value(np.zeros(1), np.ones(1)).round(6)
    array([0.346574])
    """

    scale: float = number(2.385, above=0)

    name = "cauchy"
    aliases = ("lorentzian",)

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return self.scale**2 / 2 * xp.log1p((r / self.scale) ** 2)

    def curvature(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        square = (r / self.scale) ** 2
        return (1 - square) / (1 + square) / (1 + square)

    def irls_weight(self, y: Array, z: Array) -> Array:
        _, r = residuals(y, z)
        return 1 / (1 + (r / self.scale) ** 2)


@dataclass(frozen=True)
class Tukey(Redescending):
    """Tukey's biweight loss: scale²/6·(1 − (1 − (r/scale)²)³) if |r| ≤ scale, constant beyond.

    Here r = z − y. Rows with |r| above the scale have zero gradient, so they do not influence the
    fit. Cost: O(n).

    Parameters
    ----------
    scale : float, default=4.685
        The absolute residual |r| beyond which the loss is constant. Smaller values ignore more
        rows. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Tukey(scale=3.0).value(np.zeros(3), np.array([0.0, 3.0, 50.0]))
    array([0. , 1.5, 1.5])
    """

    scale: float = number(4.685, above=0)

    name = "tukey"
    aliases = ("biweight", "bisquare")

    def value(self, y: Array, z: Array) -> Array:
        square = self._clipped_square(y, z)
        return self.scale**2 / 6 * square * (3 - 3 * square + square * square)

    def curvature(self, y: Array, z: Array) -> Array:
        square = self._clipped_square(y, z)
        return (1 - square) * (1 - 5 * square)

    def irls_weight(self, y: Array, z: Array) -> Array:
        return (1 - self._clipped_square(y, z)) ** 2

    def _clipped_square(self, y: Array, z: Array) -> Array:
        """min(|r|/scale, 1)²."""
        xp, r = residuals(y, z)
        return xp.clip(xp.abs(r) / self.scale, None, 1) ** 2
