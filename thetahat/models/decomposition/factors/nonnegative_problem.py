"""Non-negative factors X ≈ WH as a problem: the divergence of X from WH, plus penalties.

W and H are kept as W, of one row per row of X, and Hᵀ, of one row per column of X. Both are updated
by the same functions, with X or with Xᵀ. The divergence of order β is, for p = (WH)_ij,

    ½(x − p)²                               β = 2, Frobenius,
    x·log(x/p) − x + p                      β = 1, Kullback–Leibler,
    x/p − log(x/p) − 1                      β = 0, Itakura–Saito,
    (x^β + (β − 1)p^β − βx·p^(β−1))/(β(β − 1))   otherwise.

Rows are cut into pieces whose number depends on the shapes alone, so that results do not depend on
the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thetahat import _native
from thetahat.data.source import Block
from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import one_blas_thread, parallel_for
from thetahat.foundation.types import Array, Matrix
from thetahat.models.decomposition.factors.nonnegative_pieces import (
    dense_piece,
    inner,
    row_products,
    shaped,
    sparse_piece,
    summed,
)

FLOOR = 1e-12
"""Lower bound of the entries of WH that are divided by, times the level of X."""
PIECE = 1e6
"""Multiplications per piece; at most MOST_PIECES pieces."""
MOST_PIECES = 16
FEWEST_ROWS = 64
"""Rows of a piece whose sums over rows are added to those of other pieces."""
USUAL_PASSES = 10
"""Over the weights of a row, which decide the number of pieces."""


class Penalty(NamedTuple):
    """l1·Σw + ½·l2·Σw² over the entries of one factor."""

    l1: float
    l2: float

    def value(self, factor: Array) -> float:
        found = 0.0
        if self.l1:
            found += self.l1 * float(factor.sum(dtype=np.float64))
        if self.l2:
            found += 0.5 * self.l2 * inner(factor, factor)
        return found


class Parts(NamedTuple):
    """Numerator and denominator of the multiplicative update, and the divergence."""

    numerator: Array
    denominator: Array
    """One row if it is the same for all rows of the factor."""
    value: float


@dataclass(frozen=True)
class Side:
    """The rows of X, or of Xᵀ, for updates of the factor with one row for each of them."""

    X: Matrix

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    @cached_property
    def entries(self) -> int:
        """Number of entries that are stored."""
        return int(self.X.size) if isinstance(self.X, np.ndarray) else int(self.X.nnz)

    @cached_property
    def level(self) -> float:
        """The mean of X, at most 1; 1 if X is 0. Bounds in its units suit entries of any size."""
        mean = float(self.X.sum(dtype=np.float64)) / max(self.X.shape[0] * self.X.shape[1], 1)
        return min(mean, 1.0) if mean > 0 else 1.0

    @cached_property
    def floor(self) -> float:
        return FLOOR * self.level

    @cached_property
    def power_totals(self) -> dict[float, float]:
        return {}

    def power_total(self, beta: float) -> float:
        """Σ x^β, for sparse rows of the entries that are stored."""
        if beta not in self.power_totals:
            entries = np.asarray(self.X.data if self.is_sparse else self.X)
            self.power_totals[beta] = float((entries**beta).sum(dtype=np.float64))
        return self.power_totals[beta]

    @cached_property
    def pieces(self) -> dict[int, list[tuple[slice, Matrix]]]:
        """The rows of each piece, as views, by the number of pieces."""
        return {}

    def each(self, work: Callable[[int, slice, Matrix], None], k: int, fewest: int = 1) -> int:
        """Call ``work(number, rows, X[rows])`` for each piece, on several threads.

        A piece has at least `fewest` rows. Returns the number of pieces.
        """
        n, cost = self.X.shape[0], float(self.entries) * k
        count = int(max(1, min(MOST_PIECES, cost // PIECE, n // fewest)))
        if count == 1:
            with one_blas_thread():
                work(0, slice(0, n), self.X)
            return count
        if count not in self.pieces:
            cuts = [slice(n * i // count, n * (i + 1) // count) for i in range(count)]
            self.pieces[count] = [(rows, Block(X=self.X).take(rows).X) for rows in cuts]

        def one(number: int) -> None:
            work(number, *self.pieces[count][number])

        parallel_for(one, range(count), cost)
        return count

    def times(self, other: Array) -> Array:
        """X·other, for the factor of the columns. Cost: O(nnz·k)."""
        found = np.empty((self.X.shape[0], other.shape[1]), dtype=other.dtype)

        def work(number: int, rows: slice, X: Matrix) -> None:
            row_products(X, other, found[rows])

        self.each(work, other.shape[1])
        return found

    def swept(
        self,
        gram: Array,
        other: Array,
        l1: float,
        order: Array,
        sweeps: int,
        tolerance: float,
        factor: Array,
    ) -> tuple[float, Array]:
        """As `sweep` with X·other − l1 for dense rows, and Xᵀ·factor afterwards.

        The rows are read once. Cost: O(n d k).
        """
        violations, sums = np.zeros(MOST_PIECES), [np.empty((0, 0))] * MOST_PIECES

        def work(number: int, rows: slice, X: Array) -> None:
            sums[number] = np.empty_like(other)
            violations[number] = _native.swept_products(
                X, other, gram, l1, order, sweeps, tolerance, factor[rows], sums[number]
            )

        count = self.each(work, other.shape[1], FEWEST_ROWS)
        return float(violations.sum()), summed(sums[:count])

    def back(self, factor: Array) -> Array:
        """Xᵀ·factor for dense rows. Cost: O(n d k)."""
        sums = [np.empty((0, 0))] * MOST_PIECES

        def work(number: int, rows: slice, X: Array) -> None:
            sums[number] = np.empty((X.shape[1], factor.shape[1]), dtype=factor.dtype)
            _native.column_products(X, factor[rows], sums[number])

        return summed(sums[: self.each(work, factor.shape[1], FEWEST_ROWS)])

    def column_parts(self, factor: Array, other: Array, beta: float, valued: bool = True) -> Parts:
        """The multiplicative update of `other`, while `factor` is fixed, from dense rows."""
        numerators, denominators = ([np.empty((0, 0))] * MOST_PIECES for _ in range(2))
        right, values, floor = np.ascontiguousarray(other.T), np.zeros(MOST_PIECES), self.floor

        def work(number: int, rows: slice, X: Array) -> None:
            ratios, powers = shaped(X, beta)
            values[number] = _native.divergence_ratios(
                X, factor[rows], right, beta, floor, valued, ratios, powers
            )
            for sums, each in ((numerators, ratios), (denominators, powers)):
                if each.size:
                    sums[number] = np.empty_like(other)
                    _native.column_products(each, factor[rows], sums[number])

        count = self.each(work, other.shape[1], FEWEST_ROWS)
        sums = factor.sum(axis=0, dtype=np.float64)
        below = sums.astype(factor.dtype)[None] if beta == 1 else summed(denominators[:count])
        value = self._divergence(float(values.sum()), other, sums, beta) if valued else 0.0
        return Parts(summed(numerators[:count]), below, value)

    def sweep(
        self, gram: Array, cross: Array, order: Array, sweeps: int, tolerance: float, factor: Array
    ) -> float:
        """Coordinate descent on the rows of `factor`, in place; Σ |projected gradient| before."""
        violations = np.zeros(MOST_PIECES)

        def work(number: int, rows: slice, X: Matrix) -> None:
            violations[number] = _native.nonnegative_sweeps(
                gram, cross[rows], order, sweeps, tolerance, factor[rows]
            )

        self.each(work, factor.shape[1])
        return float(violations.sum())

    def divergence_weights(
        self, other: Array, beta: float, power: float, penalty: Penalty, most: int, tolerance: float
    ) -> Array:
        """The best factor for `other`, row by row. Cost: O(n d k) per pass, at most `most`."""
        found = np.empty((self.X.shape[0], other.shape[1]), dtype=other.dtype)

        def work(number: int, rows: slice, X: Matrix) -> None:
            settings = (other, beta, power, *penalty, FLOOR, most, tolerance, found[rows])
            if isinstance(X, np.ndarray):
                _native.divergence_weights(np.ascontiguousarray(X), *settings)
            else:
                _native.sparse_divergence_weights(X.data, X.indices, X.indptr, *settings)

        self.each(work, other.shape[1] * USUAL_PASSES)
        return found

    def parts(self, factor: Array, other: Array, beta: float, valued: bool = True) -> Parts:
        """The multiplicative update of `factor`, while `other` is fixed. Cost: O(n d k)."""
        numerator = np.empty_like(factor)
        sums = other.sum(axis=0, dtype=np.float64)
        if beta == 1:
            denominator = sums.astype(factor.dtype)[None]
        else:
            denominator = np.empty_like(factor)
        values = np.zeros(MOST_PIECES)
        piece, floor = sparse_piece if self.is_sparse else dense_piece, self.floor

        def work(number: int, rows: slice, X: Matrix) -> None:
            into = None if beta == 1 else denominator[rows]
            values[number] = piece(
                X, factor[rows], other, beta, floor, valued, numerator[rows], into
            )

        self.each(work, factor.shape[1])
        value = float(values.sum())
        if valued and (beta == 1 or not self.is_sparse):
            value = self._divergence(value, factor, sums, beta)
        return Parts(numerator, denominator, value)

    def _divergence(self, value: float, factor: Array, sums: Array, beta: float) -> float:
        """The divergence from its part that depends on the entries of WH; ``sums``: Σ other."""
        if beta == 1:
            return (
                value + float(factor.sum(axis=0, dtype=np.float64) @ sums) - self.power_total(1.0)
            )
        return value if beta == 0 else (value + self.power_total(beta)) / (beta * (beta - 1.0))


@dataclass(frozen=True)
class NonnegativeFactors:
    """The divergence of X from WH and the penalties, as a function of (W, Hᵀ) in one vector."""

    X: Matrix
    k: int
    beta: float
    left: Penalty
    right: Penalty
    convex = False
    description = "non-negative matrix factorisation"

    @cached_property
    def rows(self) -> Side:
        return Side(self.X)

    @cached_property
    def columns(self) -> Side:
        X = self.X.T
        return Side(X if isinstance(X, np.ndarray) else X.tocsr())

    @property
    def is_penalised(self) -> bool:
        return any(self.left) or any(self.right)

    @cached_property
    def square(self) -> float:
        """Σ x²."""
        entries = self.X if isinstance(self.X, np.ndarray) else self.X.data[None]
        return float(np.einsum("ij,ij->", entries, entries, dtype=np.float64))

    def split(self, theta: Array) -> tuple[Array, Array]:
        """W and Hᵀ, as views."""
        n, d = self.X.shape
        return theta[: n * self.k].reshape(n, self.k), theta[n * self.k :].reshape(d, self.k)

    def sweep_left(
        self, W: Array, Ht: Array, gram: Array, order: Array, sweeps: int, tolerance: float
    ) -> tuple[float, Array]:
        """Coordinate descent on W, in place: Σ |projected gradient| before, and XᵀW after."""
        l1 = self.left.l1
        if not self.rows.is_sparse:
            return self.rows.swept(gram, Ht, l1, order, sweeps, tolerance, W)
        cross = self.rows.times(Ht)
        if l1:
            cross -= cross.dtype.type(l1)
        return self.rows.sweep(gram, cross, order, sweeps, tolerance, W), self.back(W)

    def right_parts(self, W: Array, Ht: Array, valued: bool = True) -> Parts:
        """The multiplicative update of Hᵀ, while W is fixed. Cost: O(n d k)."""
        if self.rows.is_sparse:
            return self.columns.parts(Ht, W, self.beta, valued)
        return self.rows.column_parts(W, Ht, self.beta, valued)

    def back(self, W: Array) -> Array:
        """XᵀW. Cost: O(nnz·k)."""
        return self.columns.times(W) if self.rows.is_sparse else self.rows.back(W)

    def penalties(self, W: Array, Ht: Array) -> float:
        return self.left.value(W) + self.right.value(Ht)

    def square_value(self, factor: Array, cross: Array, gram: Array, left_gram: Array) -> float:
        """½‖X − WH‖² from W and X·Hᵀ, or Hᵀ and XᵀW, and HHᵀ, WᵀW. Cost: O(nk + k²)."""
        found = 0.5 * self.square - inner(factor, cross) + 0.5 * inner(gram, left_gram)
        return max(found, 0.0)

    def error(self, W: Array, Ht: Array) -> float:
        """√(2·divergence). Cost: O(n d k), or O(nnz·k) for sparse X with β = 1 or 2."""
        if self.beta != 2:
            return math.sqrt(2.0 * max(self.rows.parts(W, Ht, self.beta).value, 0.0))
        if self.rows.is_sparse:
            with one_blas_thread():
                grams = Ht.T @ Ht, W.T @ W
            return math.sqrt(2.0 * self.square_value(W, self.rows.times(Ht), *grams))
        squares = np.zeros(MOST_PIECES)

        def work(number: int, rows: slice, X: Array) -> None:
            apart = W[rows] @ Ht.T
            np.subtract(X, apart, out=apart)
            squares[number] = inner(apart, apart)

        self.rows.each(work, self.k)
        return math.sqrt(float(squares.sum()))
