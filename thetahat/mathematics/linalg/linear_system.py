"""Xβ ≈ y, where X is given only by its products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class LinearSystem:
    """Xβ ≈ y, where X is given only by its products."""

    multiply: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]
    y: Array
    n_features: int
    who: str
    """The function that error messages name."""

    @property
    def usual_steps(self) -> int:
        """Steps that suffice unless X is very ill-conditioned."""
        return 4 * min(len(self.y), self.n_features) + 100

    def product(self, v: Array) -> Array:
        """Xv, checked to have one number per row."""
        return self._shaped(self.multiply(v), len(self.y), "product", "n")

    def transposed_product(self, u: Array) -> Array:
        """Xᵀu, checked to have one number per column."""
        return self._shaped(self.adjoint(u), self.n_features, "adjoint", "d")

    def _shaped(self, vector: Array, length: int, name: str, symbol: str) -> Array:
        vector = np.ravel(np.asarray(vector, dtype=np.float64))
        if len(vector) != length:
            raise DataError(
                f"{self.who}: {name} returned {len(vector)} numbers; it must return {symbol} = "
                f"{length}."
            )
        return vector


def checked_system(
    product: Callable[[Array], Array],
    adjoint: Callable[[Array], Array],
    y: Array,
    n_features: int,
    damp: float,
    who: str,
) -> LinearSystem:
    """The system, if y is a vector and the damping is a number ≥ 0."""
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1:
        raise DataError(
            f"{who}: y has shape {y.shape}; it must have one dimension. Solve for one right-hand "
            "side at a time."
        )
    if not damp >= 0:
        raise ParameterError(f"{who}: damp={damp!r} must be a number ≥ 0.")
    return LinearSystem(product, adjoint, y, n_features, who)
