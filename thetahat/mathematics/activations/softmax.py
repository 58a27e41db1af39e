"""Softmax: positive outputs of a layer that sum to 1."""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation
from thetahat.mathematics.losses.links import row_sums, softmax


@dataclass(frozen=True)
class Softmax(Activation):
    """Softmax σ(t)_c = e^{t_c}/Σ_j e^{t_j} along the last axis: probabilities of classes.

    Its Jacobian is diag(σ) − σσᵀ; `derivative` returns the diagonal σ(1 − σ), and `pull` multiplies
    by the whole matrix. Networks with the softmax loss need no such layer: the loss contains it.
    Cost: O(size of t).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.activations.Softmax().value(np.array([[0.0, np.log(3.0)], [1000.0, 1000.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """

    name = "softmax"

    def apply(self, t: Array) -> Array:
        t[...] = softmax(t)
        return t

    def derivative(self, t: Array) -> Array:
        """Return the diagonal of the Jacobian, σ(1 − σ)."""
        x = self.value(t)
        return x * (1 - x)

    def pull(self, x: Array, slope: Array) -> Array:
        slope -= row_sums(namespace(x), x * slope)[..., None]
        slope *= x
        return slope
