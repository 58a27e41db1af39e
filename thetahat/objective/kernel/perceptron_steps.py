"""The perceptron under a kernel: f ← f + wᵢyᵢ·k(xᵢ, ·) at every mistake, row after row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thetahat.foundation.types import Array


def perceptron_steps(
    kernel_row: Callable[[int], Array], signs: Array, steps: Array, max_passes: int
) -> tuple[Array, Array, int]:
    """The number of mistakes at each row, f at all rows, and the passes until none is made.

    ``kernel_row(i)`` gives k(xᵢ, xⱼ) for all j; `steps` are the signs times the weights. f is
    updated at each mistake. Cost: O(n) for each, beside the kernel.
    """
    counts, f = np.zeros(len(signs)), np.zeros(len(signs))
    for passes in range(1, max_passes + 1):
        before = counts.sum()
        at = 0
        while at < len(signs):
            wrong = np.flatnonzero((f[at:] > 0) != (signs[at:] > 0))
            if not wrong.size:
                break
            at += int(wrong[0])
            counts[at] += 1
            f += steps[at] * kernel_row(at)
            at += 1
        if counts.sum() == before:
            return counts, f, passes
    return counts, f, max_passes
