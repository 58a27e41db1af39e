"""Direct solvers of least squares and ridge: min_β Σ wᵢ (yᵢ − xᵢᵀβ − b)² + τ‖β‖².

Each works on a reduction over the rows, so each runs in memory or block by block:

================  ================================  ==========================================
solver            works on                          error grows like
================  ================================  ==========================================
`cholesky`        normal equations (moments)        κ²ε; one symmetric product, the fastest
`pseudo_inverse`  normal equations, (XᵀX)⁺Xᵀy        κ²ε; least norm when rank-deficient
`qr`              R of Householder QR               κε;  ridge as augmented rows [X; √τ I]
`svd`             singular values of that R         κε;  least norm; ridge as filter s/(s²+τ)
`dual`            XXᵀ + τI, n × n                   κε; XXᵀ refined, or singular values; n < d
================  ================================  ==========================================

The intercept is not penalised, because X and y are centred first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.source import Source, row_weights
from thetahat.data.summaries.moments import Moments, require_squares
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.tiled_cholesky import upper_factor
from thetahat.mathematics.linalg.triangular_factor import TriangularFactor, triangular_factor
from thetahat.mathematics.linalg.uneven_columns import SMALLEST_SHARE, WideRows


@dataclass(frozen=True)
class LinearFit:
    """β̂ (d × k), the intercept (k,) and quantities from the factorisation.

    ``factor`` is an upper triangle with factorᵀ·factor = Σw(x − x̄)(x − x̄)ᵀ + τI in the units of
    the data, or None if the solver has no factor. ``condition`` is κ of the column-scaled X.
    """

    coef: Array
    intercept: Array
    solver: str
    rank: int | None
    """None if the columns are too many to find out."""
    condition: float
    residual: Array
    """Σ w (y − ŷ)² + τ‖β‖² for each output: the objective."""
    factor: Array | None = None
    dual: Array | None = None
    """α (n × k) with β = Xᵀα on centred rows, if the dual was solved."""
    refined: bool = False
    """Whether iterative refinement restored the digits that the factorisation lost."""


@dataclass(frozen=True)
class NormalEquations:
    """A γ = b with unit diagonal: the normal equations after column scaling.

    β = γ / scale · (unit of y). The rows and columns of constant columns of X are zero.
    """

    A: Array
    b: Array
    scale: Array
    """A coefficient in the units of the data times this scale gives γ."""
    y_unit: Array
    about: Moments

    @classmethod
    def of(cls, about: Moments, ridge: float | Array = 0.0) -> NormalEquations:
        """Scale the scatter of X (plus τ on its diagonal) to unit diagonal."""
        d = about.n_features
        scatter, unit = about.scatter, about.unit
        diagonal = np.maximum(np.diagonal(scatter)[:d], 0.0)
        # A spread within the rounding error of the mean counts as constant.
        floor = EPSILON * np.abs(about.x_mean) / unit[:d]
        constant = ~(diagonal > about.weight * floor**2)
        diagonal[constant] = 0.0
        if np.any(ridge):
            with np.errstate(over="ignore"):
                diagonal += np.minimum(ridge / unit[:d] / unit[:d], 1e280)
        size = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        A = scatter[:d, :d] / size
        A /= size[:, None]
        b = scatter[:d, d:] / size[:, None]
        A[constant] = A[:, constant] = b[constant] = 0.0
        np.einsum("ii->i", A)[:] = diagonal > 0.0
        return cls(A=A, b=b, scale=size * unit[:d], y_unit=unit[d:], about=about)

    def fit(
        self, gamma: Array, solver: str, rank: int, condition: float, R: Array | None
    ) -> LinearFit:
        """The solution in the units of the data, with intercept and residual sum of squares.

        The memory of the factor R is used for that in the units of the data.
        """
        coef = gamma / self.scale[:, None] * self.y_unit
        d = self.about.n_features
        explained = (gamma * (2.0 * self.b - self.A @ gamma)).sum(axis=0)
        total = np.diagonal(self.about.scatter)[d:]
        with np.errstate(over="ignore"):  # squares of y near 1e160 overflow, but β does not
            residual = np.maximum(total - explained, 0.0) * self.y_unit * self.y_unit
        return LinearFit(
            coef=coef,
            intercept=self.about.y_mean - self.about.x_mean @ coef,
            solver=solver,
            rank=rank,
            condition=condition,
            residual=residual,
            factor=None if R is None else np.multiply(R, self.scale, out=R),
        )


def cholesky(about: Moments, ridge: float | Array = 0.0) -> LinearFit | None:
    """Solve the normal equations by Cholesky, RᵀR = A; None if A is singular.

    The condition number is the square root of LAPACK's estimate from R: κ(X) = √κ(XᵀX).
    """
    lapack = scipy_linalg().lapack

    system = NormalEquations.of(about, ridge)
    R = upper_factor(system.A)
    if R is None:
        return None
    with one_blas_thread():
        reciprocal, _ = lapack.dpocon(R, lapack.dlange("1", system.A.T))
        gamma, _ = lapack.dpotrs(R, system.b)
        condition = float(np.sqrt(1.0 / reciprocal)) if reciprocal > 0 else float("inf")
        return system.fit(gamma, "cholesky", about.n_features, condition, R)


def pseudo_inverse(about: Moments, ridge: float | Array = 0.0) -> LinearFit:
    """β = (XᵀX + τI)⁺ Xᵀy; the least-norm solution if X is rank-deficient."""
    d = about.n_features
    system = NormalEquations.of(about, ridge)
    about.require_squares()
    with one_blas_thread():
        gram = system.A * system.scale * system.scale[:, None]
        values, vectors = np.linalg.eigh(gram)
        kept = values > d * EPSILON * max(values[-1], 0.0)
        inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
        coef = vectors @ (inverse[:, None] * (vectors.T @ (system.b * system.scale[:, None])))
    condition = float(np.sqrt(values[-1] / values[kept][0])) if kept.any() else float("inf")
    gamma = coef * system.scale[:, None]
    return system.fit(gamma, "pseudo_inverse", int(kept.sum()), condition, None)


def rank_of(about: Moments) -> int:
    """The rank of the scaled columns, from the eigenvalues of their Gram matrix. Cost: O(d³)."""
    with one_blas_thread():
        values = np.linalg.eigvalsh(NormalEquations.of(about).A)
    return int((values > about.n_features * EPSILON * max(values[-1], 0.0)).sum())


@dataclass(frozen=True)
class _Triangle:
    """The parts of R of [1, X − x̄, y − ȳ], with the columns of X scaled to unit length."""

    Rx: Array
    Ry: Array
    scale: Array
    residual: Array
    ones: Array | None
    about: Moments

    @classmethod
    def of(cls, factor: TriangularFactor, about: Moments, intercept: bool) -> _Triangle:
        R, d = factor.padded(), about.n_features
        first = int(intercept)
        Rx, Ry = R[first : first + d, first : first + d], R[first : first + d, first + d :]
        length = np.linalg.norm(Rx, axis=0)
        centre = np.abs(about.x_mean) if intercept else 0.0
        constant = length <= np.sqrt(about.weight) * EPSILON * centre / about.unit[:d]
        length = np.where(constant | (length == 0), 1.0, length)
        return cls(
            Rx=np.where(constant, 0.0, Rx) / length,
            Ry=Ry,
            scale=length * about.unit[:d],
            residual=(R[first + d :, first + d :] ** 2).sum(axis=0),
            ones=R[0] if intercept else None,
            about=about,
        )

    def fit(self, coef: Array, solver: str, rank: int, condition: float) -> LinearFit:
        """The complete fit, with the intercept corrected by the column of ones."""
        about, d = self.about, self.about.n_features
        left = self.Ry - self.Rx @ (coef * self.scale[:, None] / about.unit[d:])
        if self.ones is None:
            intercept = np.zeros(coef.shape[1])
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                slope = (self.ones[1 : 1 + d, None] * about.unit[:d, None] * coef).sum(axis=0)
            correction = (self.ones[1 + d :] * about.unit[d:] - slope) / self.ones[0]
            intercept = about.y_mean - about.x_mean @ coef + correction
        return LinearFit(
            coef=coef,
            intercept=intercept,
            solver=solver,
            rank=rank,
            condition=condition,
            residual=(self.residual + (left**2).sum(axis=0)) * about.unit[d:] ** 2,
            factor=self.Rx * self.scale,
        )


def qr(source: Source, about: Moments, *, intercept: bool, ridge: float = 0.0) -> LinearFit | None:
    """Householder QR of the rows, and Rβ = Qᵀy by back substitution; None if R is singular.

    Ridge adds the rows [√τ I, 0], which gives an augmented least-squares problem.
    """
    lapack = scipy_linalg().lapack

    triangle = _triangle(source, about, intercept, ridge)
    with one_blas_thread():
        reciprocal, _ = lapack.dtrcon(triangle.Rx)
        if not reciprocal > about.n_features * EPSILON:
            return None
        gamma, _ = lapack.dtrtrs(triangle.Rx, triangle.Ry)
    coef = gamma / triangle.scale[:, None] * about.unit[about.n_features :]
    return triangle.fit(coef, "qr", about.n_features, float(1.0 / reciprocal))


def svd(source: Source, about: Moments, *, intercept: bool, ridge: float = 0.0) -> LinearFit:
    """Solve by the singular values of R, dropping those at rounding level: the least-norm solution.

    Ridge filters the singular values of X itself: β = Σ_j v_j · s_j / (s_j² + τ) · u_jᵀy.
    """
    d = about.n_features
    with one_blas_thread():
        triangle = _triangle(source, about, intercept, 0.0)
        tolerance = max(about.n_rows, d) * EPSILON
        if ridge > 0:
            U, s, Vt = np.linalg.svd(triangle.Rx * triangle.scale)
            # A singular value at rounding level, divided by a tiny penalty, is all noise.
            filtered = np.where(s > tolerance * s[0], s / (s**2 + ridge), 0.0)
            coef = Vt.T @ (filtered[:, None] * (U.T @ triangle.Ry)) * about.unit[d:]
            rank = int((s > tolerance * s[0]).sum())
            fit = triangle.fit(coef, "svd", rank, _ratio(s, rank))
            return replace(fit, residual=fit.residual + ridge * (coef**2).sum(axis=0))
        U, s, Vt = np.linalg.svd(triangle.Rx)
        rank = int((s > tolerance * s[0]).sum()) if s[0] > 0 else 0
        gamma = Vt[:rank].T @ ((U[:, :rank].T @ triangle.Ry) / s[:rank, None])
        coef = gamma / triangle.scale[:, None] * about.unit[d:]
        if rank < d:
            coef = _least_norm(coef, Vt[rank:].T / triangle.scale[:, None])
    return triangle.fit(coef, "svd", rank, _ratio(s, rank))


def non_negative(
    source: Source, about: Moments, *, intercept: bool, ridge: float = 0.0
) -> LinearFit:
    """min ‖Rβ − Qᵀy‖ over β ≥ 0 by active sets, on the d × d triangle instead of the n rows."""
    from scipy.optimize import nnls

    triangle = _triangle(source, about, intercept, ridge)
    with one_blas_thread():
        s = np.linalg.svd(triangle.Rx, compute_uv=False)
        gamma = np.column_stack([nnls(triangle.Rx, column)[0] for column in triangle.Ry.T])
    rank = int((s > max(about.n_rows, about.n_features) * EPSILON * s[0]).sum())
    coef = gamma / triangle.scale[:, None] * about.unit[about.n_features :]
    return triangle.fit(coef, "active_set", rank, _ratio(s, rank))


def _least_norm(coef: Array, null_space: Array) -> Array:
    """β without its component in the null space (given by a basis): the shortest solution."""
    basis, _ = np.linalg.qr(null_space / np.linalg.norm(null_space, axis=0))
    return coef - basis @ (basis.T @ coef)


def _ratio(s: Array, rank: int) -> float:
    return float(s[0] / s[rank - 1]) if rank else float("inf")


def _triangle(source: Source, about: Moments, intercept: bool, ridge: float) -> _Triangle:
    factor = triangular_factor(source, about, intercept=intercept)
    if ridge > 0:
        width, first, d = factor.R.shape[1], int(intercept), about.n_features
        rows = np.zeros((d, width))
        rows[:, first : first + d] = np.diag(np.sqrt(ridge) / about.unit[:d])
        factor = factor.merge(TriangularFactor(rows))
    return _Triangle.of(factor, about, intercept)


def dual(
    X: Array, y: Array, weight: Array | None, *, intercept: bool, ridge: float = 0.0
) -> LinearFit:
    """β = Xᵀα with (XXᵀ + τI)α = y: n × n instead of d × d; least norm if τ = 0.

    With weights, X and y are the rows times √w, and the α that is returned is √w times the
    solution, so that β = Xᵀα for the rows themselves.

    With a penalty the system is solved by Cholesky, and the rank is not known. Without one, or if
    the penalty is at rounding level, singular values at rounding level count as 0, so that repeated
    rows and more rows than columns cause no problem: their part of y does not reach β, but
    α = (y − Xβ)/τ contains it if τ > 0.
    """
    y = y if y.ndim == 2 else y[:, None]
    root = np.sqrt(row_weights(weight, len(y)))
    share = root**2 / (root**2).sum()
    x_mean = share @ X if intercept else np.zeros(X.shape[1])
    y_mean = share @ y if intercept else np.zeros(y.shape[1])
    with one_blas_thread():
        centred, target = X - x_mean, y - y_mean
        if weight is not None:
            centred, target = centred * root[:, None], target * root[:, None]
        parts = (centred, target)
        largest = [np.maximum(part.max(axis=0), -part.min(axis=0)) for part in parts]
        require_squares(np.concatenate(largest) * np.sqrt(len(y)), X.shape[1])
        # A spread within the rounding error of the mean counts as constant.
        centred[:, largest[0] <= 8 * EPSILON * np.abs(x_mean)] = 0.0
        solve, rank, condition = _dual_system(centred, ridge)
        alpha, coef = solve(target)
        # The Gram matrix squares the condition; one step of refinement gives the digits back.
        left = solve(target - centred @ coef - ridge * alpha)
        alpha, coef = alpha + left[0], coef + left[1]
        residual = ((target - centred @ coef) ** 2).sum(axis=0) + ridge * (coef**2).sum(axis=0)
    return LinearFit(
        coef=coef,
        intercept=y_mean - x_mean @ coef,
        solver="dual",
        rank=rank,
        condition=condition,
        residual=residual,
        dual=root[:, None] * alpha,
    )


def _dual_system(
    X: Array, ridge: float
) -> tuple[Callable[[Array], tuple[Array, Array]], int | None, float]:
    """y ↦ α = (XXᵀ + τI)⁺y and β = Xᵀα; the rank of X if known, and κ of X."""
    gram = _outer_gram(X)
    if ridge > 0:
        lapack = scipy_linalg().lapack
        system = gram + np.diag(np.full(len(gram), ridge))
        R, failed = lapack.dpotrf(system, lower=0, clean=0)
        reciprocal = 0.0 if failed else lapack.dpocon(R, np.abs(system).sum(axis=0).max())[0]
        if reciprocal > SMALLEST_SHARE:

            def by_factor(target: Array) -> tuple[Array, Array]:
                alpha = lapack.dpotrs(R, target)[0]
                return alpha, X.T @ alpha

            return by_factor, None, float(np.sqrt(1.0 / reciprocal))
    rows = WideRows.of(X, gram)
    squares = rows.squares[:, None]

    def by_spectrum(target: Array) -> tuple[Array, Array]:
        parts = rows.left.T @ target
        unexplained = target - rows.left @ parts
        alpha = rows.left @ (parts / (squares + ridge)) + (unexplained / ridge if ridge > 0 else 0)
        return alpha, rows.right @ (np.sqrt(squares) / (squares + ridge) * parts)

    rank = len(rows.squares)
    condition = float(np.sqrt(rows.squares[-1] / rows.squares[0])) if rank else float("inf")
    return by_spectrum, rank, condition


def _outer_gram(X: Array) -> Array:
    """XXᵀ summed over fixed slices of columns, so that the bits do not depend on the threads."""
    from thetahat.foundation.threads import ordered_map

    step = 1024
    slices = (slice(start, start + step) for start in range(0, X.shape[1], step))
    total: Any = sum(ordered_map(lambda part: X[:, part] @ X[:, part].T, slices))
    return total
