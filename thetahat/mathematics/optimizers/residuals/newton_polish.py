"""The last steps of least squares with large residuals, by Newton's method.

Gauss–Newton leaves Σ rᵢ∇²rᵢ out of the Hessian of ½‖r‖². Where residuals are large and the model
bends, that makes it converge slowly, by a fixed share per step. Near the minimum the whole Hessian,
from differences of the gradient Jᵀr, is cheap for a few parameters and brings the digits at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

PROBE = 1e-4
"""Half the width of the differences, relative to a parameter."""
FLOOR = 1e-3
"""A parameter counts as at least this share of ‖Dθ‖ when a width is chosen for it."""


def newton_step(
    problem: Any, theta: Array, scale: Array, bounds: tuple[Array, Array], free: Array
) -> Array | None:
    """−H⁻¹∇F over the free parameters; None where H is not positive definite, or next to a bound.

    Cost: two Jacobians per free parameter, and one.
    """
    size = float(np.linalg.norm(scale * theta))
    widths = np.where(free, PROBE * np.maximum(np.abs(theta), FLOOR * size / scale), 0.0)
    if np.any((theta - widths < bounds[0]) | (theta + widths > bounds[1])):
        return None
    places = np.flatnonzero(free)
    hessian = np.empty((len(places), len(places)))
    for column, place in enumerate(places):
        shift = np.zeros(len(theta))
        shift[place] = widths[place]
        ahead, behind = (_slope(problem, theta + sign * shift)[free] for sign in (1.0, -1.0))
        hessian[:, column] = (ahead - behind) / (2 * widths[place] * scale[place] * scale[free])
    if not np.isfinite(hessian).all():
        return None
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    if not len(values) or values[0] <= 1e-14 * values[-1]:
        return None
    step = np.zeros(len(theta))
    inner = vectors @ ((vectors.T @ (_slope(problem, theta)[free] / scale[free])) / values)
    step[free] = -inner / scale[free]
    return step


def _slope(problem: Any, theta: Array) -> Array:
    with one_blas_thread():
        slope: Array = problem.jacobian(theta).T @ problem.residuals(theta)
    return slope
