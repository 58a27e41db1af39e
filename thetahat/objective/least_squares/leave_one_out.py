"""Leave-one-out errors of ridge regression for many penalties, in closed form and two passes.

With XᵀX = V diag(λ) Vᵀ on centred rows and p = Vᵀx, a fit with penalty α has

    residual  eᵢ(α) = yᵢ − ȳ − Σⱼ pᵢⱼ cⱼ/(λⱼ + α),   cⱼ = vⱼᵀXᵀy,
    leverage  hᵢ(α) = 1/W + Σⱼ pᵢⱼ²/(λⱼ + α),

and leaving row i out changes its residual to eᵢ/(1 − wᵢhᵢ): no fit is repeated. If a row alone
determines a direction, e → 0 and wh → 1 as α → 0; `saturated_rows` computes the ratio.

Cost: one Gram matrix, then O(n d²) for the leverages of all penalties together, in single precision
where that is safe. As functions of α both sums are of low numerical rank, so the number of
penalties hardly matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.source import Block, Source, kernel_weights
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.ridge_path import RidgePath
from thetahat.objective.least_squares.saturated_rows import SaturatedRows

SMALLEST = EPSILON
"""Smallest 1 − h used as a divisor."""


@dataclass(frozen=True)
class LeaveOneOutErrors:
    """Σ w e² of the leave-one-out residuals, for every output and penalty."""

    squares: Array
    weight: float

    def merge(self, other: LeaveOneOutErrors) -> LeaveOneOutErrors:
        """The errors of both sets of rows."""
        return LeaveOneOutErrors(self.squares + other.squares, self.weight + other.weight)

    @property
    def mean_squares(self) -> Array:
        """Mean squared error, shape (k, number of penalties)."""
        return self.squares / self.weight


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out residuals, computed block by block."""

    path: RidgePath
    intercept: bool

    def mean_squared_errors(self, source: Source) -> Array:
        """Mean squared leave-one-out error, shape (k, number of penalties)."""
        return source.reduce(self._plan(self._single_is_safe()).sums).mean_squares

    def residuals(self, source: Source) -> Array:
        """Leave-one-out residuals of every row, shape (n, k, number of penalties)."""
        return source.map_rows(self._plan(single=False).residuals)

    def _single_is_safe(self) -> bool:
        """Whether rounding to single precision leaves the mean squared errors six digits.

        The rounding of pᵢⱼ grows with κ and matters where leverages are not small; that of the fit
        matters where residuals are far smaller than the fit.
        """
        path = self.path
        alive = path.values[path.values > 0]
        return bool(
            alive.size
            and alive.max() < 1e6 * alive.min()
            and path.n_rows >= 20 * len(path.values)
            and path.noise_share() > 1e-6
        )

    def _plan(self, single: bool) -> _Plan:
        """Choose single or double precision and factor both families of functions of α."""
        path, dtype = self.path, np.float32 if single else np.float64
        filters, tolerance = path.filters(), 1e-7 if single else 1e-15
        size = np.sqrt(path.values)
        factors = [_low_rank(c[:, None] * filters, size, tolerance) for c in path.projected.T]
        leverage = _low_rank(filters, path.values, 1e-6 if single else tolerance)
        return _Plan(
            x_mean=path.x_mean,
            y_mean=path.y_mean,
            per_unit=np.full(len(path.x_mean), 1.0 / path.unit),
            vectors=path.vectors.astype(dtype),
            fits=[(left.astype(dtype), right) for left, right in factors],
            leverage=(leverage[0].astype(dtype), leverage[1]),
            unpenalised=path.unpenalised().astype(dtype),
            alone=SaturatedRows(path, self.intercept),
            base=1.0 / path.weight if self.intercept else 0.0,
        )


