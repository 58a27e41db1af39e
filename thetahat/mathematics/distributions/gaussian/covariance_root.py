"""A root of a covariance matrix, also of a singular one: Σ = BBᵀ with B of full column rank.

If Σ is positive definite, B is its Cholesky factor. Otherwise the density lies on the support, the
plane μ + range(Σ) of dimension r = rank(Σ); log det(BᵀB) is the logarithm of the pseudo-determinant
(the product of the positive eigenvalues), and B⁺(x − μ) are the coordinates in which the covariance
is the identity. All decisions are taken on the matrix scaled to a unit diagonal, so that units do
not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.products import product
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array

LOG_TWO_PI = float(np.log(2.0 * np.pi))
RANK_TOLERANCE = 10 * EPSILON
"""Eigenvalues of the scaled matrix below this number times d count as zero."""
_NO_ROOT = np.empty(0)


@dataclass(frozen=True)
class CovarianceRoot:
    """B (``colour``), its inverse on the support, and the log of the pseudo-determinant.

    ``white`` is applied to deviations that are divided by ``scale``.
    """

    scale: Array
    colour: Array
    white: Array
    log_determinant: float

    @property
    def rank(self) -> int:
        return int(self.colour.shape[1])

    @property
    def is_singular(self) -> bool:
        return self.rank < self.colour.shape[0]

    @property
    def precision(self) -> Array:
        """Σ⁻¹, or the pseudo-inverse of a singular Σ."""
        white = self.white / self.scale
        return _symmetric(product(white.T, white))

    def as_component(self, mean: Array) -> tuple[Array, Array, Array] | None:
        """−½(d log 2π + log det Σ), μ, and an upper triangular P, PPᵀ = Σ⁻¹; None if singular."""
        if self.is_singular:
            return None
        triangle, _ = scipy_linalg().rq((self.white / self.scale).T)
        level = np.array([-0.5 * (self.rank * LOG_TWO_PI + self.log_determinant)])
        return level, np.array(mean, dtype=np.float64)[None], np.ascontiguousarray(triangle)

    def solve(self, deviations: Array) -> Array:
        """B⁺ applied to deviations of shape (d, k)."""
        return product(self.white, deviations / self.scale[:, None])

    def squared_distances(self, source: Source, mean: Array, support: bool = True) -> Array:
        """(x − μ)ᵀΣ⁺(x − μ) for every row; with `support`, +inf for rows outside the support."""
        return source.map_rows(lambda block: self._of_block(block, mean, support))

    def log_densities(self, source: Source, mean: Array) -> Array:
        """log N(x | μ, Σ) for every row; −inf outside the support."""
        square = self.squared_distances(source, mean)
        return -0.5 * (square + self.rank * LOG_TWO_PI + self.log_determinant)

    def sample(self, n: int, mean: Array, random: np.random.Generator) -> Array:
        """n rows μ + Bz with z ~ N(0, I)."""
        z = random.standard_normal((n, self.rank))
        with one_blas_thread():
            return product(z, self.colour.T) + mean

    def _of_block(self, block: Block, mean: Array, support: bool) -> Array:
        rows = dense_rows(block)
        scaled = np.empty(rows.shape)
        _native.pack_rows(rows, mean, 1.0 / self.scale, _NO_ROOT, scaled, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            white = product(scaled, self.white.T)
            square = np.einsum("ij,ij->i", white, white)
        if support and self.is_singular:
            precision = np.finfo(rows.dtype if rows.dtype.kind == "f" else np.float64).eps
            size = np.abs(scaled) + 2.0 * np.abs(mean) / self.scale
            square[self._outside(scaled, white, size, float(precision))] = np.inf
        return np.where(np.isnan(square), np.inf, square)

    def _outside(self, scaled: Array, white: Array, size: Array, precision: float) -> Array:
        """Which rows are off the support by more than the rounding errors of their numbers."""
        away = np.abs(scaled - product(white, (self.colour / self.scale[:, None]).T))
        reach = 1.0 + np.linalg.norm(white, axis=1)
        tolerance = precision**0.6 * (size + reach[:, None] * (np.diagonal(self._unit()) > 0))
        outside: Array = (away > tolerance).any(axis=1)
        return outside

    def _unit(self) -> Array:
        unit = self.colour / self.scale[:, None]
        return product(unit, unit.T)

    def contains(self, deviation: Array, mean: Array) -> bool:
        """Whether μ + deviation lies on the support, up to rounding errors."""
        if not self.is_singular:
            return True
        scaled = (deviation / self.scale)[None, :]
        white = product(scaled, self.white.T)
        size = np.abs(scaled) + 2.0 * np.abs(mean) / self.scale
        return not self._outside(scaled, white, size, EPSILON)[0]


def root_of(covariance: Array, who: str, what: str = "covariance") -> CovarianceRoot:
    """The root of a symmetric matrix; an error if it has a negative eigenvalue. Cost: O(d³)."""
    variance = np.diagonal(covariance)
    if variance.min(initial=0.0) < 0:
        worst = int(np.argmin(variance))
        raise DataError(
            f"{who}: entry ({worst}, {worst}) of the {what} is {variance[worst]:g}; its diagonal "
            "must not be negative. Check how the matrix was computed."
        )
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    unit = covariance / scale / scale[:, None]
    d = len(scale)
    floor = d * RANK_TOLERANCE
    with one_blas_thread():
        if variance.min(initial=1.0) > 0:
            lower = _cholesky(unit)
            if lower is not None and float(np.diagonal(lower).min(initial=1.0)) ** 2 > floor:
                white, _ = scipy_linalg().lapack.dtrtri(lower, lower=1)
                log_determinant = 2.0 * float(np.log(np.diagonal(lower) * scale).sum())
                return CovarianceRoot(scale, lower * scale[:, None], white, log_determinant)
        values, vectors = np.linalg.eigh(unit)
        _require_semidefinite(values, who, what)
        kept = values > floor * max(1.0, float(values[-1]) / d)
        colour = scale[:, None] * vectors[:, kept] * np.sqrt(values[kept])
        white = np.zeros(colour.shape[::-1])
        if not kept.any():
            return CovarianceRoot(scale, colour, white, 0.0)
        # With large rows first and pivots, columns of small units keep their digits.
        order = np.argsort(-variance, kind="stable")[: np.count_nonzero(variance)]
        basis, triangle, pivots = scipy_linalg().qr(colour[order], mode="economic", pivoting=True)
        white[np.ix_(pivots, order)] = scipy_linalg().solve_triangular(triangle, basis.T)
        white *= scale
    sizes = np.abs(np.diagonal(triangle))
    return CovarianceRoot(scale, colour, white, 2.0 * float(np.log(sizes).sum()))


def _require_semidefinite(values: Array, who: str, what: str) -> None:
    if values[0] < -100 * len(values) * EPSILON * max(1.0, float(values[-1])):
        raise DataError(
            f"{who}: the {what} must be positive semidefinite, but the matrix scaled to a unit "
            f"diagonal has the eigenvalue {values[0]:.4g}. Check how it was computed; a matrix of "
            "pairwise estimates can be repaired by shrinking it towards its diagonal."
        )


def _cholesky(matrix: Array) -> Array | None:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2.0
