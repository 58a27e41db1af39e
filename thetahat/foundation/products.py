"""Matrix products that let other threads run."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array, Matrix


def product(left: Matrix, right: Matrix) -> Array:
    """left @ right, with the interpreter free for other threads meanwhile.

    NumPy's ``@`` keeps the interpreter's lock when the result is small, however long the sums are:
    for Xᵀv of few columns, fits on other threads would wait. Its ``dot`` calls the same BLAS with
    the lock released. Other kinds of arrays have their own ways.
    """
    if type(left) is np.ndarray and type(right) is np.ndarray:
        return np.dot(left, right)
    return left @ right
