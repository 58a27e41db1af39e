"""The structured risk: F(w) = Σᵢ cᵢ·ℓᵢ(w) + λ/2·‖w‖² with losses of structured outputs.

The structured hinge loss with rescaled margins is ℓ = max over y′ of Δ(y, y′) + w·φ(x, y′) −
w·φ(x, y); the loss of a conditional random field is ℓ = log Σ_y′ exp(w·φ(x, y′)) − w·φ(x, y). The
shares cᵢ are the row weights divided by their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.structures.base import Structure


@dataclass(frozen=True)
class StructuredRisk:
    """Inputs and outputs, their structure and the strength of the penalty."""

    structure: Structure
    X: list[Any]
    Y: list[Any]
    shares: Array
    alpha: float

    convex = True

    @property
    def description(self) -> str:
        """The parts as text for messages."""
        return f"the structured loss of {type(self.structure).__name__}"

    @cached_property
    def true_features(self) -> Array:
        """φ(xᵢ, yᵢ) of every example, one row each."""
        return np.array(
            [joint_features(self.structure, x, y) for x, y in zip(self.X, self.Y, strict=True)]
        )

    def start(self) -> Array:
        """Weights 0."""
        return np.zeros(self.true_features.shape[1])


@dataclass(frozen=True)
class StructuredHingeRisk(StructuredRisk):
    """The structured hinge loss, given by the search for the most violated output."""

    def structured_terms(self) -> StructuredHingeRisk:
        """The problem itself, for `CuttingPlanes`."""
        return self

    def most_violated(
        self, w: Array, known: list[dict[Any, int]]
    ) -> Iterator[tuple[Any, tuple[Array, float] | None, float]]:
        """For every example: the key of the output, its plane (ψ, Δ) if it is new, and the loss."""
        structure, true = self.structure, self.true_features
        for i, (x, y) in enumerate(zip(self.X, self.Y, strict=True)):
            other = structure.decode(x, w, y)
            delta = float(structure.loss(y, other))
            psi = true[i] - joint_features(structure, x, other)
            violation = delta - float(w @ psi)
            key = structure.key(other)
            # The output itself is known as None: its plane is 0.
            new = key not in known[i] and bool(delta or psi.any())
            yield key, (psi, delta) if new else None, max(violation, 0.0)


@dataclass(frozen=True)
class RandomFieldRisk(StructuredRisk):
    """The negative log-likelihood of a conditional random field."""

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """F(w) and its gradient."""
        value, slope = 0.5 * self.alpha * float(theta @ theta), self.alpha * theta
        for share, x, true in zip(self.shares, self.X, self.true_features, strict=True):
            total, mean = self.structure.log_partition(x, theta)  # type: ignore[attr-defined]
            value += float(share) * (total - float(true @ theta))
            slope = slope + share * (mean - true)
        return value, slope

    def value(self, theta: Array) -> float:
        """F(w)."""
        return self.value_and_gradient(theta)[0]


def joint_features(structure: Structure, x: Any, y: Any) -> Array:
    """φ(x, y), checked to be a vector of finite numbers."""
    found = np.asarray(structure.features(x, y), dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise DataError(
            f"{type(structure).__name__}.features must return a vector of finite numbers, but "
            f"returned shape {found.shape} for one pair of input and output. Check the function "
            "and the inputs."
        )
    return found
