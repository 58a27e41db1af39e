"""Residuals of a linear fit, their scale, and a starting point that is robust to outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.source import Block, Source
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.objective.predictor import LinearInParameters, Predictor
from thetahat.objective.robust.s_estimate import (
    least_squares,
    median_scale,
    near_least_absolute,
    s_estimate,
    smallest_scale,
)

SCALES = ("mad", "huber")
CUT = 2.5
"""Multiple of the scale at which Huber's proposal 2 clips residuals."""
MOST_STEPS = 500
ROWS_PER_PARAMETER = 20


@dataclass(frozen=True)
class Residuals:
    """r = Xβ + b − y row by row, with the weights of the rows."""

    values: Array
    weight: Array
    n_parameters: int
    smallest: float
    """The scale below which residuals are rounding errors."""

    @classmethod
    def of(cls, source: Source, predictor: Predictor, theta: Array) -> Residuals:
        """One pass over the rows."""

        def row(block: Block) -> Array:
            assert block.y is not None
            z = predictor.raw(block.X, theta)
            weight = block.row_weights
            return np.column_stack([z - block.y, weight, block.y])

        values, weight, y = source.map_rows(row).T
        return cls(values, weight, predictor.n_parameters, smallest_scale(y, weight))

    def scale(self, kind: str) -> float:
        """A robust estimate of their standard deviation: by the median or Huber's proposal 2."""
        scale = median_scale(self.values, self.weight)
        if kind == "mad" or not scale > self.smallest:
            return scale
        # E min(u, c)² of a standard normal u, and Σ w less the parameters fitted, set the level.
        tail = math.erfc(CUT / math.sqrt(2))
        density = math.exp(-CUT * CUT / 2) / math.sqrt(2 * math.pi)
        expected = (1 - tail) - 2 * CUT * density + CUT * CUT * tail
        total = float(np.sum(self.weight))
        level = expected * max(total - self.n_parameters, 1e-3 * total)
        for _ in range(MOST_STEPS):
            cut = np.minimum(abs(self.values), CUT * scale)
            last, scale = scale, math.sqrt(float(np.sum(self.weight * cut * cut)) / level)
            if abs(scale - last) <= 1e-13 * last:
                break
        return scale


def robust_start(
    source: Source,
    predictor: LinearInParameters,
    *,
    convex: bool,
    sample_size: int,
    random_state: RandomState,
    watch: Watch | None = None,
) -> Array:
    """θ of least absolute deviations, or the S-estimate if the loss is not convex, on a sample.

    If time runs out, the best θ so far is returned, at least the least-squares fit of the sample;
    an interrupt carries it. Cost: one or two passes over the rows, and the estimate on the sample.
    """
    random = generator(random_state)
    most = max(sample_size, ROWS_PER_PARAMETER * predictor.n_parameters)
    numbers = np.flatnonzero(source.map_rows(lambda block: block.row_weights))
    if len(numbers) > most:
        numbers = np.sort(random.choice(numbers, most, replace=False))
    rows = chosen_rows(source, numbers)
    design = predictor.design(rows.X)
    y = np.asarray(rows.y, dtype=np.float64)
    weight = rows.row_weights
    with one_blas_thread():
        first = least_squares(design, y, weight)
        # Only the time limit applies here; the solver that starts from θ counts its own steps.
        clock = None if watch is None else replace(watch, on_step=None)
        try:
            if clock is not None and clock.is_over:
                return first
            if convex:
                return near_least_absolute(design, y, weight, clock)
            return s_estimate(design, y, weight, random, clock)
        except KeyboardInterrupt as interrupt:
            if not hasattr(interrupt, "solution"):
                interrupt.solution = Solution(  # type: ignore[attr-defined]
                    theta=first,
                    outcome=Outcome.INTERRUPTED,
                    solver="robust start",
                    message=Outcome.INTERRUPTED.value,
                )
            raise
