"""Total least squares from the triangle of [X Y]: β of the nearest hyperplane, if it exists.

For one target let X = U S Vᵀ, u = Uᵀy, and let ρ² be the residual sum of squares of y on X. The
smallest singular value σ of [X y] and β satisfy

    ρ² = σ² (1 + Σⱼ uⱼ²/(Sⱼ² − σ²)),    β = V diag(Sⱼ/(Sⱼ² − σ²)) u,

an equation with one root below the smallest Sⱼ with uⱼ ≠ 0. Sⱼ² − σ² is computed relative to that
Sⱼ, so that no large numbers are subtracted and X and y may have any units. If a direction of X that
is orthogonal to y (uⱼ = 0) has Sⱼ < σ, the hyperplane is vertical and β does not exist: the
smallest correction removes that direction from X, and y is still not explained.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

FARTHEST = 700.0
"""Range of the log odds in which σ²/S² is searched."""
FARTHEST_UNITS = 1e100
"""Ratio of the sizes of y and X from which the hyperplane is vertical to all digits."""
LEAST_PART_IN_Y = 1e-9
"""For several targets: smallest component in Y of the singular vectors that is not rounding."""


def nearest_plane(triangle: Array, d: int, n_rows: int) -> tuple[Array, float]:
    """β (d × k) and the squared size of the smallest correction of [X Y], from its triangle."""
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(triangle).max(initial=0.0))[1])))
    triangle = triangle / unit  # a power of two, so this is exact and prevents overflow
    coef, value = _in_units(triangle, d, n_rows)
    return coef, value * unit * unit


def _in_units(triangle: Array, d: int, n_rows: int) -> tuple[Array, float]:
    with one_blas_thread():
        U, s, Vt = np.linalg.svd(triangle[:d, :d])
    # β has no component in directions that do not occur in the rows.
    reached = s > max(n_rows, d) * EPSILON * s[0]
    target = U.T @ triangle[:d, d:]
    s, Vt, explained = s[reached], Vt[reached], target[reached]
    left = np.vstack([target[~reached], triangle[d:, d:]])
    if not len(s):
        return np.zeros((d, left.shape[1])), float((left**2).sum())
    if left.shape[1] == 1:
        gamma, value = _one_target(s, explained[:, 0], float(np.linalg.norm(left)), n_rows)
        return (Vt.T @ gamma)[:, None], value
    below = np.zeros((len(left), len(s)))
    gammas, value = _many_targets(np.block([[np.diag(s), explained], [below, left]]), len(s))
    return Vt.T @ gammas, value


def _one_target(s: Array, u: Array, rho: float, n_rows: int) -> tuple[Array, float]:
    from scipy.optimize import brentq
    from scipy.special import expit, log_expit

    size = float(np.hypot(np.linalg.norm(u), rho))
    correlated = np.abs(u) > max(n_rows, len(s)) * EPSILON * size
    if not correlated.any():
        _require_slanted(float(s[-1]), rho)
        return np.zeros(len(s)), rho**2
    part, last = u[correlated], float(s[correlated][-1])
    if size / FARTHEST_UNITS > last:
        _require_slanted(last, size)
    if rho == 0:
        return np.where(correlated, u / s, 0.0), 0.0
    # In units of the smallest Sⱼ with uⱼ ≠ 0, Sⱼ² − σ² is `above` + δ with δ = 1 − σ².
    above = (s[correlated] - last) / last * ((s[correlated] + last) / last)
    y, rho = part / last, rho / last

    def excess(log_odds: float) -> float:
        ratio = y / np.sqrt(above + expit(-log_odds))
        scale = max(1.0, float(np.abs(ratio).max()))
        rest = np.log((1.0 / scale) ** 2 + ((ratio / scale) ** 2).sum()) + 2 * np.log(scale)
        return float(2 * np.log(rho) - log_expit(log_odds) - rest)

    # Columns may be so large beside y that σ²/S² underflows: least squares to all digits.
    root = -FARTHEST
    if excess(-FARTHEST) > 0:
        root = brentq(excess, -FARTHEST, FARTHEST, xtol=1e-13)
    sigma = last * float(np.sqrt(expit(root)))
    _require_slanted(float(s[-1]), sigma)
    gamma = np.zeros(len(s))
    gamma[correlated] = s[correlated] / last * (part / last) / (above + expit(-root))
    return gamma, sigma**2


def _require_slanted(smallest: float, sigma: float) -> None:
    """Raise an error if a direction of X orthogonal to y is shorter than the correction."""
    if sigma > smallest * (1 + 1e-9):
        raise DataError(
            "There is no total least squares solution: the nearest hyperplane is vertical. In one "
            f"direction of X that is not correlated with y, the rows spread by {smallest:.4g}; "
            f"this is less than the unexplained part of y, {sigma:.4g}. Rescale X and y to "
            "comparable units, or use LinearRegression, which assumes that X has no errors."
        )


def _many_targets(matrix: Array, d: int) -> tuple[Array, float]:
    """−V₁₂V₂₂⁻¹ of the smallest right singular vectors; the β of least norm if several."""
    with one_blas_thread():
        _, s, Vt = np.linalg.svd(matrix)
        chosen = Vt[s <= s[d] + len(s) * EPSILON * s[0]].T
        part_in_y = np.linalg.svd(chosen[d:], compute_uv=False)
    if part_in_y[-1] < LEAST_PART_IN_Y:
        raise DataError(
            "There is no total least squares solution to rounding accuracy: the nearest hyperplane "
            f"is vertical (the component of its normals in y is {part_in_y[-1]:.2g}). Rescale X "
            "and y to comparable units, or use LinearRegression, which assumes that X has no "
            "errors."
        )
    return -chosen[:d] @ np.linalg.pinv(chosen[d:]), float((s[d:] ** 2).sum())
