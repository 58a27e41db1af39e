"""Losses with a dual form that has one bounded variable per row, as in support vector machines.

    ℓ(y, z) = max over lower ≤ β ≤ upper of  β(y − z) − kink·|β| − curvature·β²/2

β is the dual variable of the row; the β that attains the maximum equals −∂ℓ/∂z. With an L2 penalty
the coefficients are a linear combination of the rows with these dual variables as factors, so rows
with β = 0 do not affect them.

===========================  ===================  ====  =========
loss                         box for β            kink  curvature
===========================  ===================  ====  =========
Hinge                        between 0 and y      0     0
SquaredHinge                 from 0 towards y     0     ½
EpsilonInsensitive           [−1, 1]              ε     0
Absolute                     [−1, 1]              0     0
Quantile                     [level − 1, level]   0     0
SquaredEpsilonInsensitive    all numbers          ε     1
===========================  ===================  ====  =========
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple, TypeGuard

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss, Smooth, Subdifferentiable


class DualBox(NamedTuple):
    """The bounds on the dual variable of every row, and the factors of |β| and β²/2."""

    lower: Array
    upper: Array
    kink: float = 0.0
    curvature: float = 0.0


class BoxDual(Subdifferentiable):
    """A loss with the dual form above."""

    zero_on_a_range: ClassVar[bool] = True
    """Whether ℓ(y, z) = 0 on a range of z, as beyond a margin or in a tube. Rows there have β = 0,
    so that few rows determine the coefficients."""

    @abstractmethod
    def dual_box(self, y: Array) -> DualBox:
        """The bounds and factors of the dual variables of rows with these targets."""


def has_support_vectors(loss: Loss) -> TypeGuard[BoxDual]:
    """Whether the loss has kinks and is 0 on a range, as the losses of support vector machines."""
    return has_box_alone(loss) and loss.zero_on_a_range


def has_box_alone(loss: Loss) -> TypeGuard[BoxDual]:
    """Whether the dual variables have bounds and no squares: `has_support_vectors`, or all rows."""
    return isinstance(loss, BoxDual) and not isinstance(loss, Smooth)
