"""Robust (sandwich) covariances: right when the model's idea of the noise is not.

With z = xᵀθ, slopes gᵢ = ∂ℓ/∂zᵢ, curvatures cᵢ and H = Σ wcxxᵀ, a fit has the covariance

    H⁻¹ (Σ w gᵢ² aᵢ xᵢxᵢᵀ) H⁻¹,     hᵢ = cᵢ xᵢᵀH⁻¹xᵢ,

with aᵢ = 1 for HC0, n/(n − p) for HC1, 1/(1 − hᵢ) for HC2 and 1/(1 − hᵢ)² for HC3. The rows are
first turned into v = Fx with FᵀF = H⁻¹, so that the bread is the identity and nothing is inverted
twice. One pass, O(n d²).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array

Influence = Callable[[Block], tuple[Array, Array, Array]]
"""Of a block: the rows v, the slopes g and the leverages h."""

ROBUST = ("HC0", "HC1", "HC2", "HC3")
_POWER = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}
LEAST_FREEDOM = 1e-12
"""Least 1 − h: a row that fixes a coefficient by itself has no residual to speak of."""


@dataclass(frozen=True)
class Meat:
    """Σ w a g² vvᵀ, with Σ wℓ beside it, by which rows are known again."""

    squares: Array
    weight: float
    value: float

    def merge(self, other: Meat) -> Meat:
        """The sums over both sets of rows."""
        return Meat(
            self.squares + other.squares, self.weight + other.weight, self.value + other.value
        )


def meat(
    source: Source,
    influence: Influence,
    values: Callable[[Block], Array],
    kind: str,
    weights: str = "frequency",
) -> Meat:
    """The middle of the sandwich, without the factor of HC1.

    A row of weight 2 is two rows, or ("precision") one whose slope counts twice.
    """

    def summarise(block: Block) -> Meat:
        rows, slope, leverage = influence(block)
        weight = np.ones(block.n_rows) if block.weight is None else np.asarray(block.weight)
        count = weight
        if weights == "precision":
            slope, leverage, count = weight * slope, weight * leverage, np.ones(block.n_rows)
        freedom = np.maximum(1.0 - leverage, LEAST_FREEDOM) ** _POWER[kind]
        scaled = rows * (np.sqrt(count / freedom) * slope)[:, None]
        return Meat(scaled.T @ scaled, float(weight.sum()), float(weight @ values(block)))

    return source.reduce(summarise)


def check_kind(covariance: str) -> None:
    """Refuse names of covariances that do not exist."""
    if covariance != "model" and covariance not in ROBUST:
        raise ParameterError(
            f"covariance={covariance!r} must be 'model', or robust: {', '.join(map(repr, ROBUST))}."
        )


def require_rows(covariance: str, X: Any) -> None:
    """A robust covariance is a sum over rows, which a fitted model no longer has."""
    if X is None:
        raise CapabilityError(
            f"covariance={covariance!r} is a sum over the rows, which a fitted model does not "
            f"keep. Give them again: summary(X, y, covariance={covariance!r})."
        )


def require_same_rows(weight: float, value: float, of_fit: tuple[float, float]) -> None:
    """Refuse rows on which the losses do not add up to what they did in `fit`."""
    was_weight, was_value = of_fit
    near = abs(value - was_value) <= 1e-6 * (abs(was_value) + 1e-9 * was_weight)
    if not (np.isclose(weight, was_weight, rtol=1e-9) and near):
        raise DataError(
            f"These are not the rows of fit: their weight is {weight:g} and their loss "
            f"{value:.6g}, where fit saw {was_weight:g} and {was_value:.6g}. Give summary the same "
            "X, y and sample_weight as fit."
        )
