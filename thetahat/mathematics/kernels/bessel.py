"""The Matérn kernel of any order ν: Bessel functions in logarithms, or their expansion for large ν.

The powers and Gamma functions of 2^{1−ν}/Γ(ν)·r^ν·K_ν(r) overflow for ν > 170, and for small r much
earlier, although the product lies between 0 and 1. Logarithms keep it in range. From ν = 50 on,
with z = r/ν, s = √(1 + z²) − 1 and t = 1/(1 + s), Debye's expansion is exact to rounding for all r:

    log k = ν(log(1 + s/2) − s) − ½ log(1 + s) + log(U(t)/U(1)),   U(t) = Σ_j (−1/ν)^j u_j(t)

with u₀ = 1 and u_{j+1}(t) = ½t²(1 − t²)u_j′(t) + ⅛∫₀ᵗ(1 − 5τ²)u_j(τ)dτ. It tends to
−‖x − z‖²/(2h²), the exponent of the Gaussian kernel.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial

from thetahat.foundation.types import Array

LARGE_ORDER = 50.0
"""The order from which the expansion is used."""
TERMS = 8
"""Terms of the expansion: the first one left out is below 1e-15 of the sum."""
FAR = 1e4
"""Radii from which the kernels of smaller orders are 0."""
NEAR = 1e-150
"""Radii below which derivatives are as at this one, so that their powers stay finite."""


def matern_values(nu: float, r: Array) -> Array:
    """k = 2^{1−ν}/Γ(ν)·r^ν·K_ν(r) for r ≥ 0. Cost: one Bessel function per entry."""
    found = _kernel(nu, np.asarray(r, dtype=np.float64))
    return found.astype(np.asarray(r).dtype, copy=False)


def matern_slope(nu: float, r: Array) -> Array:
    """−(dk/dr)/r = 2^{1−ν}/Γ(ν)·r^{ν−1}·K_{ν−1}(r) for r ≥ 0.

    It is the kernel of order ν − 1 divided by 2(ν − 1) for ν > 1. Cost: as that of the values.
    """
    whole = np.asarray(r, dtype=np.float64)
    found = _kernel(nu - 1, whole) / (2 * (nu - 1)) if nu > 1 else _slope_of_small(nu, whole)
    return found.astype(np.asarray(r).dtype, copy=False)


def _kernel(nu: float, r: Array) -> Array:
    if nu >= LARGE_ORDER:
        return _by_expansion(nu, r)
    from scipy.special import gammaln, kve

    away = np.clip(r, np.finfo(np.float64).tiny, FAR)
    scaled = kve(nu, away)
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = (1 - nu) * np.log(2.0) - gammaln(nu) + nu * np.log(away) + np.log(scaled) - away
        found = np.minimum(np.exp(exponent), 1.0)
    # So close to 0 that K overflows, two terms of the series are exact.
    found = np.where(np.isinf(scaled), 1 - r * r / (4 * max(nu - 1, 1e-3)), found)
    return np.where(r > 0, found, np.where(r == 0, 1.0, r))


def _slope_of_small(nu: float, r: Array) -> Array:
    """2^{1−ν}/Γ(ν)·r^{ν−1}·K_{1−ν}(r) for ν ≤ 1, and 0 for r = 0, where it is infinite."""
    from scipy.special import gammaln, kve

    away = np.clip(r, NEAR, FAR)
    scaled = np.log(kve(1 - nu, away))
    exponent = (1 - nu) * np.log(2.0) - gammaln(nu) + (nu - 1) * np.log(away) + scaled - away
    return np.where(r > 0, np.exp(exponent), np.where(r == 0, 0.0, r))


def _by_expansion(nu: float, r: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.minimum(r / nu, 1e100)  # where the kernel is 0
        s = z * (z / (1 + np.sqrt(1 + z * z)))
        exponent = nu * (np.log1p(s / 2) - s) - 0.5 * np.log1p(s)
        u, inverse = _expansion(nu), 1 / (1 + s)
        return np.exp(exponent) * (u(inverse) / u(1.0))


@lru_cache(maxsize=8)
def _expansion(nu: float) -> Polynomial:
    """U(t) of this order, as a polynomial."""
    t = Polynomial([0.0, 1.0])
    u = total = Polynomial([1.0])
    for j in range(1, TERMS):
        u = 0.5 * t**2 * (1 - t**2) * u.deriv() + 0.125 * ((1 - 5 * t**2) * u).integ()
        total = total + (-1 / nu) ** j * u
    return total
