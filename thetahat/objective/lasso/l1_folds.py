"""Held-out errors of elastic-net paths, for every fold.

Many rows and few columns: one pass over the rows gives the moments of each fold's held-out rows;
those it learns from are the merged moments of the others, and the errors at every penalty follow
from the held-out moments alone,

    mean (y − xᵀβ − b)² = var(y) − 2βᵀcov(x, y) + βᵀcov(x)β + (ȳ − x̄ᵀβ − b)².

Otherwise each fold's columns are read where they are, and its held-out rows are predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.summaries.moments import Moments
from thetahat.foundation.threads import one_blas_thread, ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.coordinate.column_designs import FEW_NUMBERS
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.objective.lasso.fold_rows import FoldRows
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import Path, path


@dataclass(frozen=True)
class FoldErrors(FoldRows):
    """How to work out the errors: the rows, their folds, and the options of every path."""

    intercept: bool
    positive: bool
    tol: float
    max_iter: int
    watch: Watch = field(default_factory=Watch)
    """Once it is late, folds that have not begun are left out: their errors are NaN."""
    unconverged: list[int] = field(default_factory=list)
    """Number of penalties whose iterations ran out, of each path; filled by `errors`."""

    def all_rows(self) -> L1Rows:
        """All rows: their moments are those of the folds, merged, where folds cut the rows."""
        self.require_served()
        if self.has_few_columns and self.cuts:
            about = reduce(Moments.merge, self.held)
            return L1Rows.of(about, intercept=self.intercept, sparse=self.is_sparse)
        return L1Rows(self.source, intercept=self.intercept)

    def errors(self, l1_ratios: Array, alphas: Array) -> Array:
        """Mean squared errors held out, of shape (n_l1_ratios, n_folds, n_alphas).

        Of the first fold always; NaN for those that there was no time for.
        """
        if self.has_few_columns:
            return self._by_moments(l1_ratios, alphas)
        return self._by_rows(l1_ratios, alphas)

    def _by_moments(self, l1_ratios: Array, alphas: Array) -> Array:
        work = [
            (ratio, grid, about, test)
            for ratio, grid in zip(l1_ratios, alphas, strict=True)
            for about, test in zip(self.learned(), self.held, strict=True)
        ]

        def errors(number: int) -> Array:
            ratio, grid, about, test = work[number]
            if number and self.watch.is_over:
                return np.full(len(grid), np.nan)
            rows = L1Rows.of(about, intercept=self.intercept, sparse=self.is_sparse)
            return _moment_errors(test, self._path(rows, grid, ratio))

        found = np.array(list(ordered_map(errors, range(len(work)))))
        return found.reshape(len(l1_ratios), len(self.folds), -1)

    def _by_rows(self, l1_ratios: Array, alphas: Array) -> Array:
        def errors(number: int) -> Any:
            if number and self.watch.is_over:
                return np.full(alphas.shape, np.nan)
            train, test = map(self.rows, self.folds[number])
            rows = L1Rows(train, intercept=self.intercept)
            return [
                _row_errors(test, self._path(rows, grid, ratio))
                for ratio, grid in zip(l1_ratios, alphas, strict=True)
            ]

        # Few numbers: a thread for each fold. Many: all threads for one fold after another.
        source = self.source
        few = isinstance(source, InMemory) and not source.is_sparse and source.X.size <= FEW_NUMBERS
        found = np.array(list((ordered_map if few else map)(errors, range(len(self.folds)))))
        return np.swapaxes(found, 0, 1)

    def _path(self, rows: L1Rows, alphas: Array, l1_ratio: float) -> Path:
        found = path(
            rows.problem(),
            alphas,
            l1_ratio=l1_ratio,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            once=True,  # else neighbours tie, and rounding chooses between them
        )
        ends = [solution.outcome for solution in found.solutions]
        self.unconverged.append(ends.count(Outcome.STEPS_EXHAUSTED))
        return found


def _moment_errors(held: Moments, found: Path) -> Array:
    d = held.n_features
    spread = held.covariance()
    with one_blas_thread():
        bent = np.sum(found.coefs * (spread[:d, :d] @ found.coefs), axis=0)
        tilted = spread[:d, d] @ found.coefs
        offset = held.y_mean[0] - held.x_mean @ found.coefs - found.intercepts
    return np.maximum(spread[d, d] - 2 * tilted + bent, 0.0) + offset**2


def _row_errors(held: Any, found: Path) -> Array:
    with one_blas_thread():
        residual = held.y[:, None] - (held.X @ found.coefs + found.intercepts)
    return np.average(residual**2, axis=0, weights=held.weight)
