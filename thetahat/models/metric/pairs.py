"""Pairs of rows that are similar or not: given by their numbers, or made from class labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Pairs:
    """Numbers of two rows each, and +1 for similar rows, −1 for others."""

    first: Array
    second: Array
    signs: Array
    weights: Array
    """Positive, with sum 1."""


def given_pairs(similar: Any, dissimilar: Any, n_rows: int, who: str) -> Pairs:
    """Pairs of row numbers, all with the same weight."""
    parts = [
        _row_numbers(pairs, name, n_rows, who)
        for pairs, name in ((similar, "similar"), (dissimilar, "dissimilar"))
    ]
    signs = np.repeat([1.0, -1.0], [len(part) for part in parts])
    rows = np.concatenate(parts)
    return Pairs(rows[:, 0], rows[:, 1], signs, np.full(len(signs), 1.0 / len(signs)))


def _row_numbers(pairs: Any, name: str, n_rows: int, who: str) -> Array:
    try:
        array = np.asarray([] if pairs is None else pairs)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 2 or not len(array) or array.dtype.kind not in "iu":
        raise DataError(
            f"{who}: {name} must hold at least one pair of row numbers, as an integer array of "
            f"shape (m, 2), but it has shape {array.shape} and dtype {array.dtype}. Pass both "
            "similar=[[i, j], ...] and dissimilar=[[i, j], ...], or class labels y."
        )
    wrong = (array < 0) | (array >= n_rows)
    if wrong.any():
        at = np.argwhere(wrong)[0]
        raise DataError(
            f"{who}: {name} names row {array[tuple(at)]} (pair {at[0]}), but X has {n_rows} rows. "
            f"Row numbers must lie between 0 and {n_rows - 1}."
        )
    return array.astype(np.int64)


def count_of_pairs(n_rows: int, n_pairs: int) -> int:
    """How many pairs `pairs_of_classes` returns."""
    return min(n_rows * (n_rows - 1) // 2, 2 * ((n_pairs + 1) // 2))


def pairs_of_classes(codes: Array, n_pairs: int, random: np.random.Generator, who: str) -> Pairs:
    """All pairs if there are at most `n_pairs`, else as many drawn; both kinds weigh the same."""
    n, counts = len(codes), np.bincount(codes)
    if counts.max() < 2 or counts.size < 2:
        raise DataError(
            f"{who}: y must have at least two classes, and one of them at least two rows, but it "
            f"has {counts.size} {'class' if counts.size == 1 else 'classes'} in {n} rows (samples "
            "= rows). Add rows, or pass pairs as similar=... and dissimilar=..."
        )
    if n * (n - 1) // 2 <= n_pairs:
        first, second = np.triu_indices(n, 1)
    else:
        first, second = _drawn(codes, counts, (n_pairs + 1) // 2, random)
    signs = np.where(codes[first] == codes[second], 1.0, -1.0)
    similar = np.count_nonzero(signs > 0)
    weights = np.where(signs > 0, 0.5 / similar, 0.5 / (len(signs) - similar))
    return Pairs(first, second, signs, weights)


def _drawn(
    codes: Array, counts: Array, each: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """As many similar pairs as dissimilar ones, with first rows drawn uniformly."""
    order = np.argsort(codes, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(codes))
    begin = np.cumsum(counts) - counts
    paired = np.flatnonzero(counts[codes] > 1)
    one = paired[random.integers(len(paired), size=each)]
    size = counts[codes[one]]
    other = place[one] - begin[codes[one]] + 1 + random.integers(size - 1)
    same = order[begin[codes[one]] + other % size]
    two = random.integers(len(codes), size=each)
    size, low = counts[codes[two]], begin[codes[two]]
    apart = order[(low + size + random.integers(len(codes) - size)) % len(codes)]
    return np.concatenate([one, two]), np.concatenate([same, apart])
