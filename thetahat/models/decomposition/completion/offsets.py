"""Offsets μ + b_i + c_j: the values that missing entries are filled with, from means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.decomposition.completion.entries import Entries

FILLS = ("zero", "mean", "row_mean", "column_mean", "row_column_mean")


@dataclass(frozen=True)
class Offsets:
    """μ + b_i + c_j for every row and column."""

    mean: float
    rows: Array
    columns: Array

    def at(self, entries: Entries) -> Array:
        return self.mean + self.rows[entries.rows] + self.columns[entries.columns]

    def full(self) -> Array:
        return self.mean + self.rows[:, None] + self.columns

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Offsets:
        return cls(0.0, np.zeros(shape[0]), np.zeros(shape[1]))


def offsets_by(rule: str, entries: Entries) -> Offsets:
    """The offsets of a rule; rows and columns without entries have the mean of all entries."""
    if rule == "zero":
        return Offsets.none(entries.shape)
    mean = float(entries.values.mean())
    away = entries.values - mean
    rows, columns = np.zeros(entries.shape[0]), np.zeros(entries.shape[1])
    if rule in ("row_mean", "row_column_mean"):
        rows = entries.means(away)
    if rule in ("column_mean", "row_column_mean"):
        turned = entries.transposed
        columns = turned.means(turned.values - mean)
    return Offsets(mean, rows, columns)


def row_offsets(rule: str, entries: Entries, mean: float) -> Array:
    """b of new rows under the rule."""
    if rule in ("row_mean", "row_column_mean"):
        return entries.means(entries.values - mean)
    return np.zeros(entries.shape[0])
