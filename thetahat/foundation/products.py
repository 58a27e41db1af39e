"""Matrix products that release the interpreter's lock."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array, Matrix


def product(left: Matrix, right: Matrix) -> Array:
    """left @ right, while other threads can run.

    NumPy's ``@`` keeps the interpreter's lock if the result is small, even if the sums are long:
    for Xᵀv of few columns, fits on other threads would wait. ``dot`` calls the same BLAS with the
    lock released. Other kinds of arrays use their own product.
    """
    if type(left) is np.ndarray and type(right) is np.ndarray:
        return np.dot(left, right)
    return left @ right
