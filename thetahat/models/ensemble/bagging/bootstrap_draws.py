"""Which rows and columns each member of a bag sees: a function of its seed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.resampling import bootstrap_indices, weighted_indices
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Draws:
    """A plan of what is drawn; the same seed draws the same, so nothing drawn need be kept."""

    n_rows: int
    n_columns: int
    rows: int
    """How many rows each member draws."""
    columns: int
    """How many columns."""
    rows_again: bool
    """Whether a row may be drawn again."""
    columns_again: bool
    weight: Array | None = None
    """Rows are drawn in proportion to it."""

    @property
    def all_columns(self) -> bool:
        """Whether every member sees every column once."""
        return self.columns == self.n_columns and not self.columns_again

    def columns_of(self, seed: int) -> Array:
        """The columns of the member with this seed."""
        random = np.random.default_rng([seed, 0])
        if self.all_columns:
            return np.arange(self.n_columns)
        return random.choice(self.n_columns, self.columns, replace=self.columns_again)

    def rows_of(self, seed: int) -> Array:
        """Its rows, some of them repeatedly where they may be drawn again."""
        random = np.random.default_rng([seed, 1])
        if self.rows_again:
            if self.weight is None:
                return bootstrap_indices(self.n_rows, size=self.rows, random_state=random).drawn
            return weighted_indices(self.weight, size=self.rows, random_state=random)
        share = None if self.weight is None else self.weight / self.weight.sum()
        return random.choice(self.n_rows, self.rows, replace=False, p=share)

    def left_out(self, seed: int) -> Array:
        """The rows that the member with this seed never saw, in ascending order."""
        missed = np.ones(self.n_rows, dtype=bool)
        missed[self.rows_of(seed)] = False
        return np.flatnonzero(missed)


def plan_draws(
    n_rows: int,
    n_columns: int,
    *,
    max_samples: Any,
    max_features: Any,
    bootstrap: bool,
    bootstrap_features: bool,
    weight: Array | None,
    who: str,
) -> Draws:
    """Counts from parts of the whole, checked against what there is."""
    rows = _count(max_samples, n_rows, weight)
    drawable = n_rows if weight is None else int(np.count_nonzero(weight))
    if not bootstrap and rows > drawable:
        raise DataError(
            f"{who}: max_samples asks for {rows} rows without replacement, and there are "
            f"{drawable} of positive weight. Use bootstrap=True, or fewer."
        )
    columns = max_features
    if not isinstance(max_features, int | np.integer):
        columns = max(1, int(max_features * n_columns))
    if columns > n_columns:
        raise ParameterError(
            f"{who}: max_features={max_features} must be <= n_features, which is {n_columns}. Give "
            "a part of them, such as max_features=0.5."
        )
    return Draws(n_rows, n_columns, rows, int(columns), bootstrap, bootstrap_features, weight)


def _count(max_samples: Any, n_rows: int, weight: Array | None) -> int:
    """How many rows: all, a number, or a part of the rows counted by their weights."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, int | np.integer):
        return int(max_samples)
    total = n_rows if weight is None else float(weight.sum())
    rows = max(1, int(max_samples * total))
    if rows < max(10, n_rows ** (1 / 3)) and rows < n_rows:
        warn(
            f"max_samples={max_samples} of {total:g} rows are {rows}, which is few to learn from. "
            "Give a number of rows instead.",
        )
    return rows
