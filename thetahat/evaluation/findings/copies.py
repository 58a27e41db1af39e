"""Rows that occur more than once: equal rows, rows that are nearly equal, and contradictions.

Equal rows of tables with a few discrete columns are coincidences, not copies. Under independence
two rows coincide with probability Π_j Σ_v p_jv², and copies are reported when there are many more
pairs of equal rows than that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from thetahat.evaluation.findings.finding import ROWS_KEPT, Finding, counted
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.table import CheckedTable
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import Euclidean
from thetahat.models.neighbors.search.index import NeighborIndex

TOO_MANY = 20.0
"""Factor by which pairs of equal rows must exceed those expected by chance."""
FEW_PAIRS = 0.15
"""So many pairs, times this factor, are never reported: up to three may be a coincidence."""
SEVERE_SHARE = 0.01
"""Share of the rows from which copies are a severe finding."""
NEAR = 0.02
"""Largest distance of near copies, relative to the median distance of nearest rows."""
LEAST_NUMBERS = 3
"""With fewer columns of numbers, rows are near each other by chance."""
LEAST_ROWS = 50
PROBED = 2000
"""Number of rows from which the usual distance of nearest rows is found."""
MOST_OF_TREE = 20
"""Columns up to which a kd-tree finds rows within a very small radius quickly."""
MOST_PAIRS = 2e10
"""Largest number of rows × rows × columns that are compared without a tree."""


@dataclass(frozen=True)
class Copied:
    """The group of equal or nearly equal rows of every row."""

    groups: Array
    n_exact: int
    """Number of rows that equal another row."""
    n_near: int
    """Number of further rows that nearly equal another row."""

    @property
    def repeated(self) -> Array:
        """The rows that have at least one copy."""
        return np.flatnonzero(np.bincount(self.groups)[self.groups] > 1)


def copied_rows(table: CheckedTable) -> Copied | None:
    """Groups of copies, by all columns but identifiers and the target; None without copies."""
    table = _without_identifiers(table)
    if table.n_rows < 2 or not table.columns:
        return None
    groups, n_groups = equal_rows(table)
    counts = np.bincount(groups, minlength=n_groups)
    n_exact = int(counts[counts > 1].sum())
    pairs = float((counts * (counts - 1.0) / 2).sum())
    if n_exact and pairs <= TOO_MANY * max(FEW_PAIRS, _pairs_by_chance(table)):
        return None
    first = np.unique(groups, return_index=True)[1]
    near = _near_pairs(table, first)
    if not n_exact and not near.size:
        return None
    if near.size:
        ends = groups[near]
        links = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (n_groups, n_groups))
        groups = connected_components(links, directed=False)[1][groups]
    n_all = int((np.bincount(groups)[groups] > 1).sum())
    return Copied(groups, n_exact, n_all - n_exact)


def _without_identifiers(table: CheckedTable) -> CheckedTable:
    columns = tuple(each for each in table.columns if not is_identifier(each))
    return replace(table, columns=columns)


def equal_rows(table: CheckedTable) -> tuple[Array, int]:
    """The number of the distinct row of every row, and the number of distinct rows."""
    groups, n_groups = np.zeros(table.n_rows, dtype=np.int64), 1
    for column in table.columns:
        codes, n_codes = column.coded
        distinct, groups = np.unique(groups * n_codes + codes, return_inverse=True)
        groups, n_groups = groups.ravel(), distinct.size
        if n_groups == table.n_rows:
            break
    return groups, n_groups


def find_copies(table: CheckedTable, copied: Copied | None) -> list[Finding]:
    """Copies of rows, and equal rows with different targets."""
    found = [*_contradictions(table)]
    if copied is None:
        return found
    rows = copied.repeated
    surplus = rows.size - np.unique(copied.groups[rows]).size
    kinds = []
    if copied.n_exact:
        kinds.append(f"{counted(copied.n_exact, 'row')} occur more than once")
    if copied.n_near:
        kinds.append(f"{counted(copied.n_near, 'row')} nearly equal another row")
    found.append(
        Finding(
            "copies",
            "severe" if surplus >= SEVERE_SHARE * table.n_rows else "warning",
            f"{' and '.join(kinds)}, {rows.size / table.n_rows:.1%} of all.",
            "If one copy is in the training rows and another in the held-out rows, the score "
            "rewards memory and is too high.",
            "Remove the copies, or keep the copies of a row in one fold (GroupKFold).",
            rows=tuple(table.numbered(rows[:ROWS_KEPT]).tolist()),
            n_rows=int(rows.size),
        )
    )
    return found


def _pairs_by_chance(table: CheckedTable) -> float:
    """Expected number of pairs of equal rows if the columns were independent."""
    n = table.n_rows
    chance = 1.0
    for column in table.columns:
        counts = np.bincount(column.coded[0])
        chance *= float(((counts / n) ** 2).sum())
    return chance * n * (n - 1) / 2


def _near_pairs(table: CheckedTable, rows: Array) -> Array:
    """Pairs of different rows that nearly coincide, (pairs, 2).

    Among independent rows of intrinsic dimension m, a nearest row closer than ε times the median
    occurs with probability of about ε^m; pairs are reported if there are many more.
    """
    numbers = [c for c in table.columns if c.is_number and c.n_distinct > 20]
    nothing = np.empty((0, 2), dtype=np.int64)
    if len(numbers) < LEAST_NUMBERS:
        return nothing
    # Filled-in values would bring rows together.
    complete = np.all([np.isfinite(column.values[rows]) for column in numbers], axis=0)
    rows = rows[complete]
    if rows.size < LEAST_ROWS:
        return nothing
    points = np.column_stack([_standard(column.values[rows]) for column in numbers])
    others = [c.coded[0][rows] for c in table.columns if not (c.is_number and c.n_distinct > 20)]
    n, d = points.shape
    tree = d <= MOST_OF_TREE
    if not tree and float(n) * n * d > MOST_PAIRS:
        return nothing
    index = NeighborIndex(
        np.ascontiguousarray(points), Euclidean(), "kd_tree" if tree else "brute", 30
    )
    probe = np.random.default_rng(0).permutation(n)[:PROBED]
    near = index.nearest(np.ascontiguousarray(points[probe]), 3).distance
    usual = float(np.median(near[:, 1]))
    if not usual > 0:
        return nothing
    ratio = near[:, 2] / np.maximum(near[:, 1], 1e-300)
    clear = (near[:, 1] > NEAR * usual) & (ratio > 1)
    if not clear.any():
        return nothing
    dimension = 1.0 / max(float(np.mean(np.log(ratio[clear]))), 1e-3)
    by_chance = n * NEAR**dimension
    pairs = _close(index, NEAR * usual)
    unusual = np.column_stack([_unusual(column.values[rows]) for column in numbers])
    for codes in others:
        pairs = pairs[codes[pairs[:, 0]] == codes[pairs[:, 1]]]
    both = unusual[pairs[:, 0]] & unusual[pairs[:, 1]]
    pairs = pairs[both.sum(axis=1) >= LEAST_NUMBERS]
    return rows[pairs] if len(pairs) > TOO_MANY * max(FEW_PAIRS, by_chance) else nothing


def _close(index: NeighborIndex, radius: float) -> Array:
    if index.algorithm == "kd_tree":
        found = index.within(None, radius, False)
        first = np.repeat(np.arange(index.n_rows), found.counts)
        pairs = np.column_stack([first, found.row])
        return pairs[pairs[:, 0] < pairs[:, 1]]
    near = index.nearest(None, 2)
    rows = np.arange(index.n_rows)
    other = np.where(near.row[:, 0] == rows, near.row[:, 1], near.row[:, 0])
    close = near.distance[:, 1] <= radius
    return np.column_stack([rows[close], other[close]])


def _unusual(values: Array) -> Array:
    """Which values are not the most frequent one: rows of zeros are near each other anyway."""
    distinct, counts = np.unique(values, return_counts=True)
    return np.asarray(values != distinct[counts.argmax()])


def _standard(values: Array) -> Array:
    """Centred and in units of the spread between the quartiles."""
    values = values / (np.abs(values).max() or 1.0)  # so that nothing overflows
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    spread = float(high - low) or float(values.std()) or 1.0
    return np.clip((values - middle) / spread, -1e6, 1e6)


def _contradictions(table: CheckedTable) -> list[Finding]:
    """Equal rows with different classes: no model can be right on all of them."""
    table = _without_identifiers(table)
    if table.task != "classification" or table.n_rows < 2 or not table.columns:
        return []
    groups, n_groups = equal_rows(table)
    assert table.target is not None
    labels, n_classes = table.target.coded
    pairs, counts = np.unique(groups * n_classes + labels, return_counts=True)
    most = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(most, pairs // n_classes, counts)
    sizes = np.bincount(groups, minlength=n_groups)
    wrong = int((sizes - most).sum())
    if not wrong:
        return []
    rows = np.flatnonzero((sizes > most)[groups])
    pairs_found = float((sizes * (sizes - 1.0) / 2).sum()) / TOO_MANY
    share = wrong / table.n_rows
    return [
        Finding(
            "copies",
            "warning" if share >= 0.01 and pairs_found > _pairs_by_chance(table) else "note",
            f"{counted(int(rows.size), 'row')} equal another row in all columns but have another "
            f"value of {table.target.name}.",
            f"No model can be right on all of them: at least {wrong / rows.size:.1%} of the "
            "predictions for these rows are wrong.",
            "Check the labels of these rows, or add a column that distinguishes them.",
            rows=tuple(table.numbered(rows[:ROWS_KEPT]).tolist()),
            n_rows=int(rows.size),
        )
    ]
