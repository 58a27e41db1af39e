"""Models of distances: nearest neighbours, nearest centres and mixtures of Gaussian components."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.persistence.onnx.generative import gaussian_logs
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import Outputs, labels, largest, numbers


def squares(graph: Graph, centres: Array) -> str:
    """‖x − z‖² of every row and centre, by inner products of rows about the middle of the centres.

    The middle is a multiple of a power of 2 near the mean, so that whole numbers have no rounding
    errors, and equal distances stay equal.
    """
    centres = np.asarray(centres, dtype=float)
    spread = centres.std(axis=0)
    unit = np.exp2(np.floor(np.log2(np.where(spread > 0, spread, 1.0))))
    middle = unit * np.round(centres.mean(axis=0) / unit)
    moved = centres - middle
    x = graph.add("Sub", graph.rows, graph.constant(middle))
    own = graph.add("ReduceSumSquare", x, axes=[1], keepdims=1)
    found = graph.affine(x, -2.0 * moved.T, (moved**2).sum(axis=1))
    return graph.add("Max", graph.add("Add", found, own), graph.constant(np.array(0.0)))


def centre_distances(model: Any, graph: Graph) -> str:
    """The Euclidean distances from all centres of `KMeans`."""
    return graph.add("Sqrt", squares(graph, model.cluster_centers_))


def centres(model: Any, graph: Graph) -> Outputs:
    """`KMeans`: the number of the nearest centre, and the distances from all centres."""
    k = len(model.cluster_centers_)
    found = squares(graph, model.cluster_centers_)
    nearest = graph.add("ArgMin", found, axis=1, keepdims=0)
    distances = graph.add("Sqrt", found)
    return {"labels": (nearest, np.int64, None), "distances": (distances, graph.dtype, k)}


def mixture(model: Any, graph: Graph) -> Outputs:
    """Mixtures of Gaussians: the most probable component, and the probabilities of all of them."""
    levels, means, factors = model._membership_terms()
    k, d = means.shape
    # A diagonal factor is one row of the matrix of all factors, others are d rows.
    roots = [root[0] if len(root) == 1 else root for root in factors.reshape(k, -1, d)]
    logs = gaussian_logs(graph, means, roots, levels)
    return {
        "labels": (largest(graph, logs), np.int64, None),
        "probabilities": (graph.add("Softmax", logs, axis=1), graph.dtype, k),
    }


def neighbor_classification(model: Any, graph: Graph) -> Outputs:
    """`KNeighborsClassifier`: the votes of the nearest rows."""
    if model.outputs_2d_:
        raise CapabilityError(
            f"{type(model).__name__}: {len(model.classes_)} columns of labels are not available as "
            "an ONNX graph. Fit one model per column."
        )
    rows, weights = _nearest(model, graph)
    k = len(model.classes_)
    votes = _averages(graph, np.eye(k)[model._codes], rows, weights)
    found = labels(graph, largest(graph, votes), model.classes_)
    return found | {"probabilities": (votes, graph.dtype, k)}


def neighbor_regression(model: Any, graph: Graph) -> Outputs:
    """`KNeighborsRegressor`: the mean of the nearest rows."""
    rows, weights = _nearest(model, graph)
    targets = model._targets
    if targets.ndim == 2:
        return numbers(graph, _averages(graph, targets, rows, weights), targets.shape[1])
    return numbers(graph, graph.flat(_averages(graph, targets[:, None], rows, weights)), None)


def _nearest(model: Any, graph: Graph) -> tuple[str, str | None]:
    """The numbers of the nearest rows, (rows, k), and their weights, (rows, k, 1)."""
    who, given = type(model).__name__, model._index.rows
    if model.effective_metric_ != "euclidean" or not isinstance(given, np.ndarray):
        raise CapabilityError(
            f"{who}: only the Euclidean distance of dense rows is available as an ONNX graph, not "
            f"metric={model.metric!r}. Use metric='euclidean' and a dense X."
        )
    if model._approximate is not None or model.weights not in (None, "uniform", "distance"):
        raise CapabilityError(
            f"{who}: an approximate search and weights from a function are not available as an "
            "ONNX graph. Use algorithm='auto', and weights='uniform' or 'distance'."
        )
    k = graph.constant(np.array([int(model.n_neighbors)]))
    rows = graph.add_second("TopK", squares(graph, given), k, axis=1, largest=0)
    if model.weights != "distance":
        return rows, None
    # Differences instead of inner products: an equal row must have the distance 0.
    there = graph.add("Gather", graph.constant(np.asarray(given, dtype=float)), rows, axis=0)
    here = graph.add("Unsqueeze", graph.rows, graph.constant(np.array([1])))
    away = graph.add("Sub", there, here)
    distance = graph.add("Sqrt", graph.add("ReduceSumSquare", away, axes=[2], keepdims=1))
    kind = int(graph.onnx.helper.np_dtype_to_tensor_dtype(graph.dtype))
    zero = graph.add("Equal", distance, graph.constant(np.array(0.0)))
    same = graph.add("Cast", zero, to=kind)
    any_same = graph.add("ReduceMax", same, axes=[1], keepdims=1)
    has_same = graph.add("Greater", any_same, graph.constant(np.array(0.0)))
    inverse = graph.add("Div", graph.constant(np.array(1.0)), distance)
    return rows, graph.add("Where", has_same, same, inverse)


def _averages(graph: Graph, values: Array, rows: str, weights: str | None) -> str:
    """Weighted means of values of the nearest rows, (rows, width)."""
    found = graph.add("Gather", graph.constant(np.asarray(values, dtype=float)), rows, axis=0)
    if weights is None:
        return graph.add("ReduceMean", found, axes=[1], keepdims=0)
    along = graph.constant(np.array([1]))
    total = graph.add("ReduceSum", graph.add("Mul", found, weights), along, keepdims=0)
    return graph.add("Div", total, graph.add("ReduceSum", weights, along, keepdims=0))
