"""Cholesky factors of matrices whose rows and columns may be in any units."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

SINGULAR = 1e-13
"""Smallest squared pivot of a unit-diagonal matrix that is told from zero."""


def inverse_factor(matrix: Array) -> tuple[Array, float] | None:
    """(F, log det) with FᵀF the inverse of a symmetric matrix; None where it is not positive.

    The matrix is scaled to a unit diagonal first, so that units do not matter. Cost: O(d³).
    """
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    if not (scale > 0).all() or not np.isfinite(matrix).all():
        return None
    try:
        factor = np.linalg.cholesky(matrix / scale / scale[:, None])
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(factor)
    if float(pivots.min(initial=1.0)) ** 2 <= SINGULAR:
        return None
    return np.linalg.inv(factor) / scale, 2.0 * float(np.log(pivots * scale).sum())
