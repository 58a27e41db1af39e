"""What is known about the columns: names, kinds, categories.

A variable is numeric (a real number), discrete (an integer), ordinal (ordered categories),
categorical (unordered ones) or Boolean. The kind of the response names the task: numeric means
regression, every other kind means classification.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a variable (the course's four, and Boolean as the smallest categorical).

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
        """What predicting a variable of this kind is called."""
        return "regression" if self is Kind.NUMERIC else "classification"

    @property
    def is_number(self) -> bool:
        """Whether values of this kind enter arithmetic as they are."""
        return self in (Kind.NUMERIC, Kind.DISCRETE, Kind.BOOLEAN)


@dataclass(frozen=True)
class Column:
    """One variable: its name, its kind and, for categories, their values in order."""

    name: str
    kind: Kind = Kind.NUMERIC
    categories: tuple[object, ...] = ()


@dataclass(frozen=True)
class Schema:
    """The columns of X in order; empty when X came without names."""

    columns: tuple[Column, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, empty when there are none."""
        return tuple(column.name for column in self.columns)

    def label(self, index: int) -> str:
        """How an error message calls column `index`."""
        return f"'{self.columns[index].name}'" if self.columns else str(index)
