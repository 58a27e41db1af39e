"""Compressed sparse columns for working sets: one of the designs of `column_designs`."""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array, SparseMatrix
from thetahat.mathematics.optimizers.coordinate.column_designs import Design, ResidualState
from thetahat.mathematics.optimizers.coordinate.column_slopes import COLUMNS_PER_BLOCK
from thetahat.mathematics.optimizers.coordinate.gram_descent import (
    Limits,
    Progress,
    Terms,
    descend_on_gram,
)

FEW_PRODUCTS = 10_000
"""Number of entries of a Gram matrix of sparse columns that are cheap for any X."""


class SparseDesign(Design):
    """Compressed sparse columns; their means are subtracted implicitly.

    Parameters
    ----------
    X : CSC array of shape (n, d), float32 or float64
        The columns √w∘X, with each row multiplied by the root of its weight.
    y, mean, root
        As for `DenseDesign`: centred target, column means and root weights.
    """

    def __init__(self, X: SparseMatrix, y: Array, mean: Array, root: Array) -> None:
        self.X, self.mean, self.total = X, mean, float(np.sum(root * root))
        self.column_length = X.shape[0]
        squared = X.data.astype(np.float64) ** 2
        raw = np.add.reduceat(np.append(squared, 0.0), X.indptr[:-1])
        raw = np.where(np.diff(X.indptr) > 0, raw, 0.0)
        self.squares = np.maximum(raw - self.total * mean * mean, 0.0)
        # What remains of a constant column after centring is rounding error.
        self.squares[self.squares <= 1e-14 * raw] = 0.0
        self.aim(y)

    def aim(self, y: Array) -> None:
        """Change the target and keep everything that depends only on the columns."""
        self.y = y
        self.target_squared = float(np.sum(y * y))
        self._residual, self._beta = np.append(y, 0.0), np.zeros(self.X.shape[1])
        self.start = self.residual_state().slopes

    def begin(self, beta: Array, near: Array | None = None) -> ResidualState:
        if not beta.any():
            self._beta, self._residual = beta.copy(), np.append(self.y, 0.0)
            return ResidualState(self.start.copy(), self.target_squared, self.target_squared)
        self._place(beta)
        return self.residual_state(near)

    def _place(self, beta: Array) -> None:
        self._residual = np.append(self.y - self.X @ beta, np.sum(self.mean * beta))
        self._beta = beta.copy()

    def descend(self, beta: Array, working: Array, terms: Terms, limits: Limits) -> Progress:
        if not np.array_equal(beta, self._beta):
            self._place(beta)
        if limits.share < np.inf and len(working) ** 2 <= max(FEW_PRODUCTS, len(self.X.data)):
            return self._descend_on_gram(beta, working, terms, limits)
        part = beta[working]
        progress = _native.descend_sparse(
            self.X.data, self.X.indices, self.X.indptr, self.mean, self.total, self.y, working,
            self.squares[working], *terms.of(working), part, self._residual, limits.tolerance,
            limits.floor, limits.sweeps, limits.share,
        )  # fmt: skip
        beta[working] = part
        self._beta = beta.copy()
        return Progress(*progress)

    def _descend_on_gram(
        self, beta: Array, working: Array, terms: Terms, limits: Limits
    ) -> Progress:
        columns, mean = self.X[:, working], self.mean[working]
        gram = (columns.T @ columns).toarray().astype(np.float64, copy=False)
        gram -= self.total * np.outer(mean, mean)
        empty = self.squares[working] == 0
        gram[empty], gram[:, empty] = 0.0, 0.0
        part, active = beta[working], _native.ActiveSet(len(self.y))
        progress, _ = descend_on_gram(
            np.ascontiguousarray(gram), self.start[working], self.target_squared,
            terms.of(working), part, limits, active,
        )  # fmt: skip
        beta[working] = part
        self._place(beta)
        return progress

    def residual_state(self, near: Array | None = None) -> ResidualState:
        rest, shift = self._residual[:-1], float(self._residual[-1])
        out = np.empty(self.X.shape[1])

        def work(at: int) -> None:
            bounds = self.X.indptr[at : at + COLUMNS_PER_BLOCK + 1]
            _native.correlate_sparse(self.X.data, self.X.indices, bounds, rest, out, at)

        parallel_for(work, range(0, self.X.shape[1], COLUMNS_PER_BLOCK))
        return ResidualState(
            out + shift * self.total * self.mean,
            max(0.0, float(np.sum(rest * rest)) - shift * shift * self.total),
            float(np.sum(rest * self.y)),
        )
