"""The threshold: σ(t) = 1 beyond 0, with the value at 0 as a parameter."""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.data.arrays import namespace
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation


@dataclass(frozen=True)
class Step(Activation):
    """The threshold σ(t) = 1 for t > 0 and 0 for t < 0; σ(0) is a parameter.

    Both conventions are in use: 1[t > 0] has σ(0) = 0, and 1[t ≥ 0] has σ(0) = 1. The derivative is
    0 everywhere, so that networks of steps are built by hand and not trained by gradients. Cost:
    O(size of t).

    Parameters
    ----------
    at_zero : {0, 1}, default=0
        Value at t = 0: 0 for 1[t > 0], 1 for 1[t ≥ 0].

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> t = np.array([-1.0, 0.0, 2.0])
    >>> th.activations.Step().value(t), th.activations.Step(at_zero=1).value(t)
    (array([0., 0., 1.]), array([0., 1., 1.]))
    """

    at_zero: int = 0

    name = "step"
    aliases = ("threshold", "heaviside")
    smooth = False
    differentiable = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.at_zero, bool) or self.at_zero not in (0, 1):
            raise ParameterError(
                f"Step(at_zero={self.at_zero!r}): at_zero, the value at t = 0, must be 0 or 1."
            )

    def apply(self, t: Array) -> Array:
        beyond = t >= 0 if self.at_zero else t > 0
        t[...] = namespace(t).astype(beyond, t.dtype)
        return t

    def pull(self, x: Array, slope: Array) -> Array:
        slope *= 0
        return slope
