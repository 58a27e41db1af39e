"""The dual of Crammer and Singer's loss with an L2 penalty: one variable per row and class.

In sums, ½‖W‖² + Σ Cᵢ max_m (1[m ≠ yᵢ] + z_m − z_y) with Cᵢ = sᵢ/λ, sᵢ = wᵢ/Σw; the dual is
−½‖W(α)‖² − Σᵢ Σ_{m≠y} αᵢₘ with W(α) = Σ xᵢαᵢᵀ, Σ_m αᵢₘ = 0 and αᵢₘ ≤ Cᵢ·1[m = yᵢ]. The mean risk
that is minimised here is λ times these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.objective.bias_column import BiasColumn
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
    """The value of the constant column; 0 for none."""
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
        return cls(
            rows=compact_rows(source.X),
            y=y,
            cost=np.ascontiguousarray(weight / weight.sum() / strength),
            strength=strength,
            constant=predictor.scaling if isinstance(predictor, BiasColumn) else 0.0,
            n_classes=predictor.n_outputs,
            n_features=source.n_features,
        )

    def pack(self, weights: Array) -> Array:
        """The predictor's flat θ from the kernel's (d + 1, classes) weights."""
        return (weights if self.constant else weights[:-1]).reshape(-1).copy()

    def value(self, multipliers: Array, weights: Array) -> float:
        """The dual, in the unit of the mean risk."""
        own = multipliers[np.arange(self.y.size), self.y]
        rivals = float(np.sum(own)) - float(np.sum(multipliers))
        return self.strength * (rivals - float(np.sum(weights * weights)) / 2)
