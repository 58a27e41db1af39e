"""Oblique splits: random combinations of two columns, used as additional columns of a tree.

A split u₁·x_a + u₂·x_b ≤ t is an axis-parallel split of the column z = u₁·x_a + u₂·x_b. The pairs
and the directions u are drawn once per tree. Each column is divided by its range, so that the
result does not depend on units of measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Directions(CheckedValue):
    """Pairs of columns and their coefficients, (k, 2) each."""

    columns: Array
    weights: Array

    def __post_init__(self) -> None:
        k = len(self.columns)
        check_arrays(self, {"columns": (np.int64, (k, 2)), "weights": (np.float64, (k, 2))})
        check_rule(self, bool((self.columns >= 0).all()), "columns must be at least 0")

    @classmethod
    def draw(
        cls, X: Array, usable: Array, n_directions: int, random: np.random.Generator
    ) -> Directions:
        """Random pairs among the `usable` columns of X (Booleans); none if there is no pair.

        Cost: O(n·d).
        """
        nothing = cls(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))
        if n_directions == 0:
            return nothing
        finite = np.where(np.isfinite(X), X, np.nan)
        known = usable & np.isfinite(finite).any(axis=0)
        places = np.flatnonzero(known)
        if places.size < 2:
            return nothing
        spread = np.ones(X.shape[1])
        spread[known] = np.nanmax(finite[:, known], axis=0) - np.nanmin(finite[:, known], axis=0)
        pairs = np.array([random.choice(places, 2, replace=False) for _ in range(n_directions)])
        angle = random.uniform(0.0, 2.0 * np.pi, n_directions)
        unit = np.column_stack([np.cos(angle), np.sin(angle)])
        return cls(pairs, unit / np.where(spread > 0.0, spread, 1.0)[pairs])

    @property
    def n_directions(self) -> int:
        return int(self.columns.shape[0])

    def extend(self, X: Array) -> Array:
        """X followed by one column per direction; NaN where one of the two values is missing."""
        if not self.n_directions:
            return X
        with np.errstate(invalid="ignore"):  # ∞ − ∞ counts as missing
            parts = X[:, self.columns] * self.weights
            return np.concatenate([X, parts.sum(axis=2).astype(X.dtype)], axis=1)

    def coefficients(self, n_features: int) -> Array:
        """Coefficient of each column in each direction, (n_directions, n_features)."""
        rows = np.zeros((self.n_directions, n_features))
        np.put_along_axis(rows, self.columns, self.weights, axis=1)
        return rows

    def shared(self, importances: Array, n_features: int) -> Array:
        """Importances of the columns: the gain of a direction is shared by its two columns."""
        shares = importances[:n_features].copy()
        for place in self.columns.T:
            np.add.at(shares, place, 0.5 * importances[n_features:])
        return shares
