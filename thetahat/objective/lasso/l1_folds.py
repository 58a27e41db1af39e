"""Held-out errors of elastic-net paths, for every fold.

Many rows and few columns: one pass over the rows gives the moments of each fold's held-out rows;
those it learns from are the merged moments of the others, and the errors at every penalty follow
from the held-out moments alone,

    mean (y − xᵀβ − b)² = var(y) − 2βᵀcov(x, y) + βᵀcov(x)β + (ȳ − x̄ᵀβ − b)².

Otherwise each fold's columns are read where they are, and its held-out rows are predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.row_subset import some_rows
from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments, provisional_frame, summarise_moments
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.threads import one_blas_thread, ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.coordinate.column_designs import FEW_NUMBERS
from thetahat.objective.lasso.l1_least_squares import WIDEST_GRAM, L1Rows
from thetahat.objective.lasso.l1_path import Path, path

Fold = tuple[Array, Array]


@dataclass(frozen=True)
class FoldErrors:
    """How to work out the errors: the rows, their folds, and the options of every path."""

    source: Source
    folds: list[Fold]
    intercept: bool
    positive: bool
    tol: float
    max_iter: int
    watch: Watch = field(default_factory=Watch)
    """Once it is late, folds that have not begun are left out: their errors are NaN."""

    def all_rows(self) -> L1Rows:
        """All rows: their moments are those of the folds, merged, where folds cut the rows."""
        if not self._has_few_columns and not isinstance(self.source, InMemory):
            raise CapabilityError(
                f"Cross-validation on rows that are read block by block needs fewer columns than "
                f"rows, and at most {WIDEST_GRAM}, but there are {self.source.n_features}. Load "
                "the rows with X, y, sample_weight = source.arrays(), or use Lasso."
            )
        if self._has_few_columns and self._cuts:
            about = reduce(Moments.merge, self._held)
            return L1Rows.of(about, intercept=self.intercept, sparse=self._is_sparse)
        return L1Rows(self.source, intercept=self.intercept)

    def errors(self, l1_ratios: Array, alphas: Array) -> Array:
        """Mean squared errors held out, of shape (n_l1_ratios, n_folds, n_alphas).

        Of the first fold always; NaN for those that there was no time for.
        """
        if self._has_few_columns:
            return self._by_moments(l1_ratios, alphas)
        return self._by_rows(l1_ratios, alphas)

    @cached_property
    def _has_few_columns(self) -> bool:
        smallest = min(len(train) for train, _ in self.folds)
        return self.source.n_features <= min(WIDEST_GRAM, smallest)

    @cached_property
    def _cuts(self) -> bool:
        """Whether every row is held out once, and learned from by all other folds."""
        held = np.sort(np.concatenate([test for _, test in self.folds]))
        whole = np.arange(self.source.n_rows)
        return np.array_equal(held, whole) and all(
            len(train) + len(test) == len(whole) for train, test in self.folds
        )

    @cached_property
    def _held(self) -> list[Moments]:
        return [self._moments(test) for _, test in self.folds]

    def _by_moments(self, l1_ratios: Array, alphas: Array) -> Array:
        work = [
            (ratio, grid, about, test)
            for ratio, grid in zip(l1_ratios, alphas, strict=True)
            for about, test in zip(self._learned(), self._held, strict=True)
        ]

        def errors(number: int) -> Array:
            ratio, grid, about, test = work[number]
            if number and self.watch.is_over:
                return np.full(len(grid), np.nan)
            rows = L1Rows.of(about, intercept=self.intercept, sparse=self._is_sparse)
            return _moment_errors(test, self._path(rows, grid, ratio))

        found = np.array(list(ordered_map(errors, range(len(work)))))
        return found.reshape(len(l1_ratios), len(self.folds), -1)

    def _by_rows(self, l1_ratios: Array, alphas: Array) -> Array:
        def errors(number: int) -> Any:
            if number and self.watch.is_over:
                return np.full(alphas.shape, np.nan)
            train, test = map(self._rows, self.folds[number])
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
        return path(
            rows.problem(),
            alphas,
            l1_ratio=l1_ratio,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            once=True,  # else neighbours tie, and rounding chooses between them
        )

    def _learned(self) -> list[Moments]:
        """The moments of the rows that each fold learns from."""
        held = self._held
        if not self._cuts:
            return [self._moments(train) for train, _ in self.folds]
        return [reduce(Moments.merge, held[:fold] + held[fold + 1 :]) for fold in range(len(held))]

    def _moments(self, rows: Array) -> Moments:
        part = self._rows(rows)
        found = part.reduce(summarise_moments, self._frame)
        return found if found.is_finite else moments(part)

    @cached_property
    def _frame(self) -> Any:
        return provisional_frame(self.source)

    @property
    def _is_sparse(self) -> bool:
        return isinstance(self.source, InMemory) and self.source.is_sparse

    def _rows(self, which: Array) -> Source:
        """Some rows: in memory a view where they are consecutive, else a copy."""
        if not isinstance(self.source, InMemory):
            return some_rows(self.source, which)
        rows: Any = which
        if len(which) and which[-1] - which[0] + 1 == len(which) and (np.diff(which) == 1).all():
            rows = slice(int(which[0]), int(which[-1]) + 1)
        return self.source.take(rows)


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
