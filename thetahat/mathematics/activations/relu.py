"""The rectified linear unit: σ(t) = max(0, t), and its leaky version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thetahat.data.arrays import namespace
from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class ReLU(Activation):
    """The rectified linear unit σ(t) = max(0, t), with σ′ = 1 for t > 0 and 0 for t ≤ 0.

    At the kink t = 0 the derivative is taken to be 0. Cost: O(size of t).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.activations.ReLU().value(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """

    leak: ClassVar[float] = 0.0

    name = "relu"
    smooth = False

    def apply(self, t: Array) -> Array:
        if type(t) is np.ndarray:
            return np.maximum(t, 0, out=t)
        t[...] = namespace(t).clip(t, 0, None)
        return t

    def pull(self, x: Array, slope: Array) -> Array:
        slope *= x > 0
        return slope


@dataclass(frozen=True)
class LeakyReLU(Activation):
    """The leaky rectified linear unit: t for t > 0, and leak·t for t ≤ 0.

    The derivative is 1 for t > 0 and `leak` for t ≤ 0, the kink included, so that no unit stops
    learning. Cost: O(size of t).

    Parameters
    ----------
    leak : float, default=0.01
        Slope for negative arguments. 0 gives `ReLU`, larger values are closer to the identity. Must
        be at least 0 and less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.activations.LeakyReLU(leak=0.1).value(np.array([-1.0, 0.0, 2.0]))
    array([-0.1,  0. ,  2. ])
    """

    leak: float = number(0.01, at_least=0, below=1)

    name = "leaky_relu"
    smooth = False

    def apply(self, t: Array) -> Array:
        t[...] = namespace(t).where(t > 0, t, self.leak * t)
        return t

    def pull(self, x: Array, slope: Array) -> Array:
        slope[...] = namespace(slope).where(x > 0, slope, self.leak * slope)
        return slope
