"""The likelihood of factor analysis as a function of the noise variances alone.

Rows are x ~ N(μ, AᵀA + Ψ) with k factors and a diagonal Ψ. For a given Ψ the best loadings follow
from the leading eigenvalues θ and eigenvectors V of M = Ψ^(−½)·S·Ψ^(−½), where S is the covariance
of the rows: A = (θ − 1)^½·Vᵀ·Ψ^½, over the eigenvalues above 1. What remains is

    F(log Ψ) = Σ log ψ + Σ_{j ≤ k, θ_j > 1} (log θ_j + 1 − θ_j) + tr M,

−2/n times the log-likelihood up to a constant. The EM step sets ψ to the diagonal of S − AᵀA. It
never increases F and is slow. A Newton step uses the derivatives (C = the part of M outside V)

    ∂F/∂log ψ_i = 1 − M_ii + Σ_j (θ_j − 1)v_ij²,
    ∂²F/∂log ψ_i ∂log ψ_l ≈ P_il·C_il + (VVᵀ)_il·(P − C)_il,    P = I − VVᵀ,

which is exact if θ_j is far above the eigenvalues that are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State

LEAST_NOISE = 1e-8
"""The smallest noise variance, as a share of the variance of its column."""
MOST_COLUMNS = 1000
"""Number of columns up to which Newton steps are worth a matrix of second derivatives."""
SMALL = 100
"""Number of columns up to which all eigenvalues cost less than iterations for the leading ones."""
OVERSAMPLES = 10
BY_ROWS = 6
"""Rows, in vectors times iterations, up to which a product of all pairs of rows pays."""
FIRST_POWERS = 8
"""Further power iterations of the first step, which starts from random vectors."""
FLAT = 1e-5
"""Share of the mean curvature that is added to all. With many factors the noise is not determined,
and rounding errors would be moved along directions without curvature."""
LONGEST = 3.0
"""The largest change of a log ψ in a Newton step."""


class Spread(Protocol):
    """The correlations S of the columns, in a form that suits the shape of the rows."""

    @property
    def diagonal(self) -> Array:
        """The diagonal of S."""

    def whitened(self, root: Array) -> Any:
        """M = S divided by the given roots of ψ, with products and leading eigenvectors."""


@dataclass(frozen=True)
class Symmetric:
    """A symmetric matrix M of shape (d, d)."""

    matrix: Array

    @property
    def size(self) -> int:
        return len(self.matrix)

    def __matmul__(self, Q: Array) -> Array:
        return self.matrix @ Q

    def eigen(self, k: int) -> tuple[Array, Array]:
        d = len(self.matrix)
        if 3 * k >= d:
            values, vectors = scipy_linalg().eigh(self.matrix, driver="evd", check_finite=False)
            return values[::-1][:k], vectors[:, ::-1][:, :k]
        values, vectors = scipy_linalg().eigh(
            self.matrix, subset_by_index=(d - k, d - 1), driver="evr", check_finite=False
        )
        return values[::-1], vectors[:, ::-1]


@dataclass(frozen=True)
class Product:
    """M = RᵀR for few rows R of shape (n, d)."""

    rows: Array

    @property
    def size(self) -> int:
        return len(self.rows)

    def __matmul__(self, Q: Array) -> Array:
        return self.rows.T @ (self.rows @ Q)

    def eigen(self, k: int) -> tuple[Array, Array]:
        # Values far below the largest lose digits here, but those below 1 are not used.
        values, left = Symmetric(self.rows @ self.rows.T).eigen(min(k, len(self.rows)))
        values = np.maximum(values, np.finfo(np.float64).tiny)
        return values, self.rows.T @ (left / np.sqrt(values))


@dataclass(frozen=True)
class Matrix:
    """S as a matrix, for rows of any number."""

    S: Array

    @property
    def diagonal(self) -> Array:
        return np.diagonal(self.S)

    def whitened(self, root: Array) -> Symmetric:
        return Symmetric(self.S / root / root[:, None])


@dataclass(frozen=True)
class FewRows:
    """S = RᵀR by its rows, for fewer rows than columns."""

    R: Array

    @cached_property
    def diagonal(self) -> Array:
        return np.einsum("ij,ij->j", self.R, self.R)

    def whitened(self, root: Array) -> Product:
        return Product(self.R / root)


@dataclass(frozen=True)
class Fit:
    """The best loadings for some noise variances: eigenvalues above 1, their vectors, and F."""

    theta: Array
    vectors: Array
    value: float
    matrix: Any

    def loadings(self, root: Array) -> Array:
        """A, in the units of the columns of S; (k, d)."""
        return (self.vectors * np.sqrt(self.theta - 1.0) * root[:, None]).T


@dataclass(frozen=True)
class NoiseProfile:
    """F of log ψ, for k factors. `exact` computes eigenvalues by LAPACK, not by iterations."""

    spread: Spread
    k: int
    exact: bool
    powers: int
    rng: np.random.Generator
    last: dict[str, Any] = field(default_factory=dict)
    convex: bool = False

    def fit(self, logs: Array, before: Array | None = None) -> Fit:
        """The best loadings. `before` are vectors that start the iterations."""
        root = np.exp(0.5 * logs)
        matrix = self.spread.whitened(root)
        values, vectors = self._leading(matrix, len(logs), before)
        above = values > 1.0
        theta, vectors = values[above], vectors[:, above]
        trace = float((self.spread.diagonal / root**2).sum())
        gain = float(np.sum(np.log(theta) + 1.0 - theta))
        found = Fit(theta, vectors, float(logs.sum()) + gain + trace, matrix)
        self.last.update(logs=logs, fit=found)
        return found

    def again(self, logs: Array) -> Fit:
        """The loadings once more, from those that were computed last."""
        fit: Fit = self.last["fit"]
        return fit if self.last["logs"] is logs else self.fit(logs, fit.vectors)

    def _leading(self, matrix: Any, d: int, before: Array | None) -> tuple[Array, Array]:
        if self.k == 0:
            return np.empty(0), np.empty((d, 0))
        width = self.k + OVERSAMPLES
        if self.exact or 2 * width >= matrix.size or matrix.size <= SMALL:
            return matrix.eigen(self.k)
        # The values of any orthonormal vectors are those of a model, so F is exact for it.
        powers = self.powers + (FIRST_POWERS if before is None else 0)
        old = np.empty((d, 0)) if before is None else before
        if isinstance(matrix, Product) and matrix.size <= BY_ROWS * width * (powers + 2):
            return self._leading_by_rows(matrix.rows, old, width, powers)
        block = np.hstack([old, self.rng.standard_normal((d, width - old.shape[1]))])
        for _ in range(max(powers, 1)):
            block = matrix @ _orthonormal(block)
        basis = _orthonormal(block)
        inner = basis.T @ (matrix @ basis)
        values, turn = np.linalg.eigh((inner + inner.T) / 2)
        return values[::-1][: self.k], basis @ turn[:, ::-1][:, : self.k]

    def _leading_by_rows(
        self, R: Array, old: Array, width: int, powers: int
    ) -> tuple[Array, Array]:
        """The same for M = RᵀR, by iterations with K = RRᵀ: V spans Rᵀ times vectors U of K."""
        K = R @ R.T
        block = np.hstack([R @ old, self.rng.standard_normal((len(R), width - old.shape[1]))])
        for _ in range(max(powers, 1)):
            block = K @ _orthonormal(block)
        U = _orthonormal(block)
        W = K @ U
        squares, turn = np.linalg.eigh(U.T @ W)  # of the lengths of RᵀU
        kept = squares > FLAT**2 * squares[-1]
        T = turn[:, kept] / np.sqrt(squares[kept])
        W = W @ T
        values, turn = np.linalg.eigh(W.T @ W)
        return values[::-1][: self.k], R.T @ (U @ (T @ turn[:, ::-1][:, : self.k]))

    def slope(self, logs: Array, fit: Fit) -> Array:
        """∂F/∂log ψ."""
        return 1.0 - self.spread.diagonal * np.exp(-logs) + fit.vectors**2 @ (fit.theta - 1.0)

    def expectation_step(self, logs: Array, slope: Array) -> Array:
        """log ψ after an EM step, ψ ← diag(S − AᵀA) = ψ(1 − slope)."""
        return logs + np.log(np.maximum(1.0 - slope, np.exp(math.log(LEAST_NOISE) - logs)))

    def newton_step(self, logs: Array, fit: Fit, slope: Array) -> Array | None:
        """log ψ after a Newton step within bounds; None if second derivatives do not help."""
        free = (logs > math.log(LEAST_NOISE)) | (slope < 0)
        if not free.any():
            return None
        whole = bool(free.all())
        V = fit.vectors if whole else fit.vectors[free]
        M = fit.matrix.matrix if whole else fit.matrix.matrix[np.ix_(free, free)]
        inside = V @ V.T
        # −2(VVᵀ)∘C − (VVᵀ)∘(VVᵀ), to which only the diagonal of C + VVᵀ is to be added.
        second = (V * (2.0 * fit.theta - 1.0)) @ V.T
        second -= M
        second -= M
        second *= inside
        rest = np.diagonal(M) - V**2 @ fit.theta
        diagonal = rest + np.diagonal(inside)
        np.einsum("ii->i", second)[:] += diagonal + FLAT * diagonal.mean()
        factor, failed = scipy_linalg().lapack.dpotrf(second, lower=1)
        if failed:  # far from the optimum; P∘C is always positive semidefinite
            second = -inside * (M - (V * fit.theta) @ V.T)
            np.einsum("ii->i", second)[:] += rest + FLAT * diagonal.mean()
            factor, failed = scipy_linalg().lapack.dpotrf(second, lower=1)
            if failed:
                return None
        move = scipy_linalg().lapack.dpotrs(factor, -slope[free], lower=1)[0]
        step = np.zeros_like(logs)
        step[free] = np.clip(move, -LONGEST, LONGEST)
        return np.maximum(logs + step, math.log(LEAST_NOISE))


def _orthonormal(block: Array) -> Array:
    """Orthonormal columns with the span of these, which are fewer than the rows."""
    lapack = scipy_linalg().lapack
    factors, tau, *_ = lapack.dgeqrf(block)
    found: Array = lapack.dorgqr(factors, tau, overwrite_a=1)[0]
    return found


@dataclass(frozen=True, eq=False)
class NoiseSteps(Method):
    """Newton steps where they lower F, and EM steps otherwise, lengthened while that helps."""

    rows: float
    """Number of rows; the gap is in units of the log-likelihood, with weights of mean 1."""

    name = "profile_newton"
    needs = ("fit", "slope")
    gap_kind = "increase of the log-likelihood in the last iteration"

    def start(self, problem: NoiseProfile, theta: Array) -> State:
        with one_blas_thread():
            fit = problem.fit(theta)
        return State(theta, fit.value, math.inf, {"fit": fit, "stretch": 1.0})

    def advance(self, problem: NoiseProfile, state: State) -> State:
        with one_blas_thread():
            return self._advance(problem, state)

    def _advance(self, problem: NoiseProfile, state: State) -> State:
        logs, fit, stretch = state.theta, state.memory["fit"], state.memory["stretch"]
        slope = problem.slope(logs, fit)
        best: tuple[Array, Fit] | None = None
        if len(logs) <= MOST_COLUMNS and isinstance(fit.matrix, Symmetric):
            point = problem.newton_step(logs, fit, slope)
            for _ in range(3):
                if point is None:
                    break
                found = problem.fit(point, fit.vectors)
                if found.value < fit.value:
                    best = point, found
                    break
                point = logs + 0.25 * (point - logs)
        if best is None:
            plain = problem.expectation_step(logs, slope)
            point = np.maximum(logs + stretch * (plain - logs), math.log(LEAST_NOISE))
            found = problem.fit(point, fit.vectors)
            if found.value > fit.value and stretch > 1.0:
                point, stretch = plain, 1.0
                found = problem.fit(point, fit.vectors)
            else:
                stretch *= 1.5
            best = point, found
        point, found = best
        gap = 0.5 * self.rows * (fit.value - found.value)
        if gap < 0.0:  # rounding, or vectors that have not settled: nothing is gained any more
            return State(logs, fit.value, 0.0, state.memory)
        return State(point, found.value, gap, {"fit": found, "stretch": stretch})
