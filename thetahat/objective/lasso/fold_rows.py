"""The rows of each fold, and their moments where these serve all folds.

With many rows and few columns, one pass over the rows gives the moments of each fold's held-out
rows; those it learns from are the merged moments of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.row_subset import some_rows
from thetahat.data.source import Source
from thetahat.data.summaries.frame import provisional_frame
from thetahat.data.summaries.moments import Moments, moments, summarise_moments
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.objective.lasso.l1_least_squares import WIDEST_GRAM

Fold = tuple[Array, Array]


@dataclass(frozen=True)
class FoldRows:
    """Rows, and the numbers of those that each fold learns from and holds out."""

    source: Source
    folds: list[Fold]

    def require_served(self) -> None:
        """Refuse rows that are neither in memory nor served by moments."""
        if not self.has_few_columns and not isinstance(self.source, InMemory):
            raise CapabilityError(
                f"Cross-validation on rows that are read block by block needs fewer columns than "
                f"rows, and at most {WIDEST_GRAM}, but there are {self.source.n_features}. Load "
                "the rows with X, y, sample_weight = source.arrays(), or use Lasso."
            )

    @cached_property
    def has_few_columns(self) -> bool:
        """Whether moments serve all folds: fewer columns than rows, and not many."""
        smallest = min(len(train) for train, _ in self.folds)
        return self.source.n_features <= min(WIDEST_GRAM, smallest)

    @cached_property
    def cuts(self) -> bool:
        """Whether every row is held out once, and learned from by all other folds."""
        held = np.sort(np.concatenate([test for _, test in self.folds]))
        whole = np.arange(self.source.n_rows)
        return np.array_equal(held, whole) and all(
            len(train) + len(test) == len(whole) for train, test in self.folds
        )

    @cached_property
    def held(self) -> list[Moments]:
        """The moments of the held-out rows of each fold."""
        return [self._moments(test) for _, test in self.folds]

    def learned(self) -> list[Moments]:
        """The moments of the rows that each fold learns from."""
        held = self.held
        if not self.cuts:
            return [self._moments(train) for train, _ in self.folds]
        return [reduce(Moments.merge, held[:fold] + held[fold + 1 :]) for fold in range(len(held))]

    def _moments(self, rows: Array) -> Moments:
        part = self.rows(rows)
        found = part.reduce(summarise_moments, self._frame)
        return found if found.is_finite and not found.lost_digits else moments(part)

    @cached_property
    def _frame(self) -> Any:
        return provisional_frame(self.source)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse and in memory."""
        return isinstance(self.source, InMemory) and self.source.is_sparse

    def rows(self, which: Array) -> Source:
        """Some rows: in memory a view where they are consecutive, else a copy."""
        if not isinstance(self.source, InMemory):
            return some_rows(self.source, which)
        rows: Any = which
        if len(which) and which[-1] - which[0] + 1 == len(which) and (np.diff(which) == 1).all():
            rows = slice(int(which[0]), int(which[-1]) + 1)
        return self.source.take(rows)
