"""Kernel estimates of several columns and classes, evaluated together.

p_jc(x) = Σ_i w_i K((x − x_i)/h_jc) / (h_jc·Σ_i w_i) over the distinct values x_i of column j in
class c. All values lie one after the other, so that a row costs as many array functions as one
estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.smoothing import Gaussian
from thetahat.mathematics.smoothing.base import SmoothingKernel

PAIRS_AT_ONCE = 1 << 18
"""Pairs of a row and a training value whose kernels are in memory at a time."""
LEAST = -1e300
"""Stands for the logarithm of 0 where it would give the difference of two infinities."""


@dataclass(frozen=True)
class KernelEstimates:
    """Values of all columns and classes, column by column, and within a column class by class."""

    kernel: SmoothingKernel
    shape: tuple[int, int]
    """Numbers of columns and classes."""
    values: Array
    weights: Array
    """Of the values; their logarithms for the Gaussian kernel."""
    column: Array
    """The column of each value."""
    width: Array
    """The bandwidth of each value."""
    estimate: Array
    """The number of the estimate that each value belongs to."""
    start: Array
    """Where the values of each estimate begin."""
    log_total: Array
    """log(h·Σ w) of each estimate, for the Gaussian kernel times √(2π)."""

    @classmethod
    def of(
        cls, kernel: SmoothingKernel, width: Array, sizes: Array, values: Array, weights: Array
    ) -> KernelEstimates:
        """The estimates with ``sizes`` values and bandwidths ``width``, both (columns, classes)."""
        counts, start = sizes.ravel(), np.cumsum(sizes) - sizes.ravel()
        estimate = np.repeat(np.arange(counts.size), counts)
        log_total = np.log(np.add.reduceat(weights, start)) + np.log(width.ravel())
        if isinstance(kernel, Gaussian):
            log_total += 0.5 * np.log(2 * np.pi)
            with np.errstate(divide="ignore"):
                weights = np.log(weights)
        column = estimate // sizes.shape[1]
        shape = (sizes.shape[0], sizes.shape[1])
        return cls(
            kernel, shape, values, weights, column, width.ravel()[estimate], estimate, start,
            log_total,
        )  # fmt: skip

    def logs(self, rows: Array) -> Array:
        """log p_jc(x_j), (n, columns, classes); −∞ where it is 0. Cost: O(n·values)."""
        step = max(1, PAIRS_AT_ONCE // len(self.values))
        with np.errstate(divide="ignore", over="ignore"):
            if rows.shape[0] <= step:
                found = self._of_block(rows)
            else:
                blocks = range(0, rows.shape[0], step)
                found = np.concatenate([self._of_block(rows[at : at + step]) for at in blocks])
        return found.reshape(-1, *self.shape)

    def _of_block(self, rows: Array) -> Array:
        s = rows.take(self.column, axis=1)
        s -= self.values
        s /= self.width
        if not isinstance(self.kernel, Gaussian):
            sums = np.add.reduceat(self.kernel.value(s) * self.weights, self.start, axis=1)
            return np.log(sums) - self.log_total
        # In logarithms, so that distant values do not vanish.
        s *= s
        s *= -0.5
        s += self.weights
        top = np.maximum(np.maximum.reduceat(s, self.start, axis=1), LEAST)
        s -= top.take(self.estimate, axis=1)
        np.exp(s, out=s)
        found = np.log(np.add.reduceat(s, self.start, axis=1))
        found += top
        found -= self.log_total
        return found
