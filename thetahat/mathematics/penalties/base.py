"""What a penalty is: R(θ) with a gradient, a proximal step, or both.

The penalty is added to the mean loss, (Σ wᵢ ℓᵢ)/(Σ wᵢ) + R(θ), and never touches the intercept.
What it can do is said by its type:

==================  ===========================================================================
`Penalty`           ``value``
`SmoothPenalty`     and ``gradient`` and ``curvature`` (the diagonal of ∇²R)
`Proximable`        and ``prox(θ, step)`` = argmin_u ½‖u − θ‖² + step·R(u)
`Separable`         proximable coordinate by coordinate
==================  ===========================================================================

`Proximable` penalties own their optimality measure: ``optimality_gap(θ, g)`` is the distance from −g
to ∂R(θ), where g is the gradient of the smooth part; it is 0 exactly at a stationary point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

Array = Any


class Penalty(ABC):
    """R(θ). Concrete penalties are frozen dataclasses, so values compare."""

    name: ClassVar[str]
    """How a string names it: ``penalty="l2"``."""
    convex: ClassVar[bool] = True

    @abstractmethod
    def value(self, theta: Array) -> float:
        """R(θ); infinity outside a constraint set."""

    def get_params(self, deep: bool = True) -> Mapping[str, Any]:
        """The parameters by name, so that ``penalty__alpha`` can be searched."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Penalty:
        """This penalty with some parameters replaced; a new value is returned."""
        from dataclasses import replace

        return replace(self, **params)  # type: ignore[type-var, return-value]


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
