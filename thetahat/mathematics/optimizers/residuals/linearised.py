"""Linearised least squares: ‖r + Jp‖² over the ball ‖Dp‖ ≤ Δ, solved exactly.

In the scaled variables u = Dp, one QR factorisation of [JD⁻¹ r] and the singular values of its
triangle give the solution for every radius: u(λ) = −V·s·g/(s² + λ) with g = Uᵀr. λ = 0 is the
Gauss–Newton step; if that is too long, λ > 0 is the root of ‖u(λ)‖ = Δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thetahat import _native
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

FLOOR = 1e-4
"""Smallest size of a parameter, as a share of ‖Dθ‖, to which a step is compared."""
NEARLY_THERE = 1e-4
"""Below this offset the relative change of the parameters may be used instead of it."""
EXACT = 1e-12
"""Residuals below this share of ‖Dθ‖ are rounding errors."""
SLAB = 2048
"""Number of rows that are factored at once, so that they stay in the cache."""
FEW = 16
"""Parameters up to which one compiled call is faster than several calls of LAPACK."""
SHORTEST = 1e-100
"""The smallest radius that is solved for, relative to g/s, so that squares do not underflow."""
CLOSE_ENOUGH = 0.05
"""Allowed relative difference between ‖u‖ and the radius, which need not be met exactly."""


class Step(NamedTuple):
    """A step p, its length ‖Dp‖, the damping λ, and the decrease of ½‖r‖² in the linearisation."""

    move: Array
    length: float
    damping: float
    predicted: float


@dataclass(frozen=True)
class Linearised:
    """The linearisation r + Jp of some residuals in the variables u = Dp, factored."""

    scale: Array
    """The scale D, one positive number per parameter."""
    values: Array
    """Singular values s of JD⁻¹, largest first."""
    basis: Array
    """Vᵀ: the rows are the directions of those values."""
    image: Array
    """g = Uᵀr."""
    kept: Array
    """Which singular values are larger than rounding errors."""
    triangle: Array
    """R of [JD⁻¹ r] = QR."""
    n_rows: int

    @classmethod
    def of(cls, jacobian: Array, residuals: Array, scale: Array) -> Linearised:
        if len(scale) <= FEW:
            return cls._compiled(jacobian, residuals, scale)
        with one_blas_thread():
            return cls._factored(_triangle(jacobian, residuals, scale), scale, len(residuals))

    @classmethod
    def _compiled(cls, jacobian: Array, residuals: Array, scale: Array) -> Linearised:
        """All factors in one call."""
        n, d = jacobian.shape
        triangle, basis = np.empty((d + 1, d + 1)), np.empty((d, d))
        values, image = np.empty(d), np.empty(d)
        _native.tangent(jacobian, residuals, scale, triangle, values, basis, image)
        return cls(scale, values, basis, image, _kept(values, n), triangle, n)

    @classmethod
    def _factored(cls, triangle: Array, scale: Array, n_rows: int) -> Linearised:
        d = len(scale)
        left, values, basis = np.linalg.svd(triangle[:d, :d], full_matrices=False)
        image = left.T @ triangle[:d, d]
        return cls(scale, values, basis, image, _kept(values, n_rows), triangle, n_rows)

    def in_own_units(self) -> Linearised:
        """The same linearisation with D the column norms of J here, so that no column is lost."""
        d = len(self.scale)
        norms = column_norms(self.triangle[:d, :d])
        units = np.where(norms > 0, norms, 1.0)
        triangle = self.triangle.copy()
        triangle[:, :d] /= units
        with one_blas_thread():
            return self._factored(triangle, self.scale * units, self.n_rows)

    def explained(self) -> float:
        """‖projection of r onto the columns of J‖, which a linear model would still remove."""
        return float(np.linalg.norm(self.image[self.kept]))

    def unexplained(self) -> float:
        """‖r − its projection‖, from R, where nothing cancels."""
        beyond = self.triangle[-1, -1] if self.n_rows > len(self.scale) else 0.0
        return math.hypot(float(beyond), float(np.linalg.norm(self.image[~self.kept])))

    def gauss_newton(self) -> Array:
        """−s⁻¹g, of least norm: the step without a radius, in the basis V."""
        safe = np.where(self.kept, self.values, 1.0)
        return np.where(self.kept, -self.image / safe, 0.0)

    def step(self, radius: float) -> Step:
        """argmin ‖r + Jp‖² over ‖Dp‖ ≤ radius."""
        whole = self.gauss_newton()
        length = float(np.linalg.norm(whole))
        if length <= radius:
            return Step(self._back(whole), length, 0.0, self.explained() ** 2 / 2)
        # Dividing s and g by their largest entries prevents squares from underflowing.
        top, size = float(self.values[0]), float(np.max(np.abs(self.image)))
        values, image, unit = self.values / top, self.image / size, size / top
        damping = _damping(values, image, max(radius / unit, SHORTEST))
        inner = -values * image / (values**2 + damping)
        # ½‖r‖² − ½‖r + Jp‖² = ½ Σ u²(s² + 2λ), without cancellation.
        predicted = float(np.sum(inner**2 * (values**2 + 2 * damping))) / 2 * size**2
        inner = inner * unit
        return Step(self._back(inner), float(np.linalg.norm(inner)), damping * top**2, predicted)

    def solve(self, slope: Array, damping: float) -> Array:
        """(JᵀJ + λD²)⁻¹ slope, without directions at rounding level."""
        curvature = self.values**2 + damping
        known = self.kept | (damping > 0)
        inner = self.basis @ (slope / self.scale) / np.where(known, curvature, 1.0)
        return self._back(np.where(known, inner, 0.0))

    def _back(self, inner: Array) -> Array:
        return (inner @ self.basis) / self.scale


def _kept(values: Array, n_rows: int) -> Array:
    """Mask of the singular values that are larger than rounding errors."""
    return values > EPSILON * max(n_rows, len(values)) * (values[0] if len(values) else 0.0)


def column_norms(matrix: Array) -> Array:
    """The norm of every column, also if the squares of its entries overflow or underflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms: Array = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    usual = (norms > 1e-140) & (norms < 1e140)
    for column in () if usual.all() else np.flatnonzero(~usual):
        entries = matrix[:, column]
        largest = float(np.max(np.abs(entries), initial=0.0))
        if largest > 0 and math.isfinite(largest):
            norms[column] = largest * np.linalg.norm(entries / largest)
    return norms


