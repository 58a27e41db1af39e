"""The hyperbolic tangent: σ(t) = tanh t."""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation


@dataclass(frozen=True)
class Tanh(Activation):
    """The hyperbolic tangent σ(t) = tanh t, between −1 and 1, with σ′ = 1 − σ² ≤ 1.

    It is odd, so that activations have a mean near 0. Cost: O(size of t).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.activations.Tanh().value(np.array([-1000.0, 0.0, 1000.0]))
    array([-1.,  0.,  1.])
    """

    name = "tanh"

    def apply(self, t: Array) -> Array:
        t[...] = namespace(t).tanh(t)
        return t

    def pull(self, x: Array, slope: Array) -> Array:
        slope *= 1 - x * x
        return slope
