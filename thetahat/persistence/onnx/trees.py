"""Trees, forests and boosting: sums of the values of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.tree.packed import CATEGORICAL, MISSING_LEFT, PackedTrees
from thetahat.persistence.onnx.graph import ML, Graph
from thetahat.persistence.onnx.heads import (
    Outputs,
    classes_of_scores,
    labels,
    largest,
    mean,
    numbers,
    two_shares,
)


def tree_sum(
    graph: Graph, trees: PackedTrees, model: Any, start: Array | None, n_columns: int | None = None
) -> str:
    """Σ over the trees of the values of the leaves, (rows, width), plus a start.

    With `n_columns` and one number per leaf, tree t adds to column t mod n_columns. A leaf of an
    ONNX tree has a single number; if there are several values, it is the number of their row.
    """
    who, rows, nodes = type(model).__name__, graph.rows, trees.nodes
    is_leaf = nodes["feature"] < 0
    flags = np.where(is_leaf, 0, nodes["feature"])
    if (flags & CATEGORICAL).any():
        rows, nodes = _with_memberships(graph, trees, model._columns.levels)
        flags = np.where(is_leaf, 0, nodes["feature"])
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.roots))
    # A tree that is a single leaf needs a node, both branches of which lead to that leaf.
    alone = is_leaf[trees.roots[:-1]]
    is_node = ~is_leaf
    is_node[trees.roots[:-1][alone]] = True
    inner = np.flatnonzero(is_node)
    leaf_number, node_number = np.cumsum(is_leaf) - 1, np.cumsum(is_node) - 1
    first = np.where(is_leaf, np.arange(len(nodes)), trees.roots[tree] + nodes["child"])[inner]
    second = np.where(is_leaf[inner], first, first + 1)
    leaves = np.flatnonzero(is_leaf)
    rows_of_values = nodes["child"][leaves]
    width = trees.values.shape[1]
    if width > 1:
        if graph.dtype == np.float32 and len(trees.values) > 1 << 24:
            raise CapabilityError(
                f"{who}: {len(trees.values)} leaves cannot be numbered in single precision. Use "
                "dtype=numpy.float64."
            )
        target, n_targets, weights = tree[leaves], trees.n_trees, rows_of_values.astype(float)
    else:
        n_targets = n_columns or 1
        target, weights = tree[leaves] % n_targets, trees.values[rows_of_values, 0]
    attributes: dict[str, Any] = {
        "aggregate_function": 1,
        "n_targets": n_targets,
        "tree_roots": node_number[trees.roots[:-1]].tolist(),
        "nodes_featureids": (flags[inner] & ~MISSING_LEFT).tolist(),
        "nodes_splits": graph.tensor("splits", _thresholds(graph, nodes[inner], is_leaf[inner])),
        "nodes_modes": graph.onnx.numpy_helper.from_array(
            np.zeros(inner.size, dtype=np.uint8), "modes"
        ),
        "nodes_missing_value_tracks_true": ((flags[inner] & MISSING_LEFT) > 0).astype(int).tolist(),
        "leaf_targetids": target.tolist(),
        "leaf_weights": graph.tensor("weights", weights),
    }
    for branch, places in (("true", first), ("false", second)):
        ends = is_leaf[places]
        attributes[f"nodes_{branch}leafs"] = ends.astype(int).tolist()
        attributes[f"nodes_{branch}nodeids"] = np.where(
            ends, leaf_number[places], node_number[places]
        ).tolist()
    found = graph.add("TreeEnsemble", rows, domain=ML, **attributes)
    if width > 1:
        whole = graph.add("Cast", found, to=int(graph.onnx.TensorProto.INT64))
        each = graph.add("Gather", graph.constant(trees.values), whole, axis=0)
        found = graph.add("ReduceSum", each, graph.constant(np.array([1])), keepdims=0)
    return found if start is None else graph.add("Add", found, graph.constant(start))


def _with_memberships(
    graph: Graph, trees: PackedTrees, levels: dict[int, tuple[Any, ...]]
) -> tuple[str, Array]:
    """Rows with a further column per set of categories, and nodes that split these columns at ½.

    The column is 0 for a category of the set, 1 for another category of `fit`, and NaN for missing
    values and other categories, which take the branch of missing values.
    """
    nodes = trees.nodes.copy()
    by_set = np.flatnonzero((nodes["feature"] >= 0) & ((nodes["feature"] & CATEGORICAL) > 0))
    columns = nodes["feature"][by_set] & ~(CATEGORICAL | MISSING_LEFT)
    missing_left = nodes["feature"][by_set] & MISSING_LEFT
    sets = trees.sets[nodes["threshold"][by_set].astype(np.int64)]
    kind = int(graph.onnx.helper.np_dtype_to_tensor_dtype(graph.dtype))
    parts, place = [graph.rows], trees.n_features
    for column in np.unique(columns):
        values = np.array(levels[int(column)], dtype=float)
        here = columns == column
        different, which = np.unique(sets[here], axis=0, return_inverse=True)
        bits = np.unpackbits(different.view(np.uint8), axis=1, bitorder="little")
        goes_right = 1.0 - bits[:, : len(values)].T.astype(float)
        x = graph.columns(graph.rows, int(column), int(column) + 1)
        is_value = graph.add("Cast", graph.add("Equal", x, graph.constant(values)), to=kind)
        known = graph.add("ReduceMax", is_value, axes=[1], keepdims=1)
        known = graph.add("Greater", known, graph.constant(np.array(0.0)))
        member = graph.add("MatMul", is_value, graph.constant(goes_right))
        parts.append(graph.add("Where", known, member, graph.constant(np.array(np.nan))))
        nodes["feature"][by_set[here]] = (place + which.ravel()) | missing_left[here]
        place += len(different)
    nodes["threshold"][by_set] = 0.5
    return graph.concatenate_columns(*parts), nodes


def _thresholds(graph: Graph, nodes: Array, is_leaf: Array) -> Array:
    """Thresholds in the precision of the graph: in single precision the largest number below.

    A number x in single precision is ≤ t exactly if it is ≤ that number.
    """
    exact = np.where(is_leaf, 0.0, nodes["threshold"])
    if graph.dtype == np.float64:
        return exact
    rounded = exact.astype(np.float32)
    return np.where(rounded > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def single_tree(model: Any, graph: Graph) -> Outputs:
    """A decision tree of classes or numbers."""
    who = type(model).__name__
    _require_numbers(model)
    if getattr(model, "oblique", 0):
        raise CapabilityError(
            f"{who}: splits along directions (oblique={model.oblique}) are not available as an "
            "ONNX graph. Use oblique=0."
        )
    return _answers(model, graph, tree_sum(graph, model.tree_.packed, model, None))


def forest(model: Any, graph: Graph) -> Outputs:
    """A forest: the mean over its trees."""
    _require_numbers(model)
    if getattr(model, "voting", "soft") == "hard":
        raise CapabilityError(
            f"{type(model).__name__}: voting='hard' is not available as an ONNX graph. Use "
            "voting='soft'."
        )
    trees = model._forest.packed
    shared = trees.with_values(trees.values / trees.n_trees)
    return _answers(model, graph, tree_sum(graph, shared, model, None))


def _answers(model: Any, graph: Graph, values: str) -> Outputs:
    if hasattr(model, "classes_"):
        if model.n_outputs_ > 1:
            raise CapabilityError(
                f"{type(model).__name__}: {model.n_outputs_} columns of labels are not available "
                "as an ONNX graph. Fit one model per column."
            )
        found = labels(graph, largest(graph, values), model.classes_)
        return found | {"probabilities": (values, graph.dtype, len(model.classes_))}
    if model.n_outputs_ > 1:
        return numbers(graph, values, model.n_outputs_)
    return numbers(graph, graph.flat(values), None)


def boosting(model: Any, graph: Graph) -> Outputs:
    """Gradient boosting: the initial prediction plus the values of the leaves."""
    who = type(model).__name__
    _require_numbers(model)
    if model._packed is None:
        raise CapabilityError(
            f"{who}: members that are not trees (estimator={model.estimator!r}) are not available "
            "as an ONNX graph. Use trees."
        )
    if not getattr(model, "_starts_from_numbers", True):
        raise CapabilityError(
            f"{who}: a model as the initial prediction (init={model.init!r}) is not available as "
            "an ONNX graph. Use init=None."
        )
    k = len(model._start)
    z = tree_sum(graph, model._packed, model, model._start, k)
    if not hasattr(model, "classes_"):
        return numbers(graph, graph.flat(mean(graph, z, model.loss_, who)), None)
    found = classes_of_scores(graph, z, k, model.classes_)
    if k > 1:
        shares = mean(graph, z, model.loss_, who)
    else:
        if model.loss_.half_logit:
            z = graph.add("Mul", z, graph.constant(np.array(2.0)))
        shares = two_shares(graph, z)
    return found | {"probabilities": (shares, graph.dtype, max(2, k))}


def _require_numbers(model: Any) -> None:
    """Refuse columns of text and ordered categories: the input of the graph is numbers."""
    columns: Any = getattr(model, "_columns", None)
    for place, levels in columns.levels.items() if columns is not None else ():
        is_number = all(isinstance(value, int | float | np.number) for value in levels)
        if is_number and place in columns.categorical:
            continue
        name = repr(columns.names[place]) if columns.names else f"number {place}"
        raise CapabilityError(
            f"{type(model).__name__}: column {name} holds categories such as {levels[0]!r}, but "
            "the input of the ONNX graph is a matrix of numbers. Encode them as numbers before "
            "fit, and name the column in categorical_features."
        )
