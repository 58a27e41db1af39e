"""The triangular factor of tall rows from two passes of matrix products.

XᵀX = R₁ᵀR₁ gives Q₁ = XR₁⁻¹, whose columns are orthogonal up to rounding times the square of X's
condition number; Q₁ᵀQ₁ = R₂ᵀR₂ corrects that. So R = R₂R₁ is as accurate as that of Householder
reflections, in less time (Cholesky QR twice; Yamamoto and others, 2015).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thetahat.foundation.products import product
from thetahat.foundation.threads import one_blas_thread, ordered_map, scipy_linalg
from thetahat.foundation.types import Array

ENTRIES_AT_ONCE, LEAST_ROWS = 1 << 16, 512
"""Size of one product, which stays in the cache; the same for any number of threads."""
ORTHOGONAL = 0.1
"""Largest entry of Q₁ᵀQ₁ − I for which the second pass corrects all of it."""


def triangle_by_products(rows: Callable[[slice], Array], n: int, d: int) -> Array | None:
    """R of shape (d, d) with QR = X and QᵀQ = I, where ``rows(slice)`` are some of the n rows of X.

    None if the columns are too close to linear dependence. Cost: two passes, O(n d²).
    """
    span, factor = max(LEAST_ROWS, ENTRIES_AT_ONCE // d), None
    for _ in range(2):
        inverse = None if factor is None else _inverse(factor)

        def square(start: int, inverse: Array | None = inverse) -> Array:
            part = rows(slice(start, start + span)).astype(np.float64, copy=False)
            part = part if inverse is None else product(part, inverse)
            return product(part.T, part)

        with np.errstate(all="ignore"):
            gram = sum(ordered_map(square, range(0, n, span)), np.zeros((d, d)))
            if factor is not None and not np.abs(gram - np.eye(d)).max() <= ORTHOGONAL:
                return None
        try:
            with one_blas_thread():
                upper = scipy_linalg().cholesky(gram, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        factor = upper if factor is None else upper @ factor
    return factor


def _inverse(upper: Array) -> Array:
    with one_blas_thread():
        return scipy_linalg().solve_triangular(upper, np.eye(len(upper)), check_finite=False)
