"""One loss for each column of z: the sum of ℓ(y_k, z_k) over the outputs k.

Several targets, several labels at once, and one class against the rest are such sums.
"""

from __future__ import annotations

from dataclasses import dataclass

from thetahat.data.arrays import namespace
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Smooth, Subdifferentiable, Targets
from thetahat.mathematics.losses.links import Link


@dataclass(frozen=True)
class PerOutput(Subdifferentiable):
    """ℓ(y, z) = Σ_k ℓ₁(y_k, z_k), with y and z of the same shape (n, k)."""

    each: Subdifferentiable

    name = "per_output"
    columns = "per output"

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return self.each.convex

    @property
    def targets(self) -> Targets:  # type: ignore[override]
        return self.each.targets

    @property
    def link(self) -> Link:  # type: ignore[override]
        return self.each.link

    def value(self, y: Array, z: Array) -> Array:
        return namespace(z).sum(self.each.value(y, z), axis=-1)

    def gradient(self, y: Array, z: Array) -> Array:
        return self.each.gradient(y, z)

    def mean(self, z: Array) -> Array:
        return self.each.mean(z)

    def one_output(self) -> Subdifferentiable:
        return self.each

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        raise CapabilityError("A sum of losses has no best constant of its own.")


class SmoothPerOutput(PerOutput, Smooth):
    """A sum of smooth losses."""


def per_output(loss: Subdifferentiable) -> PerOutput:
    """The sum of a loss over the columns of z."""
    return SmoothPerOutput(loss) if isinstance(loss, Smooth) else PerOutput(loss)
