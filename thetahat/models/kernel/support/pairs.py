"""The functions of all pairs of classes: their numbers, their sums, and fits of small pairs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.kernel.support.machine import in_single
from thetahat.models.kernel.support.rows import TrainingRows
from thetahat.objective.kernel.compiled import compiled, kernel_sums
from thetahat.objective.kernel.features import LARGEST_VALUE

MOST_ROWS = 1000
"""Rows of a small pair: a thread holds its kernel matrix, and no variable is left out."""
MOST_STEPS = 100_000
"""Steps of a small pair; one that needs more is fitted like a large one."""
PAIRS_AT_ONCE = 64
"""Most pairs that are fitted before time and interruptions are checked."""
LONG = 0.1
"""Seconds of a call after which the next one fits fewer pairs."""


@dataclass(frozen=True)
class PairFit:
    """How the fit of a pair of classes ended, and b of its function."""

    offset: float
    outcome: Outcome
    steps: int
    value: float
    gap: float


def columns_of_classes(n_classes: int) -> list[Array]:
    """For each class, the numbers of the pairs that it is part of, by the other class."""
    number = np.zeros((n_classes, n_classes), dtype=np.intp)
    first, second = np.triu_indices(n_classes, 1)
    number[first, second] = number[second, first] = np.arange(len(first))
    return [np.delete(number[c], c) for c in range(n_classes)]


@dataclass(frozen=True)
class PairExpansion:
    """The functions of all pairs, fᵢⱼ(x) = Σ βₛⱼ k(x, zₛ) + Σ βₜᵢ k(x, zₜ) + bᵢⱼ.

    s runs over the centres of class i, t over those of class j. Cost: O(n m (d + k)) for n rows, m
    centres and k classes.
    """

    kernel: Kernel
    centres: Matrix
    """Sorted by class."""
    coefficients: Array
    """β of each centre against the other classes in their order, of shape (m, k − 1)."""
    ends: Array
    """The centres of class c are ``ends[c]`` to ``ends[c + 1] − 1``."""
    intercept: Array
    """b of each pair."""

    def __call__(self, X: Matrix) -> Array:
        """All functions at the rows of X, in float64."""
        found = np.tile(self.intercept, (X.shape[0], 1))
        none = np.zeros(self.coefficients.shape[1])
        for c, columns in enumerate(columns_of_classes(len(self.ends) - 1)):
            own = slice(self.ends[c], self.ends[c + 1])
            if own.stop > own.start:
                centres, weights = self.centres[own], self.coefficients[own]
                found[:, columns] += kernel_sums(self.kernel, centres, weights, none, X)
        return found


def fit_small_pairs(
    training: TrainingRows,
    used: Array,
    ends: Array,
    cost: Array,
    pairs: Array,
    *,
    tolerance: float,
    max_steps: int | None,
    watch: Watch,
) -> tuple[Array, dict[int, PairFit]]:
    """The coefficients and fits of pairs of few rows, whose kernel is compiled or given.

    The rows are sorted by class, as `ends` says; `used` are their numbers in a given matrix. The
    coefficients have shape (k − 1, n); those of pairs without a fit have no meaning. A pair that
    does not reach the tolerance has none. Cost: O(m²) memory per thread for m ≤ 1,000 rows of
    a pair, and O(m) per step.
    """
    beta = np.zeros((len(ends) - 2, len(used)))
    sizes = np.diff(ends)[pairs]
    small = np.flatnonzero((sizes.min(axis=1) > 0) & (sizes.sum(axis=1) <= MOST_ROWS))
    formula = compiled(training.kernel)
    if not len(small):
        return beta, {}
    solve: partial[None]
    if training.are_a_matrix:
        solve = partial(_native.smo_pairs_matrix, np.ascontiguousarray(training.X), used)
    elif formula is not None and isinstance(training.X, np.ndarray) and _is_finite(training):
        # Distances do not depend on the middle of the rows, but their rounding errors do.
        of_distances = isinstance(training.kernel, RBF)
        shift = training.X.mean(axis=0) if of_distances else 0.0
        single = in_single(sizes[small].sum(axis=1).max(), cost.max(initial=0.0), tolerance)
        dtype = np.float32 if of_distances and single else np.float64
        columns = np.ascontiguousarray((training.X - shift).T, dtype=dtype)
        solve = partial(_native.smo_pairs_columns, columns, *formula)
    else:
        return beta, {}
    numbers, steps = np.empty((len(small), 3)), np.empty(len(small), dtype=np.int64)
    limit = MOST_STEPS if max_steps is None else min(max_steps, MOST_STEPS)
    ends, pairs = ends.astype(np.int64), pairs.astype(np.int64)
    found = {}
    start, at_once = 0, n_threads()
    while start < len(small):
        some, began = slice(start, start + at_once), time.monotonic()
        solve(
            ends,
            pairs[small[some]],
            cost,
            limit,
            tolerance,
            beta,
            numbers[some],
            steps[some],
            n_threads(),
        )
        for column, (offset, value, gap), taken in zip(
            small[some].tolist(), numbers[some].tolist(), steps[some].tolist(), strict=True
        ):
            if taken >= 0:
                found[column] = PairFit(offset, Outcome.CONVERGED, taken, value, gap)
        if watch(start, beta, float("nan")) is not Verdict.GO_ON:
            break  # and so does the fit of each other pair
        start += at_once
        is_long = time.monotonic() - began > LONG
        at_once = max(at_once // 2, n_threads()) if is_long else min(2 * at_once, PAIRS_AT_ONCE)
    return beta, found


def _is_finite(training: TrainingRows) -> bool:
    """Whether no entry of the kernel overflows; otherwise a single fit names the rows."""
    return bool(np.abs(training.kernel.diagonal(training.X)).max(initial=0.0) <= LARGEST_VALUE)
