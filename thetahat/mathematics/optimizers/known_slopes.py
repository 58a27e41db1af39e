"""What is known of the slopes Xᵀr without reading X again.

Let the slopes of some residuals be known; Q holds an orthonormal basis of their span as its rows,
and C = QX. Any residual is r = Qᵀa + e with e orthogonal to the span, so

    Xᵀr = Cᵀa + Xᵀe,    |x_jᵀe| ≤ ‖x_j‖·‖e‖.

Along a path e is short, and the bound leaves few columns whose slopes need be worked out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread

Array = Any

MOST_KNOWN, ROWS_PER_KNOWN = 32, 8
"""Residuals that are remembered, at most: in all, and one for so many rows of X."""
ROUNDING = 1e-12
"""The share of ‖x_j‖·‖r‖ that the sums above may be off."""


class KnownSlopes:
    """A basis of residuals, and the slopes of each. Cost: O(k (n + d)) for k of them.

    Parameters
    ----------
    lengths : array of shape (d,)
        ‖x_j‖.
    rows : int
        The length of a residual.
    """

    def __init__(self, lengths: Array, rows: int) -> None:
        self.lengths = lengths
        self._most = max(1, min(MOST_KNOWN, rows // ROWS_PER_KNOWN))
        self._basis, self._slopes = np.empty((0, rows)), np.empty((0, len(lengths)))

    def split(self, residual: Array) -> tuple[Array, Array, Array]:
        """Cᵀa, e, and how far each slope can be from the first."""
        basis = self._basis
        with one_blas_thread():
            share = basis @ residual
            rest = residual - share @ basis
            again = basis @ rest  # a second time, for what rounding left
            rest -= again @ basis
            slopes = (share + again) @ self._slopes
        off = np.sqrt(np.sum(rest * rest)) + ROUNDING * np.sqrt(np.sum(residual * residual))
        return slopes, rest, off * self.lengths

    def learn(self, rest: Array, slopes: Array) -> None:
        """Take in a residual that is orthogonal to the span, or forget the span if it is full."""
        length = np.sqrt(np.sum(rest * rest))
        if not (length > 0 and np.isfinite(length) and np.isfinite(slopes).all()):
            return
        if len(self._basis) == self._most:
            self._basis, self._slopes = self._basis[:0], self._slopes[:0]
            return
        self._basis = np.concatenate([self._basis, rest[None] / length])
        self._slopes = np.concatenate([self._slopes, slopes[None] / length])
