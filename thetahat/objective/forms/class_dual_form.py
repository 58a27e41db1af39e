"""The dual of Crammer and Singer's loss with an L2 penalty: one variable per row and class.

In sums, ½‖W‖² + Σ Cᵢ max_m (1[m ≠ yᵢ] + z_m − z_y) with Cᵢ = sᵢ/λ, sᵢ = wᵢ/Σw; the dual is
−½‖W(α)‖² − Σᵢ Σ_{m≠y} αᵢₘ with W(α) = Σ xᵢαᵢᵀ, Σ_m αᵢₘ = 0 and αᵢₘ ≤ Cᵢ·1[m = yᵢ]. The mean risk
that is minimised here is λ times these. Intercepts without a penalty require Σᵢ αᵢₘ = 0 too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.forms.dual_form import typical_length
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.row_losses import compact_rows


@dataclass(frozen=True)
class ClassDualRows:
    """The dual as arrays for the compiled ascent."""

    rows: tuple[Array, ...]
    """X, or data, indices and indptr."""
    y: Array
    cost: Array
    """Cᵢ, the bound on the dual variables of each row."""
    strength: float
    """λ."""
    constant: float
    """The value of the constant column that represents the intercepts; 0 for none."""
    free_intercept: bool
    n_classes: int
    n_features: int

    @classmethod
    def of(cls, predictor: LinearPredictor, strength: float, source: InMemory) -> ClassDualRows:
        """The arrays of an in-memory source whose targets are class numbers."""
        y = np.ascontiguousarray(source.y).astype(np.int64)
        require_memory(
            8 * y.size * predictor.n_outputs,
            f"One multiplier for each of {y.size} rows and {predictor.n_outputs} classes",
            "Use one against the rest, or fewer rows.",
        )
        weight = np.asarray(source.row_weights, float)
        if isinstance(predictor, BiasColumn):
            constant = predictor.scaling
        else:
            constant = typical_length(source.X) if predictor.fit_intercept else 0.0
        return cls(
            rows=compact_rows(source.X),
            y=y,
            cost=np.ascontiguousarray(weight / weight.sum() / strength),
            strength=strength,
            constant=constant,
            free_intercept=predictor.fit_intercept,
            n_classes=predictor.n_outputs,
            n_features=source.n_features,
        )

    def pack(self, weights: Array, intercept: Array) -> Array:
        """The predictor's flat θ from the kernel's (d + 1, classes) weights."""
        if self.free_intercept:
            return np.append(weights[:-1], intercept)
        return (weights if self.constant else weights[:-1]).reshape(-1).copy()

    def value(self, multipliers: Array, weights: Array, intercept: Array) -> float:
        """The dual for these free intercepts, in the unit of the mean risk."""
        own = multipliers[np.arange(self.y.size), self.y]
        rivals = float(np.sum(own)) - float(np.sum(multipliers))
        if self.free_intercept:
            weights = weights[:-1]
            rivals -= float(np.sum(intercept * multipliers.sum(axis=0)))
        return self.strength * (rivals - float(np.sum(weights * weights)) / 2)
