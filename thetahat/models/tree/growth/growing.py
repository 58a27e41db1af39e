"""Growing a tree on sorted columns: exact or random splits for any criterion.

Columns are sorted once (`sorted_columns`) and shared by all trees on them, for any weights and
targets (`grow_tree`). Cost of an exact tree: O(n·d) for each level.
"""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.data.bins import entries_by_column
from thetahat.data.source import kernel_weights
from thetahat.data.validation import is_sparse
from thetahat.foundation.memory import require_memory, shortage_explained
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.models.tree.structure import Tree

BYTES_PER_CELL = 24
"""Memory of sorted columns with their values, and of growing a tree on them."""
UNBOUNDED = 2**31 - 1
"""No limit on the depth or on the number of leaves."""


def sorted_columns(
    X: Matrix, categorical: Array | None = None, ordered: bool = True
) -> _native.SortedColumns:
    """Prepare the columns of X once for all trees that are grown on them.

    X is a float matrix with NaN for missing values; in `categorical` columns (Booleans, one per
    column) its values are the codes 0, 1, … of categories. `ordered` columns allow exact splits,
    others random splits only. Values of ordered columns are read from X, which must not change.
    Of a sparse X only the entries other than zero are stored and read.
    """
    n, d = X.shape
    if is_sparse(X):
        with shortage_explained(*_sparse_need(X)):
            return _native.sparse_columns(*entries_by_column(X), n, ordered, n_threads())
    need = tree_need(n, d)
    require_memory(*need)
    kinds = np.zeros(d, dtype=np.uint8)
    if categorical is not None:
        kinds[:] = categorical
    with shortage_explained(*need):
        return _native.sorted_columns(X, kinds, ordered, n_threads())


def _sparse_need(X: SparseMatrix) -> tuple[int, str, str]:
    """Entries with their codes and values, three times; the words for them."""
    return (
        3 * BYTES_PER_CELL * X.nnz + 64 * X.shape[1],
        f"Sorting the {X.nnz} entries of {X.shape[0]} × {X.shape[1]} sparse rows for trees",
        "Use fewer rows or columns.",
    )


def tree_need(n: int, d: int) -> tuple[int, str, str]:
    """Bytes of sorted row numbers, a working copy of them, and the values; the words for them."""
    return (
        n * d * BYTES_PER_CELL,
        f"Sorting the columns of {n} × {d} numbers for trees with exact splits",
        "Use histogram-based trees such as HistGradientBoosting, use fewer rows, or increase the "
        "limit with th.config(memory=...).",
    )


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
    use_up: bool = False,
    monotone: Array | None = None,
    seed: int = 0,
) -> Tree:
    """Grow a tree from numbers y, (n,) or (n, outputs), or from codes of `n_classes` classes.

    With `max_leaves` the leaf with the largest gain is split first, otherwise the tree grows depth
    first. `min_weight` is the minimum total weight of a leaf; `min_gain` is the minimum gain φ − Σ
    w·φ of a split relative to the weight of its node, `min_decrease` relative to the weight of the
    root. For equal gains the first column is used, or a random one with `random_ties`. With
    `use_up`, the tree works in the memory of the columns, and no other tree can use them.
    """
    targets = np.ascontiguousarray(y, dtype=np.float64).reshape(columns.n_rows, -1)
    with shortage_explained(*tree_need(columns.n_rows, columns.n_columns)):
        parts = _native.grow_statistic_tree(
            columns,
            targets,
            kernel_weights(weight),
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
            use_up=use_up,
        )
    outputs = targets.shape[1]
    return Tree(
        *parts,
        n_features=columns.n_columns,
        n_outputs=outputs,
        n_classes=n_classes or (1,) * outputs,
    )
