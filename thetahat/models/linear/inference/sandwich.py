"""Robust (sandwich) covariances, which remain valid if the noise model is wrong.

With z = xᵀθ, slopes gᵢ = ∂ℓ/∂zᵢ, curvatures cᵢ and H = Σ wcxxᵀ, the covariance of a fit is

    H⁻¹ (Σ w gᵢ² aᵢ xᵢxᵢᵀ) H⁻¹,     hᵢ = cᵢ xᵢᵀH⁻¹xᵢ,

with aᵢ = 1 for HC0, n/(n − p) for HC1, 1/(1 − hᵢ) for HC2 and 1/(1 − hᵢ)² for HC3. The rows are
first transformed to v = Fx with FᵀF = H⁻¹, so that H becomes the identity and is inverted only
once. One pass, O(n d²).
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
"""Gives the rows v, the slopes g and the leverages h of a block."""

ROBUST = ("HC0", "HC1", "HC2", "HC3")
_POWER = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}
LEAST_FREEDOM = 1e-12
"""Smallest value of 1 − h: a row that alone determines a coefficient has no residual."""


@dataclass(frozen=True)
class Meat:
    """Σ w a g² vvᵀ, and Σ wℓ, which shows whether the rows are those of the fit."""

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
    """The middle matrix of the sandwich, without the factor of HC1.

    A row of weight 2 counts as two rows, or with "precision" as one row whose slope counts twice.
    """

    def summarise(block: Block) -> Meat:
        rows, slope, leverage = influence(block)
        weight = np.asarray(block.row_weights)
        count = weight
        if weights == "precision":
            slope, leverage, count = weight * slope, weight * leverage, np.ones(block.n_rows)
        freedom = np.maximum(1.0 - leverage, LEAST_FREEDOM) ** _POWER[kind]
        scaled = rows * (np.sqrt(count / freedom) * slope)[:, None]
        return Meat(scaled.T @ scaled, float(weight.sum()), float(weight @ values(block)))

    return source.reduce(summarise)


def check_kind(covariance: str) -> None:
    """Raise an error for unknown names of covariances."""
    if covariance != "model" and covariance not in ROBUST:
        raise ParameterError(
            f"covariance={covariance!r} must be 'model' or a robust covariance: "
            f"{', '.join(map(repr, ROBUST))}."
        )


def require_rows(covariance: str, X: Any) -> None:
    """Raise an error if the rows, which a robust covariance needs, are not given."""
    if X is None:
        raise CapabilityError(
            f"covariance={covariance!r} needs the rows, which a fitted model does not keep. Pass "
            f"them again: summary(X, y, covariance={covariance!r})."
        )


def require_same_rows(weight: float, value: float, of_fit: tuple[float, float]) -> None:
    """Raise an error if the total loss of the rows differs from that in `fit`."""
    was_weight, was_value = of_fit
    near = abs(value - was_value) <= 1e-6 * (abs(was_value) + 1e-9 * was_weight)
    if not (np.isclose(weight, was_weight, rtol=1e-9) and near):
        raise DataError(
            f"These are not the rows of fit: their total weight is {weight:g} and their loss "
            f"{value:.6g}, but in fit they were {was_weight:g} and {was_value:.6g}. Pass the same "
            "X, y and sample_weight to summary as to fit."
        )
