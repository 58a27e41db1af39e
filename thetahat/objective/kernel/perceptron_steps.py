"""The perceptron under a kernel: f ← f + wᵢyᵢ·k(xᵢ, ·) at every mistake, row after row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch


def perceptron_steps(
    kernel: Array | Callable[[int], Array],
    signs: Array,
    steps: Array,
    max_passes: int,
    *,
    constant: float = 0.0,
    watch: Watch | None = None,
) -> tuple[Array, Array, int]:
    """The number of mistakes at each row, f at all rows, and the passes until none is made.

    The kernel is k + `constant`, with k as the symmetric matrix of all rows, or as a function of i
    that gives k(xᵢ, xⱼ) for all j; `steps` are the signs times the weights. f is updated at each
    mistake. After the time limit no further pass is begun. Cost: O(n) for each mistake, beside the
    kernel.
    """
    counts, f = np.zeros(len(signs)), np.zeros(len(signs))
    matrix = None if callable(kernel) else _by_rows(kernel)
    watch = watch or Watch(max_time=None)
    for passes in range(1, max_passes + 1):
        if matrix is not None:
            made = _native.kernel_perceptron_pass(matrix, constant, signs, steps, f, counts)
        else:
            assert callable(kernel)
            made = _pass(kernel, signs, steps, constant, f, counts)
        if not made or watch.is_over:
            return counts, f, passes
    return counts, f, max_passes


def _by_rows(K: Array) -> Array:
    """A symmetric matrix as compiled code takes it, by rows; one by columns is its transpose."""
    K = K.T if K.flags.f_contiguous else K
    return np.ascontiguousarray(K, dtype=np.float64)


def _pass(
    kernel_row: Callable[[int], Array],
    signs: Array,
    steps: Array,
    constant: float,
    f: Array,
    counts: Array,
) -> int:
    """One pass over the rows; returns the number of mistakes."""
    made, at = 0, 0
    while at < len(signs):
        wrong = np.flatnonzero((f[at:] > 0) != (signs[at:] > 0))
        if not wrong.size:
            break
        at += int(wrong[0])
        counts[at] += 1
        f += steps[at] * (kernel_row(at) + constant)
        made += 1
        at += 1
    return made
