"""Kernels that compiled code computes: their formulas, and sums over their centres."""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.polynomial import Linear, Polynomial, Sigmoid
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.objective.kernel.expansion import KernelExpansion


def compiled(kernel: Kernel) -> tuple[int, float, float, int] | None:
    """The number of the formula in compiled code, γ, c and the degree; None if it has none."""
    if type(kernel) is Linear:
        return 0, 1.0, 0.0, 1
    if type(kernel) is Polynomial:
        return 1, float(kernel.gamma), float(kernel.coef0), kernel.degree
    if type(kernel) is RBF and not isinstance(kernel.length_scale, tuple):
        return 2, kernel.exponent, 0.0, 1
    if type(kernel) is Sigmoid:
        return 3, float(kernel.gamma), float(kernel.coef0), 1
    return None


def kernel_sums(
    kernel: Kernel, centres: Matrix, weights: Array, offsets: Array, X: Matrix
) -> Array:
    """Σⱼ wⱼₒ k(x, zⱼ) + bₒ of every row x for each output o, in float64. Cost: O(n m d).

    Compiled code is used for dense rows of the kernels that it knows.
    """
    formula = compiled(kernel)
    if formula is None or not (type(X) is np.ndarray and isinstance(centres, np.ndarray)):
        return KernelExpansion(kernel, centres, weights, offsets)(X)
    found = np.empty((X.shape[0], weights.shape[1]))
    columns, rows = np.ascontiguousarray(centres.T), np.ascontiguousarray(X, dtype=np.float64)
    _native.kernel_sums(columns, *formula, weights, offsets, rows, found, n_threads())
    return found
