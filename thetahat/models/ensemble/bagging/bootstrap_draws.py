"""Rows and columns drawn for each member of bagging, as a function of its seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.resampling import bootstrap_indices, weighted_indices
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Draws:
    """Rules for drawing; the same seed gives the same draw, so draws need not be stored."""

    n_rows: int
    n_columns: int
    rows: int
    """Number of rows drawn for each member."""
    columns: int
    """Number of columns drawn for each member."""
    rows_again: bool
    """Whether rows are drawn with replacement."""
    columns_again: bool
    weight: Array | None = None
    """Row weights, proportional to the probabilities of the rows."""

    @property
    def all_columns(self) -> bool:
        """Whether every member uses every column once."""
        return self.columns == self.n_columns and not self.columns_again

    def columns_of(self, seed: int) -> Array:
        """Columns of the member with this seed."""
        random = np.random.default_rng([seed, 0])
        if self.all_columns:
            return np.arange(self.n_columns)
        return random.choice(self.n_columns, self.columns, replace=self.columns_again)

    def rows_of(self, seed: int) -> Array:
        """Rows of the member with this seed, with repetitions."""
        random = np.random.default_rng([seed, 1])
        if self.rows_again:
            if self.weight is None:
                return bootstrap_indices(self.n_rows, size=self.rows, random_state=random).drawn
            return weighted_indices(self.weight, size=self.rows, random_state=random)
        share = None if self.weight is None else self.weight / self.weight.sum()
        return random.choice(self.n_rows, self.rows, replace=False, p=share)

    def out_of_bag(self, seed: int) -> Array:
        """Out-of-bag rows of the member with this seed, in ascending order."""
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
    """Convert fractions to numbers of rows and columns, and validate them."""
    rows = _count(max_samples, n_rows, weight)
    drawable = n_rows if weight is None else int(np.count_nonzero(weight))
    if not bootstrap and rows > drawable:
        raise DataError(
            f"{who}: max_samples requires {rows} rows without replacement, but only {drawable} "
            "rows have a positive weight. Use bootstrap=True, or reduce max_samples."
        )
    require_memory(
        24 * rows,  # places, weights and copies of them
        f"{who}: {rows} drawn rows for each member",
        "Reduce max_samples.",
    )
    columns = max_features
    if not isinstance(max_features, int | np.integer):
        columns = max(1, int(max_features * n_columns))
    if columns > n_columns:
        raise ParameterError(
            f"{who}: max_features={max_features} must be <= n_features, which is {n_columns}. Use "
            "a smaller number, or a fraction such as max_features=0.5."
        )
    return Draws(n_rows, n_columns, rows, int(columns), bootstrap, bootstrap_features, weight)


def _count(max_samples: Any, n_rows: int, weight: Array | None) -> int:
    """Number of rows: all, a number, or a fraction of the rows by weight."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, int | np.integer):
        return int(max_samples)
    total = n_rows if weight is None else float(weight.sum())
    rows = max(1, int(max_samples * total))
    if rows < max(10, n_rows ** (1 / 3)) and rows < n_rows:
        warn(
            f"max_samples={max_samples} of {total:g} rows gives {rows}, which is few to learn "
            "from. Use a larger fraction, or an integer number of rows.",
        )
    return rows
