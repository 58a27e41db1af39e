"""Rows that alone determine a direction, left out: the limit of e/(1 − h) where both vanish.

Without a penalty such a row is met exactly, e = 0 and h = 1. With one,

    e(α) = α Σⱼ pⱼcⱼ/(λⱼ(λⱼ + α)),    1 − h(α) = α Σⱼ pⱼ²/(λⱼ(λⱼ + α)),

in the terms of `leave_one_out`: α cancels, and at α = 0 what is left is the residual of the
least-norm fit to the other rows. With no more rows than columns all rows are such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Block
from thetahat.data.summaries.moments import dense_rows
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.ridge_path import RidgePath

SUSPECT, SATURATED = 1e-4, 1e-9
"""1 − h below which a row is looked at, in double precision, and below which it is one of these."""


@dataclass(frozen=True)
class SaturatedRows:
    """Which rows of a block are saturated, and their residuals when left out."""

    path: RidgePath
    intercept: bool

    def residuals(self, block: Block, leverage: Array) -> tuple[Array, Array]:
        """Their places, and residuals of shape (rows, outputs, penalties).

        `leverage` is h at α = 0 of all rows of the block, maybe in single precision.
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
            told = 1.0 - share[rows] * level < SATURATED
            rows, directions = rows[told], directions[told]
        # 1/(λ(λ + α)) in units of the largest λ: only ratios of it count.
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
