"""The identity: σ(t) = t, for linear layers."""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation


@dataclass(frozen=True)
class Identity(Activation):
    """The identity σ(t) = t, with σ′ = 1.

    Layers with this activation are linear, and several of them in a row are one linear map.
    Cost: O(1).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.activations.Identity().value(np.array([-1.0, 2.0]))
    array([-1.,  2.])
    """

    name = "identity"
    aliases = ("linear",)

    def apply(self, t: Array) -> Array:
        return t

    def pull(self, x: Array, slope: Array) -> Array:
        return slope
