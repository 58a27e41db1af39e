"""Leave-one-out residuals e/(1 − h) of rows that alone determine a direction.

Without a penalty such a row is fitted exactly, e = 0 and h = 1. With a penalty,

    e(α) = α Σⱼ pⱼcⱼ/(λⱼ(λⱼ + α)),    1 − h(α) = α Σⱼ pⱼ²/(λⱼ(λⱼ + α)),

in the notation of `leave_one_out`. α cancels in the ratio, and its limit for α → 0 is the residual
of the least-norm fit to the other rows. If d ≥ n, all rows are of this kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Block
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.ridge_path import RidgePath

SUSPECT, SATURATED = 1e-4, 1e-9
"""1 − h below which a row is checked in double precision, and below which it is saturated."""


@dataclass(frozen=True)
class SaturatedRows:
    """The saturated rows of a block and their leave-one-out residuals."""

    path: RidgePath
    intercept: bool

    def residuals(self, block: Block, leverage: Array) -> tuple[Array, Array]:
        """Their positions, and residuals of shape (rows, outputs, penalties).

        `leverage` is h at α = 0 of all rows of the block, possibly in single precision.
        """
        path = self.path
        share = np.ones(block.n_rows)
        if block.weight is not None:
            share = np.asarray(block.weight, dtype=np.float64)
        rows = np.flatnonzero(1.0 - share * leverage < SUSPECT)
        empty = np.empty((0, path.projected.shape[1], len(path.penalties)))
        if not len(rows):
            return rows, empty
        inverse = path.unpenalised()
        with one_blas_thread():
            X = dense_rows(block)[rows]
            directions = ((X - path.x_mean) / path.unit) @ path.vectors
        level = directions**2 @ inverse + (1.0 / path.weight if self.intercept else 0.0)
        reached = int((inverse > 0).sum())
        if reached < path.n_rows - self.intercept:
            saturated = 1.0 - share[rows] * level < SATURATED
            rows, directions = rows[saturated], directions[saturated]
        # 1/(λ(λ + α)) in units of the largest λ, because only ratios of it are used.
        largest = max(float(path.values[-1]), np.finfo(float).tiny)
        lifted = path.values[:, None] + path.penalties
        share_of = np.where(inverse[:, None] > 0, largest / np.where(lifted > 0, lifted, 1.0), 0.0)
        filters = (largest * inverse)[:, None] * share_of
        # In units of the largest λ as well, so that nothing overflows.
        directions, projected = directions / np.sqrt(largest), path.projected / np.sqrt(largest)
        with one_blas_thread():
            spread = share[rows, None] * (directions**2 @ filters)
            found = np.stack([directions @ (c[:, None] * filters) for c in projected.T], axis=1)
        return rows, found / np.where(spread > 0, spread, 1.0)[:, None, :]
