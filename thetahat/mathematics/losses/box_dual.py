"""Losses that are the best of many lines: what the dual of a support vector machine is made of.

    ℓ(y, z) = max over lower ≤ β ≤ upper of  β(y − z) − kink·|β| − curvature·β²/2

β is the row's multiplier; the one that attains the maximum is −∂ℓ/∂z. With an L2 penalty the
coefficients are a combination of the rows with these multipliers, and rows whose multiplier is 0
have no say in them.

===========================  ===================  ====  =========
loss                         box for β            kink  curvature
===========================  ===================  ====  =========
Hinge                        between 0 and y      0     0
SquaredHinge                 from 0 towards y     0     ½
EpsilonInsensitive           [−1, 1]              ε     0
SquaredEpsilonInsensitive    all numbers          ε     1
===========================  ===================  ====  =========
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Subdifferentiable


class DualBox(NamedTuple):
    """The box of every row's multiplier, and what |β| and β² cost in it."""

    lower: Array
    upper: Array
    kink: float = 0.0
    curvature: float = 0.0


class BoxDual(Subdifferentiable):
    """A loss with that form."""

    @abstractmethod
    def dual_box(self, y: Array) -> DualBox:
        """The box of the multipliers of rows with these targets."""