def _damping(values: Array, image: Array, radius: float) -> float:
    """λ > 0 with ‖u(λ)‖ ≈ radius, by Newton's method on 1/‖u‖ inside a shrinking bracket."""
    low, high = 0.0, float(np.linalg.norm(values * image)) / radius
    damping = 1e-3 * high
    for _ in range(100):
        curvature = values**2 + damping
        inner = values * image / curvature
        length = float(np.linalg.norm(inner))
        if abs(length - radius) <= CLOSE_ENOUGH * radius:
            break
        if length > radius:
            low = max(low, damping)
        else:
            high = min(high, damping)
        slope = float(np.sum((inner / length) ** 2 / curvature))
        damping += (length - radius) / radius / slope
        if not low < damping < high:
            damping = float(np.sqrt(max(low, 1e-4 * high) * high))
    return damping


def _triangle(jacobian: Array, residuals: Array, scale: Array) -> Array:
    """R of [JD⁻¹ r] = QR; many rows are factored in slabs, and then the triangles of the slabs."""
    n, d = jacobian.shape
    whole: Array = np.empty((n, d + 1))
    for column in range(d):  # column by column: rows are short, columns long
        np.divide(jacobian[:, column], scale[column], out=whole[:, column])
    whole[:, d] = residuals
    slab = max(SLAB, 4 * (d + 1))
    if n >= 2 * slab:
        even = n - n % slab
        slabs: Any = np.linalg.qr(whole[:even].reshape(-1, slab, d + 1), mode="r")
        whole = np.concatenate([slabs.reshape(-1, d + 1), whole[even:]])
    triangle: Any = np.linalg.qr(whole, mode="r")
    return triangle


def relative_offset(tangent: Linearised, residuals: Array, theta: Array) -> float:
    """Distance of θ from a minimum: ‖Pr‖√(n−d) / ‖(I−P)r‖√d.

    P is the projection onto the columns of J. The distance is measured in standard errors of θ̂ and
    does not depend on the units of the parameters: each column of J is divided by its norm here. If
    the data are fitted exactly, r and this ratio are rounding errors, and very near a minimum its
    digits are lost. Then the largest relative change of a parameter by the next step is used, if it
    is smaller. If J vanishes and r does not, nothing is known about a minimum and the distance is
    infinite.
    """
    if not tangent.kept.all():
        tangent = tangent.in_own_units()
    explained = tangent.explained()
    if explained == 0:
        vanished = len(tangent.values) > 0 and not tangent.kept.any()
        return math.inf if vanished and residuals.any() else 0.0
    n, d = len(residuals), int(tangent.kept.sum())
    rest = tangent.unexplained()
    offset = explained / rest * math.sqrt((n - d) / d) if rest > 0 else math.inf
    units = column_norms(tangent.triangle[:, :-1])
    sizes = units * np.abs(tangent.scale * theta)
    size = float(np.linalg.norm(sizes))
    if NEARLY_THERE < offset < math.inf and rest > EXACT * size:
        return offset
    step = units * np.abs(tangent.gauss_newton() @ tangent.basis)
    change = float(np.max(step / (sizes + FLOOR * size))) if size > 0 else math.inf
    return min(offset, change)
