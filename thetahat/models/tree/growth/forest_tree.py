"""Growing one tree by the engine of forests, which reads only the columns that a node tries.

Random thresholds need the least and the greatest value of a column in a node, but no order: columns
are copied, not sorted. Exact splits need ranks, and nodes sort the columns they try. Cost: O(n·d)
for copies or ranks, O(n·columns tried) for each level.
"""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.data.source import kernel_weights
from thetahat.foundation.memory import shortage_explained
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.growth.codes import column_codes, columns_for_random_splits
from thetahat.models.tree.growth.columns import TreeColumns
from thetahat.models.tree.growth.growing import UNBOUNDED, tree_need
from thetahat.models.tree.growth.grown_forest import GrownForest
from thetahat.models.tree.structure import Tree


def grow_forest_tree(
    X: Matrix,
    y: Array,
    weight: Array | None,
    columns: TreeColumns,
    *,
    random_thresholds: bool,
    criterion: str,
    n_classes: tuple[int, ...],
    max_features: int,
    max_depth: int | None,
    max_leaves: int | None,
    min_split: int,
    min_leaf: int,
    min_weight: float,
    min_decrease: float,
    seed: int,
) -> Tree:
    """Grow a tree from numbers y, (n,) or (n, outputs), or from codes of `n_classes` classes.

    `columns` says which columns of X hold categories. The limits are those of `grow_tree`, but for
    monotone constraints: a forest keeps them in its leaves only, a single tree in all its nodes.
    """
    n, d = X.shape
    targets = np.ascontiguousarray(y, dtype=np.float64).reshape(n, -1)
    weights = kernel_weights(weight)
    start = GrownForest.empty(criterion, targets.shape[1], n_classes or (1,) * targets.shape[1], d)
    seeds = np.array([seed], dtype=np.uint64)
    prepared = columns_for_random_splits if random_thresholds else column_codes
    ready = prepared(X, weight, columns, "exact")
    with shortage_explained(*tree_need(n, d)):
        batch = _native.grow_forest(
            columns=ready,
            y=targets,
            weight=weights,
            monotone=np.empty(0, dtype=np.int8),
            n_classes=max(n_classes, default=0),
            criterion=criterion,
            draws=0,
            balanced=False,
            replacement=True,
            max_features=min(max_features, d),
            features_per_tree=d,
            max_candidates=0,
            exact_rows=n,
            max_depth=UNBOUNDED if max_depth is None else min(max_depth, UNBOUNDED),
            max_leaves=max_leaves or 0,
            min_split=min_split,
            min_leaf=min_leaf,
            min_weight_share=min_weight / float(weights.sum() if weights.size else n),
            min_decrease=min_decrease,
            seeds=seeds,
            first_value=start.packed.values.shape[0],
            first_set=0,
            threads=1,
        )
    return start.extended([batch], seeds).tree(0)
