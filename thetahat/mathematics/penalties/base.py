"""What a penalty is: R(θ) with a gradient, a proximal step, or both.

The penalty is added to the mean loss, (Σ wᵢ ℓᵢ)/(Σ wᵢ) + R(θ), and never touches the intercept. θ
is (d,), or (d, k) with one column per output. What a penalty can do is said by its type:

==================  ===========================================================================
`Penalty`           ``value``
`SmoothPenalty`     and ``gradient`` and ``curvature`` (the diagonal of ∇²R)
`Proximable`        and ``prox(θ, step)`` = argmin_u ½‖u − θ‖² + step·R(u)
`Separable`         proximable coordinate by coordinate
`Coordinatewise`    and of the form Σ l1|θ| + l2·θ²/2 in a box: for the compiled sweeps, and ``&``
==================  ===========================================================================

`Proximable` penalties own their optimality measure: ``optimality_gap(θ, g)`` is the distance from
−g to ∂R(θ), where g is the gradient of the smooth part; it is 0 exactly at a stationary point.
Results have the namespace, device and dtype of θ, and cost O(size of θ).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part


class Penalty(Part, ABC):
    """R(θ). Concrete penalties are frozen dataclasses, so values compare."""

    convex: ClassVar[bool] = True

    @abstractmethod
    def value(self, theta: Array) -> float:
        """R(θ); infinity outside a constraint set."""

    def __and__(self, other: Penalty) -> Penalty:
        """Both penalties at once, R₁(θ) + R₂(θ), where the proximal step of the sum is known."""
        raise no_exact_sum(self)


class SmoothPenalty(Penalty):
    """A penalty with a gradient and a diagonal Hessian."""

    @abstractmethod
    def gradient(self, theta: Array) -> Array:
        """∇R(θ), shape of θ."""

    @abstractmethod
    def curvature(self, theta: Array) -> Array:
        """The diagonal of ∇²R(θ), shape of θ."""


class Proximable(Penalty):
    """A penalty with a proximal step."""

    @abstractmethod
    def prox(self, theta: Array, step: float) -> Array:
        """argmin_u ½‖u − θ‖² + step·R(u)."""

    @abstractmethod
    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Largest coordinate (or group) distance from −gradient to ∂R(θ)."""


class Separable(Proximable):
    """A penalty that is a sum over coordinates, so coordinate descent applies."""


def no_exact_sum(penalty: Penalty) -> CapabilityError:
    """The refusal to combine a penalty with others."""
    return CapabilityError(
        f"{type(penalty).__name__} cannot be combined: the proximal step of the sum is not the "
        "steps of its parts. Combine only NoPenalty, L2, L1, ElasticNet, OffDiagonalL1, "
        "NonNegative and Box."
    )
