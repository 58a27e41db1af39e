"""Parameters whose last entry is an intercept, relative to an origin near the rows.

If the rows are far from 0, intercept and coefficients are strongly correlated. With the origin at
the mean of the rows they are not:

    xᵀβ + b = (x − origin)ᵀβ + b′,    b′ = b + originᵀβ.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array


class CentredIntercept:
    """Base class of problems with such an origin; with None the intercept is not changed."""

    origin: Array | None

    def inside(self, theta: Array) -> Array:
        """θ with its intercept relative to the origin, as the methods of the problem expect it."""
        return self._shifted(theta, 1.0)

    def outside(self, theta: Array) -> Array:
        """θ with its intercept relative to 0."""
        return self._shifted(theta, -1.0)

    def _shifted(self, theta: Array, sign: float) -> Array:
        theta = np.array(theta, dtype=np.float64)
        if self.origin is not None:
            theta[-1] += sign * np.sum(self.origin * theta[:-1])
        return theta