@dataclass(frozen=True)
class _Plan:
    """Data that every block needs: two families of functions of α, each as thin factors."""

    x_mean: Array
    y_mean: Array
    per_unit: Array
    vectors: Array
    fits: list[tuple[Array, Array]]
    leverage: tuple[Array, Array]
    unpenalised: Array
    """1/λ, for the leverage without a penalty."""
    alone: SaturatedRows
    base: float

    def parts(self, block: Block) -> tuple[Array, Array, Array, Array]:
        """Centred targets, parts of fits and of leverages, and h at α = 0, for one block."""
        X = dense_rows(block)
        rows = np.empty(X.shape, dtype=self.vectors.dtype)
        _native.pack_rows(X, self.x_mean, self.per_unit, np.empty(0), rows, 0)
        directions = rows @ self.vectors
        fitted = directions @ np.hstack([left for left, _ in self.fits])
        squares = np.square(directions, out=directions)
        leverage, level = squares @ self.leverage[0], squares @ self.unpenalised + self.base
        assert block.y is not None
        return block.y.reshape(len(X), -1) - self.y_mean, fitted, leverage, level

    def sums(self, block: Block) -> LeaveOneOutErrors:
        """Σ w e² of the leave-one-out residuals of a block."""
        y, fitted, leverage, level = self.parts(block)
        weight = kernel_weights(block.weight)
        total = float(weight.sum()) if weight.size else float(block.n_rows)
        squares = np.zeros((len(self.fits), self.leverage[1].shape[1]))
        rows, found = self.alone.residuals(block, level)
        if len(rows):
            mass = weight[rows, None] if weight.size else 1.0
            squares += (mass * found.transpose(1, 0, 2) ** 2).sum(axis=1)
            others = np.delete(np.arange(block.n_rows), rows)
            y, fitted, leverage = y[others], fitted[others], leverage[others]
            weight = weight[others] if weight.size else weight
        for output, (columns, (_, right)) in enumerate(self._split(fitted)):
            _native.leave_one_out_sums(
                np.ascontiguousarray(y[:, output], dtype=np.float64),
                np.ascontiguousarray(columns),
                right,
                leverage,
                self.leverage[1],
                weight,
                self.base,
                SMALLEST,
                squares[output],
            )
        return LeaveOneOutErrors(squares, total)

    def residuals(self, block: Block) -> Array:
        """The leave-one-out residuals of a block, shape (rows, outputs, penalties)."""
        y, fitted, leverage, level = self.parts(block)
        share = 1.0 if block.weight is None else np.asarray(block.weight)[:, None]
        kept = np.maximum(1.0 - share * (leverage @ self.leverage[1] + self.base), SMALLEST)
        left_out = np.stack(
            [
                (y[:, output, None] - columns @ right) / kept
                for output, (columns, (_, right)) in enumerate(self._split(fitted))
            ],
            axis=1,
        )
        rows, found = self.alone.residuals(block, level)
        left_out[rows] = found
        return left_out

    def _split(self, fitted: Array) -> Iterator[tuple[Array, tuple[Array, Array]]]:
        """The parts of each output's fit, with its factors."""
        ends = np.cumsum([left.shape[1] for left, _ in self.fits])[:-1]
        return zip(np.split(fitted, ends, axis=1), self.fits, strict=True)


def _low_rank(matrix: Array, size: Array, tolerance: float) -> tuple[Array, Array]:
    """Two thin factors whose product equals the matrix, for rows that are multiplied by numbers.

    Row j is multiplied by numbers of about the given size: √λⱼ for fits, λⱼ for leverages. So each
    product is at most of the size of y, or of 1, and the errors of all penalties are a share of
    that; without the sizes, 1/(λ + α) of a tiny α would leave no digit to the others.
    """
    with one_blas_thread():
        U, s, Vt = np.linalg.svd(size[:, None] * matrix, full_matrices=False)
    rank = max(1, int((s > tolerance * s[0]).sum()))
    left = np.divide(
        U[:, :rank] * s[:rank],
        size[:, None],
        where=size[:, None] > 0,
        out=np.zeros((len(size), rank)),
    )
    return left, np.ascontiguousarray(Vt[:rank])
