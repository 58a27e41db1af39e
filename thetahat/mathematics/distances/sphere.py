"""The distance along the surface of a sphere, through the points in space."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sin

import numpy as np

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Termwise, require_dense


@dataclass(frozen=True)
class Haversine(Termwise):
    """The angle between two places on a sphere, given by latitude and longitude in radians.

    Formula: d(x, y) = 2·arcsin √(sin²((x₁ − y₁)/2) + cos x₁·cos y₁·sin²((x₂ − y₂)/2)). It is
    computed as 2·arcsin(‖φ(x) − φ(y)‖/2), with the point φ(x) of the sphere of radius 1, so that
    kd-trees apply; the rounding error is about 10⁻¹⁶. Multiply it by the radius, 6371 km for the
    earth. X must have two columns. Cost: O(1) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Haversine().pairwise([[0.0, 0.0]], [[0.0, 0.5]])
    array([[0.5]])
    """

    name = "haversine"

    @property
    def order(self) -> float:
        return 2.0

    def fitted(self, X: Matrix) -> Haversine:
        if X.shape[1] != 2:
            raise DataError(
                f"Haversine: X has {X.shape[1]} columns, but the haversine distance needs 2: "
                "latitude and longitude in radians. Choose these two columns."
            )
        largest = float(np.abs(require_dense(self, X)[:, 0]).max(initial=0.0))
        if largest > pi / 2 + 1e-6:  # narrow numbers may round π/2 up
            warn(
                f"Haversine: the first column holds a latitude of {largest:g}, but latitudes lie "
                "between −π/2 and π/2. Use np.radians(X) if they are degrees, and put the latitude "
                "before the longitude.",
                UserWarning,
            )
        return self

    def embedded(self, X: Matrix) -> Array:
        latitude, longitude = require_dense(self, X).astype(np.float64).T
        flat = np.cos(latitude)
        return np.column_stack(
            [flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)]
        )

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return 2 * np.arcsin(np.minimum(np.sqrt(reduced) / 2, 1.0))

    def to_reduced(self, distance: float, n_columns: int) -> float:
        # The whole sphere lies within half a turn; the square of the longest chord is rounded.
        return 4 * sin(distance / 2) ** 2 if distance < pi else 5.0
