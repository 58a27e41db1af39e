"""Parameters whose last entry is an intercept, seen from a point amid the rows.

Far from the rows the intercept and the coefficients are all but tied together; at their middle they
are free of each other:

    xᵀβ + b = (x − origin)ᵀβ + b′,    b′ = b + originᵀβ.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array


class CentredIntercept:
    """What problems share that may have such an origin; None: the intercept stays as it is."""

    origin: Array | None

    def inside(self, theta: Array) -> Array:
        """θ with its intercept moved to the origin: what the methods of the problem take."""
        return self._shifted(theta, 1.0)

    def outside(self, theta: Array) -> Array:
        """θ with its intercept moved back to 0."""
        return self._shifted(theta, -1.0)

    def _shifted(self, theta: Array, sign: float) -> Array:
        theta = np.array(theta, dtype=np.float64)
        if self.origin is not None:
            theta[-1] += sign * np.sum(self.origin * theta[:-1])
        return theta
