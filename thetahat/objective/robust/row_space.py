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
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.conditioning import watch_through
from thetahat.objective.predictor import LinearPredictor

MOST_ENTRIES = 1 << 24
"""Entries of X up to which sparse rows are made dense for this."""
SINGULAR = 1e-12
"""Smallest pivot, as a share of the largest, that counts as a direction of the rows."""


@dataclass(frozen=True)
class RowSpace:
    """The rows in coordinates γ of their span, and the conversion of θ = (β, b, …) to and from it.

    If there are not more columns than rows, the rows and θ are not changed. Cost: O(n² d) time and
    O(n d) memory.
    """

    source: Source
    predictor: LinearPredictor
    axes: Array | None = None
    """Q of shape (d, rank); None if the rows are not changed."""
    order: Array | None = None
    """The order of the rows in which their coordinates form a lower triangle."""

    @classmethod
    def of(cls, source: Source, predictor: LinearPredictor) -> RowSpace:
        """The rows of this source in these coordinates."""
        if not isinstance(source, InMemory) or source.n_rows >= source.n_features:
            return cls(source, predictor)
        n, d = source.n_rows, source.n_features
        if source.is_sparse and n * d > MOST_ENTRIES:
            return cls(source, predictor)
        rows = source.X.toarray() if source.is_sparse else source.X
        columns = np.asarray(rows, dtype=np.float64).T
        qr = scipy_linalg().qr
        with one_blas_thread():
            axes, triangle, order = interruptible(
                lambda: qr(columns, mode="economic", pivoting=True), 2.0 * n * n * d
            )
        pivots = abs(np.diagonal(triangle))
        # Pivots fall; those at rounding level belong to no direction of the rows.
        rank = max(1, int(np.count_nonzero(pivots > SINGULAR * pivots[0])))
        coordinates = np.empty((n, rank))
        coordinates[order] = triangle[:rank].T
        inner = replace(source, X=coordinates, n_features=rank)
        return cls(inner, replace(predictor, n_features=rank), axes[:, :rank], order)

    def interpolant(self) -> Array | None:
        """θ of least ‖β‖ with Xβ + b = y; None if not all rows count, or if they are dependent.

        With p = R⁻ᵀ1 and q = R⁻ᵀy, γ = q − b·p, which is shortest for b = pᵀq/pᵀp.
        """
        if self.axes is None or not isinstance(self.source, InMemory):
            return None
        weight = self.source.weight
        all_count = weight is None or bool((weight > 0).all())
        if not all_count or self.source.n_features < self.source.n_rows:
            return None
        rows, y = self.source.X[self.order], np.asarray(self.source.y)[self.order]
        sides = np.column_stack([y, np.ones(len(y))]).astype(np.float64)
        with one_blas_thread():
            q, p = scipy_linalg().solve_triangular(rows, sides, lower=True).T
            if not self.predictor.fit_intercept:
                return q
            level = float(p @ q) / float(p @ p)
        return self.predictor.pack(q - level * p, level)

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
