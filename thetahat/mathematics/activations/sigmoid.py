"""The logistic function: σ(t) = e^t/(1 + e^t)."""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation


@dataclass(frozen=True)
class Sigmoid(Activation):
    """The logistic function σ(t) = e^t/(1 + e^t), between 0 and 1, with σ′ = σ(1 − σ) ≤ ¼.

    It saturates: for large |t| the derivative is nearly 0, so that large initial weights stop the
    training. Computed as ½ + ½·tanh(t/2), which does not overflow. Cost: O(size of t).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> sigmoid = th.activations.Sigmoid()
    >>> sigmoid.value(np.array([-1000.0, 0.0, 1000.0])), sigmoid.derivative(np.zeros(1))
    (array([0. , 0.5, 1. ]), array([0.25]))
    """

    name = "sigmoid"
    aliases = ("logistic",)
    gain = 2.0

    def apply(self, t: Array) -> Array:
        t *= 0.5
        t[...] = namespace(t).tanh(t)
        t *= 0.5
        t += 0.5
        return t

    def pull(self, x: Array, slope: Array) -> Array:
        slope *= x
        slope *= 1 - x
        return slope
