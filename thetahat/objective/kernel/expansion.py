"""The kernel predictor f(x) = Σⱼ αⱼ k(x, zⱼ) + b over the rows zⱼ, its centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.objective.predictor import in_double

ENTRIES = 1 << 19
"""Entries of the kernel matrix that a thread holds at once: 4 MiB in float64."""


@dataclass(frozen=True)
class KernelExpansion:
    """f(x) = Σⱼ αⱼ k(x, zⱼ) + b, for one output or k columns of them.

    Cost: O(n m d) for n rows and m centres; the kernel matrix is never stored whole.
    """

    kernel: Kernel
    centres: Matrix
    """The rows zⱼ, in float64; for a precomputed kernel the numbers of its columns."""
    coefficients: Array
    """α, of shape (m,) or (m, k)."""
    intercept: Any = 0.0
    """b: a number, or one per output."""

    def __call__(self, X: Matrix) -> Array:
        """z of every row, in float64; computed in pieces that do not depend on the threads."""
        X = in_double(X)
        if is_array_api_obj(X) and type(X) is not np.ndarray:
            return self.kernel.block(X, self.centres) @ self.coefficients + self.intercept
        n, m = X.shape[0], self.centres.shape[0]
        step = max(16, ENTRIES // max(1, m))
        found = np.empty((n, *self.coefficients.shape[1:]))

        def fill(start: int) -> None:
            rows = slice(start, start + step)
            with np.errstate(over="ignore", invalid="ignore"):
                values = self.kernel.block(X if step >= n else X[rows], self.centres)
            found[rows] = np.dot(values, self.coefficients)

        parallel_for(fill, range(0, n, step), products=float(n) * m * max(8, X.shape[1]))
        found += self.intercept
        return found
