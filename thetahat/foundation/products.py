"""Matrix products that release the interpreter's lock."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array, Matrix

ROWS = 128
"""Rows of a product that a thread computes at once."""


def product(left: Matrix, right: Matrix) -> Array:
    """left @ right, while other threads can run.

    NumPy's ``@`` keeps the interpreter's lock if the result is small, even if the sums are long:
    for Xᵀv of few columns, fits on other threads would wait. ``dot`` calls the same BLAS with the
    lock released. Other kinds of arrays use their own product.
    """
    if type(left) is np.ndarray and type(right) is np.ndarray:
        return np.dot(left, right)
    return left @ right


def product_by_rows(left: Array, right: Array) -> Array:
    """left @ right in blocks of rows on all threads, the same for any number of them."""
    found = np.empty((len(left), right.shape[1]))

    def fill(start: int) -> None:
        np.dot(left[start : start + ROWS], right, out=found[start : start + ROWS])

    parallel_for(fill, range(0, len(left), ROWS), products=float(left.size) * right.shape[1])
    return found
