"""Properties of columns: names, kinds, categories.

A variable is numeric (a real number), discrete (an integer), ordinal (ordered categories),
categorical (unordered categories) or Boolean. The kind of the target determines the task: a numeric
target means regression, every other kind means classification.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a variable: numeric, discrete, ordinal, categorical or Boolean.

    Formula: numeric is x ∈ ℝ, discrete is x ∈ ℤ, ordinal is x ∈ {c₁ < ... < c_K}, categorical is
    x ∈ {c₁, ..., c_K}, Boolean is x ∈ {0, 1}. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> th.data.Kind.NUMERIC.task, th.data.Kind.CATEGORICAL.task
    ('regression', 'classification')
    """

    NUMERIC = "numeric"
    DISCRETE = "discrete"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    BOOLEAN = "boolean"

    @property
    def task(self) -> str:
        """The task of predicting a variable of this kind."""
        return "regression" if self is Kind.NUMERIC else "classification"

    @property
    def is_number(self) -> bool:
        """Whether values of this kind are used as numbers."""
        return self in (Kind.NUMERIC, Kind.DISCRETE, Kind.BOOLEAN)


@dataclass(frozen=True)
class Column:
    """One variable: its name, its kind and, for categories, their values in order."""

    name: str
    kind: Kind = Kind.NUMERIC
    categories: tuple[object, ...] = ()


@dataclass(frozen=True)
class Schema:
    """The columns of X in order; empty if X has no column names."""

    columns: tuple[Column, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Column names; empty if there are none."""
        return tuple(column.name for column in self.columns)

    def label(self, index: int) -> str:
        """The name or number of a column, for error messages."""
        return f"'{self.columns[index].name}'" if self.columns else str(index)
