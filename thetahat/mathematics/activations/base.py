"""Interface of activations x = σ(t): the value, the derivative, and both in place for networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating
from thetahat.mathematics.parts import Part


class Activation(Part, ABC):
    """Base class of activations x = σ(t), which layers apply to every entry t = wᵀx + b.

    Concrete activations are frozen dataclasses. A network keeps the outputs x of its layers, not
    the arguments t, so that σ′ is a function of x. Cost: O(size of t).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> relu = th.activations.named("relu")
    >>> relu.value(np.array([-1.0, 0.0, 2.0])), relu.derivative(np.array([-1.0, 0.0, 2.0]))
    (array([0., 0., 2.]), array([0., 0., 1.]))
    """

    smooth: ClassVar[bool] = True
    """Whether σ′ is continuous."""
    differentiable: ClassVar[bool] = True
    """False if σ′ is 0 wherever it exists, so that gradients cannot train the layers below."""
    gain: ClassVar[float] = 6.0
    """The constant c of the bound √(c/(inputs + outputs)) of Glorot's initial weights."""

    def value(self, t: Array) -> Array:
        """Return σ(t); integers give float64."""
        xp, t = floating(t)
        return self.apply(xp.asarray(t, copy=True))

    def derivative(self, t: Array) -> Array:
        """Return σ′(t), with the shape of t; at a kink, the value that networks use there."""
        x = self.value(t)
        return self.pull(x, x * 0 + 1)

    @abstractmethod
    def apply(self, t: Array) -> Array:
        """Replace t by σ(t), in place, and return it."""

    @abstractmethod
    def pull(self, x: Array, slope: Array) -> Array:
        """Replace the slope ∂F/∂x by ∂F/∂t, in place, and return it; x = σ(t)."""
