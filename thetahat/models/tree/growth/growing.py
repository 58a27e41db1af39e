"""Growing a tree on sorted columns: exact or random splits by any criterion.

Columns are sorted once (`sorted_columns`); every tree on them, whatever its weights and targets,
reads them as they are (`grow_tree`). Cost of an exact tree: O(n·d) for each level.
"""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.tree.structure import Tree

BYTES_PER_CELL = 24
"""What sorted columns and the tree that is grown on them take."""
UNBOUNDED = 2**31 - 1
"""A depth or a number of leaves that no tree reaches."""


def sorted_columns(
    X: Array, categorical: Array | None = None, ordered: bool = True
) -> _native.SortedColumns:
    """The columns of X, prepared once for all trees that are grown on them.

    X is a float matrix, NaN where a value is missing; in `categorical` columns (Booleans, one per
    column) its values are the codes 0, 1, … of categories. `ordered` columns give exact splits, the
    others random ones.
    """
    n, d = X.shape
    # Rows in the order of each column, the same again while a tree divides them, and the values.
    require_memory(
        n * d * BYTES_PER_CELL,
        f"Sorting the columns of {n} × {d} numbers for trees with exact splits",
        "Use trees on histograms, such as HistGradientBoosting, fewer rows, or raise the limit "
        "with th.config(memory=...).",
    )
    kinds = np.zeros(d, dtype=np.uint8)
    if categorical is not None:
        kinds[:] = categorical
    return _native.sorted_columns(X, kinds, ordered, n_threads())


def grow_tree(
    columns: _native.SortedColumns,
    y: Array,
    weight: Array | None = None,
    *,
    criterion: str = "squared_error",
    n_classes: tuple[int, ...] = (),
    max_depth: int | None = None,
    max_leaves: int | None = None,
    min_split: int = 2,
    min_leaf: int = 1,
    min_weight: float = 0.0,
    min_decrease: float = 0.0,
    min_gain: float = 0.0,
    max_features: int | None = None,
    at_values: bool = False,
    category_subsets: bool = True,
    random_ties: bool = False,
    monotone: Array | None = None,
    seed: int = 0,
) -> Tree:
    """Grow a tree: numbers y (n,) or (n, outputs), or codes of `n_classes` classes per output.

    With `max_leaves` the leaf that gains most is divided first, else the tree grows depth first.
    `min_weight` is the least sum of weights of a leaf, `min_gain` the least gain φ − Σ w·φ of a
    split for a unit of its node's weight, `min_decrease` for a unit of the root's. Of columns that
    gain alike the first divides a node, with `random_ties` any one.
    """
    targets = np.ascontiguousarray(y, dtype=np.float64).reshape(columns.n_rows, -1)
    parts = _native.grow_statistic_tree(
        columns,
        targets,
        np.empty(0) if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
        criterion=criterion,
        n_classes=max(n_classes, default=0),
        max_depth=UNBOUNDED if max_depth is None else min(int(max_depth), UNBOUNDED),
        max_leaves=UNBOUNDED if max_leaves is None else min(int(max_leaves), UNBOUNDED),
        best_first=max_leaves is not None,
        min_split=min_split,
        min_leaf=min_leaf,
        min_weight=min_weight,
        min_decrease=min_decrease,
        min_gain=min_gain,
        max_features=columns.n_columns if max_features is None else max_features,
        at_values=at_values,
        category_subsets=category_subsets,
        monotone=np.ascontiguousarray([] if monotone is None else monotone, dtype=np.int8),
        seed=seed,
        threads=n_threads(),
        random_ties=random_ties,
    )
    outputs = targets.shape[1]
    return Tree(
        *parts,
        n_features=columns.n_columns,
        n_outputs=outputs,
        n_classes=n_classes or (1,) * outputs,
    )
