"""The edges of histogram bins, from a number, a rule, or as given."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, prod
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import whole
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.binning.costs import joint_cost
from thetahat.mathematics.binning.widths import bin_counts, freedman_diaconis, scott
from thetahat.models.density.box import Box, box_around
from thetahat.models.density.histogram.grid import Grid

WIDTHS = {"scott": scott, "freedman_diaconis": freedman_diaconis}
RULES = (*WIDTHS, "shimazaki_shinomoto", "cross_validation")
Edges = tuple[Array, ...]


def whole_number_edges(source: InMemory, bounds: Any, together: bool, who: str) -> Edges:
    """One bin for every whole number between the smallest and the largest row, or the bounds."""
    X = np.asarray(source.X, dtype=np.float64)
    if (broken := X != np.rint(X)).any():
        i, j = np.argwhere(broken)[0]
        raise DataError(
            f"{who}: with discrete=True all rows must be whole numbers, but row "
            f"{source.number_of(i)}, column {source.schema.label(j)} is {X[i, j]:g}. "
            "Use discrete=False."
        )
    box = Box(X.min(axis=0), X.max(axis=0))
    if bounds is not None:
        box = box_around(source, bounds, 0.0, who)
    counts = np.floor(box.high) - np.ceil(box.low) + 1
    _require_room(counts, together, who)
    return tuple(
        low + np.arange(int(n) + 1) - 0.5 for low, n in zip(np.ceil(box.low), counts, strict=True)
    )


def edges_of(
    bins: Any,
    source: InMemory,
    weight: Array,
    box_around_rows: Callable[[], Box],
    together: bool,
    who: str,
) -> Edges:
    """The edges of every column. `together`: the columns make one grid."""
    d, per_column = source.n_features, _per_column(bins, source.n_features, who)
    given = {j: _given_edges(each, source, j, who) for j, each in enumerate(per_column)
             if not isinstance(each, str) and not whole(1).holds(each)}  # fmt: skip
    if len(given) == d:
        return tuple(given[j] for j in range(d))
    box = box_around_rows()
    X = np.asarray(source.X, dtype=np.float64)
    counts = np.ones(d)
    searched: dict[str, list[int]] = {}
    for j, each in enumerate(per_column):
        if j in given:
            continue
        if not isinstance(each, str):
            counts[j] = each
        elif each in WIDTHS:
            width = WIDTHS[each](X[:, j], weight, n_columns=d if together else 1)
            counts[j] = max(1, ceil((box.high[j] - box.low[j]) / width * (1 - 1e-9)))
        elif together:
            searched.setdefault(each, []).append(j)
        else:
            counts[j] = _best_count(each, X[:, [j]], weight, box, [j])
    for rule, columns in searched.items():
        counts[columns] = _best_count(rule, X[:, columns], weight, box, columns)
    _require_room(counts, together, who)
    return tuple(
        given[j] if j in given else np.linspace(box.low[j], box.high[j], int(counts[j]) + 1)
        for j in range(d)
    )


def _best_count(rule: str, X: Array, weight: Array, box: Box, columns: list[int]) -> int:
    """The number of bins per column with the smallest cost of the joint histogram."""
    low, high, total = box.low[columns], box.high[columns], float(weight.sum())
    if rule == "cross_validation" and not total > 1:
        raise DataError(
            f"Histogram: the row weights sum to {total:g}, so that no row is left when one is left "
            "out. Use weights that are numbers of rows, or another rule than 'cross_validation'."
        )
    found = []
    for k in bin_counts(total ** (1 / len(columns))):
        edges = tuple(np.linspace(a, b, k + 1) for a, b in zip(low, high, strict=True))
        counts = Grid.of(X, weight, edges, 0.0).counts
        cells = float(k) ** len(columns)
        # Relative to the volume of the box, which is the same for all.
        found.append((joint_cost(rule, float(counts @ counts), total, cells, 1 / cells), k))
    return min(found)[1]


def _per_column(bins: Any, d: int, who: str) -> list[Any]:
    """One number, rule or array of edges for every column."""
    if isinstance(bins, str) or not hasattr(bins, "__len__") or getattr(bins, "ndim", 1) == 0:
        entries = [bins] * d
    elif d == 1 and len(bins) != 1:
        entries = [bins]
    else:
        entries = list(bins)
    if len(entries) != d:
        raise ParameterError(
            f"{who}: bins has {len(entries)} entries, but X has {d} columns. Give one number, rule "
            "or array of edges for each column, or one number or rule for all."
        )
    for each in entries:
        is_known = each in RULES if isinstance(each, str) else whole(1).holds(each)
        if not is_known and np.ndim(each) != 1:
            raise ParameterError(
                f"{who}: bins={each!r:.60} must be a whole number ≥ 1, one of {RULES}, or an array "
                "of edges."
            )
    return entries


def _given_edges(edges: Any, source: InMemory, j: int, who: str) -> Array:
    ends = numbers(edges, "bins", who)
    if ends.size < 2 or not (np.diff(ends) > 0).all():
        raise ParameterError(
            f"{who}: the edges of column {source.schema.label(j)} must be at least two ascending "
            f"numbers, but they are {np.asarray(ends).tolist()!r:.60}."
        )
    x = source.X[:, j]
    outside = np.flatnonzero((x < ends[0]) | (x > ends[-1]))
    if outside.size:
        raise DataError(
            f"{who}: {outside.size} of {source.n_rows} rows lie outside the edges of column "
            f"{source.schema.label(j)}, {ends[0]:g} to {ends[-1]:g} (first at row "
            f"{source.number_of(outside[0])}: {x[outside[0]]:g}). Add bins, or drop those rows."
        )
    return ends


def _require_room(counts: Array, together: bool, who: str) -> None:
    """Require memory for the edges of all columns, and for the work on those of one column."""
    cells = prod(counts.tolist()) if together else float(counts.sum())
    most = int(np.argmax(counts))
    require_memory(
        8 * int(min(counts.sum() + 3 * counts[most], 1e18)),
        f"{who}: a histogram with {cells:.3g} cells, whose edges ({counts[most]:.3g} in column "
        f"{most}) are kept,",
        "Use fewer bins, a smaller margin, a smaller range with bounds=..., or DensityTree, whose "
        "cells adapt to the data.",
    )
