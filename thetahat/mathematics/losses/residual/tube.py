"""ε-insensitive losses: residuals with |z − y| ≤ ε have zero loss."""

from __future__ import annotations

import math
from dataclasses import dataclass

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating, residuals
from thetahat.mathematics.losses.base import Bend, Compiled, Curved, PiecewiseLinear
from thetahat.mathematics.losses.box_dual import BoxDual, DualBox
from thetahat.mathematics.losses.constants import (
    convex_constant,
    weighted_quantile,
    weights_or_ones,
)
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Tube(BoxDual):
    """Base class of both losses."""

    epsilon: float = number(0.1, at_least=0)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        _, y = floating(y)
        return y - self.epsilon, y + self.epsilon


@dataclass(frozen=True)
class EpsilonInsensitive(Tube, PiecewiseLinear):
    """The ε-insensitive loss of support vector regression, ℓ(y, z) = [|z − y| − ε]₊.

    Rows with |z − y| below ε have zero gradient, so small changes of their targets do not change
    the fit. Cost: O(n).

    Parameters
    ----------
    epsilon : float, default=0.1
        Absolute residuals up to this value have zero loss (ε). Larger values ignore more rows and
        give fewer support vectors. Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.EpsilonInsensitive(epsilon=0.5).value(np.zeros(2), np.array([0.4, -2.0]))
    array([0. , 1.5])
    """

    name = "epsilon_insensitive"
    compiled_as = Compiled(7, "epsilon")

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.clip(xp.abs(r) - self.epsilon, 0, None)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.sign(r) * xp.astype(xp.abs(r) > self.epsilon, r.dtype)

    def dual_box(self, y: Array) -> DualBox:
        xp, y = floating(y)
        return DualBox(-xp.ones_like(y), xp.ones_like(y), kink=self.epsilon)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        # 2·max(|r|, ε) = |r − ε| + |r + ε|, so a median of all values y − ε and y + ε is best.
        xp, y = floating(y)
        weight = weights_or_ones(xp, y, weight)
        return weighted_quantile(xp.concat(self.kinks(y)), xp.concat([weight, weight]))

    def bends(self, y: Array) -> tuple[Bend, ...]:
        lower, upper = self.kinks(y)
        return Bend(lower, -1.0, 0.0), Bend(upper, 0.0, 1.0)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Tube, Curved):
    """The squared ε-insensitive loss ℓ(y, z) = [|z − y| − ε]₊²/2.

    Its gradient is continuous; with ε = 0 it is the squared loss. Cost: O(n).

    Parameters
    ----------
    epsilon : float, default=0.1
        Absolute residuals up to this value have zero loss (ε). Larger values ignore more rows and
        give fewer support vectors. Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.SquaredEpsilonInsensitive(epsilon=0.5).value(np.zeros(2), np.array([0.4, 2.5]))
    array([0., 2.])
    """

    name = "squared_epsilon_insensitive"
    compiled_as = Compiled(8, "epsilon")

    def value(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        excess = xp.clip(xp.abs(r) - self.epsilon, 0, None)
        return excess * excess / 2

    def gradient(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return r - xp.clip(r, -self.epsilon, self.epsilon)

    def curvature(self, y: Array, z: Array) -> Array:
        xp, r = residuals(y, z)
        return xp.astype(xp.abs(r) >= self.epsilon, r.dtype)

    def dual_box(self, y: Array) -> DualBox:
        xp, y = floating(y)
        all_ = xp.full_like(y, math.inf)
        return DualBox(-all_, all_, kink=self.epsilon, curvature=1.0)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return convex_constant(self, y, weight)
