"""Rows with more columns than rows, in coordinates of the space that they span.

With a penalty on ‖β‖², the best β lies in the span of the rows. With Xᵀ = QR, the columns of Q
orthonormal, β = Qγ has ‖β‖ = ‖γ‖ and Xβ = Rᵀγ, so the problem in γ has as many columns as X has
independent rows, instead of d.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.threads import interruptible, one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.conditioning import watch_through
from thetahat.objective.predictor import LinearPredictor

MOST_ENTRIES = 1 << 24
"""Entries of X up to which sparse rows are made dense for this."""
SINGULAR = 1e-12
"""Smallest pivot, as a share of the largest, that counts as a direction of the rows."""
BOUND = 1e-8
"""Dependent rows whose residuals change by at most this share of b do not determine b."""
FITTED = 1e-10
"""Residuals up to this share of the largest |y| count as 0."""


@dataclass(frozen=True)
class RowSpace:
    """The rows in coordinates γ of their span, and the conversion of θ = (β, b, …) to and from it.

    If there are not more columns than distinct rows, the rows and θ are not changed. Cost: O(n² d)
    time and O(n d) memory.
    """

    source: Source
    predictor: LinearPredictor
    axes: Array | None = None
    """Q of shape (d, rank); None if the rows are not changed."""
    order: Array | None = None
    """Rows of positive weight; the coordinates of the first `rank` form a lower triangle."""

    @classmethod
    def of(cls, source: Source, predictor: LinearPredictor) -> RowSpace:
        """The rows of this source in these coordinates.

        Rows of weight 0 and repetitions of a row add no direction, so weights equal repetition.
        """
        d = source.n_features
        if not isinstance(source, InMemory) or (
            source.is_sparse and source.n_rows * d > MOST_ENTRIES
        ):
            return cls(source, predictor)
        counts = np.flatnonzero(source.row_weights)
        basis = counts if len(counts) < d else _distinct(source.X, counts, d)
        if basis is None or not len(basis):
            return cls(source, predictor)
        rows = source.dense_X
        rows = np.asarray(rows, dtype=np.float64)
        n = len(basis)
        columns = (rows if n == len(rows) else rows[basis]).T
        qr = scipy_linalg().qr
        with one_blas_thread():
            axes, triangle, order = interruptible(
                lambda: qr(columns, mode="economic", pivoting=True), 2.0 * n * n * d
            )
        pivots = abs(np.diagonal(triangle))
        if pivots[0] == 0.0:
            return cls(source, predictor)
        # Pivots fall; those at rounding level belong to no direction of the rows.
        rank = int(np.count_nonzero(pivots > SINGULAR * pivots[0]))
        axes = axes[:, :rank]
        with one_blas_thread():
            coordinates = np.empty((n, rank)) if n == len(rows) else rows @ axes
        coordinates[basis[order]] = triangle[:rank].T
        inner = replace(source, X=coordinates, n_features=rank)
        order = np.append(basis[order], np.setdiff1d(counts, basis))
        return cls(inner, replace(predictor, n_features=rank), axes, order)

    def interpolant(self) -> Array | None:
        """θ of least ‖β‖ with Xβ + b = y in all rows of positive weight; None if there is none.

        For the independent rows, with p = R⁻ᵀ1 and q = R⁻ᵀy, γ = q − b·p. The others, such as
        repeated rows, determine b or leave it free; γ is then shortest for b = pᵀq/pᵀp.
        """
        if self.axes is None or self.order is None or not isinstance(self.source, InMemory):
            return None
        rank = self.source.n_features
        rows = self.source.X[self.order]
        y = np.asarray(self.source.y, dtype=np.float64)[self.order]
        sides = np.column_stack([y, np.ones(len(y))])
        level = 0.0
        with one_blas_thread():
            pair = scipy_linalg().solve_triangular(rows[:rank], sides[:rank], lower=True)
            left, bound = (sides[rank:] - rows[rank:] @ pair).T
            q, p = pair.T
            if self.predictor.fit_intercept:
                if np.max(abs(bound), initial=0.0) > BOUND:
                    level = float(bound @ left) / float(bound @ bound)
                else:
                    level = float(p @ q) / float(p @ p)
        if np.max(abs(left - level * bound), initial=0.0) > FITTED * np.max(abs(y)):
            return None
        coef = q - level * p
        return self.predictor.pack(coef, level) if self.predictor.fit_intercept else coef

    def back(self, theta: Array) -> Array:
        """Convert (γ, …) to (β, …)."""
        if self.axes is None:
            return theta
        size = self.axes.shape[1]
        with one_blas_thread():
            return np.concatenate([self.axes @ theta[:size], theta[size:]])

    def to(self, theta: Array) -> Array:
        """Convert (β, …) to (γ, …), without the part of β outside the span of the rows."""
        if self.axes is None:
            return theta
        size = self.axes.shape[0]
        with one_blas_thread():
            return np.concatenate([self.axes.T @ theta[:size], theta[size:]])

    def watch(self, watch: Watch | None) -> AbstractContextManager[Watch | None]:
        """The watch for a solver in these coordinates; it receives ``back(θ)``."""
        return watch_through(watch, self.back)

    def solution(self, solution: Solution) -> Solution:
        """The solution with ``back(θ)``."""
        return replace(solution, theta=self.back(solution.theta))


def _distinct(X: Matrix, rows: Array, limit: int) -> Array | None:
    """One of each set of equal rows, from these rows; None if at least `limit` rows differ.

    Columns are compared one after another, first for a few rows, so ordinary rows cost O(limit).
    """
    size = 2 * limit
    while True:
        some = rows[:size]
        columns = None if isinstance(X, np.ndarray) else X[some].tocsc()
        kind = first = np.zeros(len(some), dtype=np.intp)
        for j in range(X.shape[1]):
            entries = X[some, j] if columns is None else columns[:, [j]].toarray()[:, 0]
            values, place = np.unique(entries, return_inverse=True)
            _, first, kind = np.unique(
                kind * len(values) + place, return_index=True, return_inverse=True
            )
            if len(first) >= limit:
                return None
        if size >= len(rows):
            return some[np.sort(first)]
        size *= 4
