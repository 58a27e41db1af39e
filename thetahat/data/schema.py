"""What is known about the columns: names, kinds, categories."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a variable (the course's four, and Boolean as the smallest categorical)."""

    NUMERIC = "numeric"
    DISCRETE = "discrete"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    BOOLEAN = "boolean"


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
