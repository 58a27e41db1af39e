"""Interface of penalties: R(θ) with a gradient, a proximal operator, or both.

The penalty is added to the mean loss, (Σ wᵢ ℓᵢ)/(Σ wᵢ) + R(θ). The intercept is not penalised. θ
has shape (d,), or (d, k) with one column per output. The type of a penalty shows what it provides:

==================  ===========================================================================
`Penalty`           ``value``
`SmoothPenalty`     also ``gradient`` and ``curvature`` (the diagonal of ∇²R)
`Proximable`        also ``prox(θ, step)`` = argmin_u ½‖u − θ‖² + step·R(u)
`Separable`         the prox acts on each coordinate separately
`Coordinatewise`    Σ l1|θ| + l2·θ²/2 in a box, as the compiled sweeps and ``&`` need it
==================  ===========================================================================

A `Proximable` penalty also measures optimality: ``optimality_gap(θ, g)`` is the distance from −g to
∂R(θ), where g is the gradient of the smooth part. It is 0 exactly at a stationary point. Results
have the namespace, device and dtype of θ, and cost O(size of θ).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part


class Penalty(Part, ABC):
    """Base class of penalties R(θ); concrete penalties are frozen dataclasses."""

    convex: ClassVar[bool] = True

    @abstractmethod
    def value(self, theta: Array) -> float:
        """R(θ); infinite where θ violates a constraint."""

    def __and__(self, other: Penalty) -> Penalty:
        """The sum R₁(θ) + R₂(θ), for penalties whose sum has a known proximal operator."""
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
    """A penalty with a proximal operator."""

    @abstractmethod
    def prox(self, theta: Array, step: float) -> Array:
        """The proximal operator argmin_u ½‖u − θ‖² + step·R(u)."""

    @abstractmethod
    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Distance from −gradient to ∂R(θ): the largest over coordinates (or groups)."""


class Separable(Proximable):
    """A penalty that is a sum over coordinates, so that coordinate descent applies."""


def no_exact_sum(penalty: Penalty) -> CapabilityError:
    """The error for a penalty that cannot be added to others."""
    return CapabilityError(
        f"{type(penalty).__name__} cannot be combined with other penalties: the proximal operator "
        "of the sum is not known. Only NoPenalty, L2, L1, ElasticNet, OffDiagonalL1, NonNegative "
        "and Box can be combined."
    )
