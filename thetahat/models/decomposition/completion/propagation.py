"""Exact completion of a matrix of rank 1: x_ij = a_i·b_j, followed from entry to entry."""

from __future__ import annotations

from collections import deque

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.completion.entries import LARGEST, Entries


def rank_one_factors(entries: Entries, who: str) -> tuple[Array, Array]:
    """a and b from the known entries; an error if they do not determine all others.

    Known entries other than 0 link rows and columns: b_j = x_ij/a_i and a_i = x_ij/b_j. If they
    link all rows and columns, one free choice fixes all factors. Cost: O(number of entries).
    """
    a, b = np.full(entries.shape[0], np.nan), np.full(entries.shape[1], np.nan)
    links = entries.take(np.flatnonzero(entries.values))
    if links.values.size:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            _follow(links, a, b)
    zeros = entries.take(np.flatnonzero(entries.values == 0))
    a[zeros.rows[np.isnan(a[zeros.rows]) & ~np.isnan(b[zeros.columns])]] = 0.0
    b[zeros.columns[np.isnan(b[zeros.columns]) & (np.nan_to_num(a[zeros.rows]) != 0)]] = 0.0
    for kind, factors in (("row", a), ("column", b)):
        open_ = np.flatnonzero(np.isnan(factors))
        if open_.size:
            raise DataError(
                f"{who}: the known entries do not link {kind} {open_[0]} to the others, so that "
                "rank 1 does not determine it. Add an entry, or use another method."
            )
    if max(np.abs(a).max(), np.abs(b).max()) > LARGEST:
        raise DataError(
            f"{who}: the factors of some rows or columns are more than {LARGEST:g} times as large "
            "as those of others, so that their products overflow. Use another method."
        )
    wrong = np.abs(entries.values - a[entries.rows] * b[entries.columns])
    worst = int(wrong.argmax())
    if wrong[worst] > 1e-8 * np.abs(entries.values).max():
        i, j = int(entries.rows[worst]), int(entries.columns[worst])
        raise DataError(
            f"{who}: the known entries are not those of a matrix of rank 1: the entry in row {i} "
            f"and column {j} is {entries.values[worst]:g}, but the others imply {a[i] * b[j]:g}. "
            "Use method='hard_impute' or 'als', which fit such entries approximately."
        )
    return a, b


def _follow(links: Entries, a: Array, b: Array) -> None:
    """Fill in a and b, in place, from the row of the first entry."""
    sides = []
    for each in (links, links.transposed):
        ends = np.concatenate([[0], np.cumsum(each.row_counts)])
        sides.append((ends, each.columns, each.values))
    factors = (a, b)
    first = int(links.rows[0])
    a[first] = 1.0
    waiting = deque([(0, first)])
    while waiting:
        side, i = waiting.popleft()
        ends, others, values = sides[side]
        part = slice(ends[i], ends[i + 1])
        other = factors[1 - side]
        new = np.isnan(other[others[part]])
        found = others[part][new]
        other[found] = values[part][new] / factors[side][i]
        waiting.extend((1 - side, int(j)) for j in found)
