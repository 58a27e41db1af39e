"""Normal posteriors of linear functions: β, b | data ~ N(mean, covariance)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class LinearPosterior:
    """The normal posterior of β and of the prediction c = b + centreᵀβ at `centre`.

    At the mean of the rows, β and c are independent under a flat prior of b, so that variances of
    predictions stay accurate for columns far from zero. Without an intercept there is no c.
    """

    mean: Array
    """(β, c), or β only."""
    covariance: Array
    centre: Array
    intercept: bool

    def spread(self, rows: Array) -> Array:
        """Var(xᵀβ + b | data) for dense rows x."""
        design = self._design(rows)
        return np.maximum(np.einsum("ij,ij->i", design @ self.covariance, design), 0.0)

    def joint(self, rows: Array) -> Array:
        """The covariance of xᵀβ + b between rows."""
        design = self._design(rows)
        return design @ self.covariance @ design.T

    def _design(self, rows: Array) -> Array:
        centred = np.asarray(rows, dtype=np.float64) - self.centre
        return np.column_stack([centred, np.ones(len(centred))]) if self.intercept else centred

    def in_units(self) -> tuple[Array, Array]:
        """Mean and covariance of (β, b), or of β only."""
        if not self.intercept:
            return self.mean, self.covariance
        back = self._back()
        return back @ self.mean, back @ self.covariance @ back.T

    def sample(self, size: int, random: np.random.Generator) -> Array:
        """Draws of (β, b) as rows; of β only without an intercept."""
        with one_blas_thread():
            values, vectors = np.linalg.eigh(self.covariance)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            draws = self.mean + random.standard_normal((size, len(values))) @ root.T
            return draws @ self._back().T if self.intercept else draws

    def _back(self) -> Array:
        """The matrix that turns (β, c) into (β, b = c − centreᵀβ)."""
        back = np.eye(len(self.mean))
        back[-1, :-1] = -self.centre
        return back


def spread_of(posterior: LinearPosterior, source: Source) -> Array:
    """Var(xᵀβ + b | data) for all rows of a source, block by block."""
    return source.map_rows(lambda block: posterior.spread(dense_rows(block)))
