"""From raw predictions to what a model answers: means, labels and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.links import LARGEST_EXPONENT, Link
from thetahat.persistence.onnx.graph import Graph

Outputs = dict[str, tuple[str, Any, int | None]]
"""Name of an output → (tensor, dtype, number of columns, or None for a vector)."""


def numbers(graph: Graph, z: str, width: int | None) -> Outputs:
    """Predicted numbers: a vector, or one column per target."""
    return {"predictions": (z, graph.dtype, width)}


def mean(graph: Graph, z: str, loss: Loss, who: str) -> str:
    """E[y | x] of raw predictions under the link of the loss."""
    if type(loss).mean is not Loss.mean:
        raise CapabilityError(
            f"{who}: the loss {type(loss).__name__} has a mean of its own, which is not available "
            "as an ONNX graph. Use a loss with one of the links of th.losses."
        )
    match loss.link:
        case Link.IDENTITY:
            return z
        case Link.LOGIT:
            return graph.add("Sigmoid", z)
        case Link.LOG:
            most = graph.constant(np.array(LARGEST_EXPONENT[graph.dtype.char]))
            return graph.add("Exp", graph.add("Min", z, most))
        case Link.SOFTMAX:
            return graph.add("Softmax", z, axis=1)
        case _:
            raise CapabilityError(f"{who}: the link {loss.link.value!r} has no mean.")


def labels(graph: Graph, codes: str, classes: Array) -> Outputs:
    """The labels that belong to codes 0, …, C − 1."""
    if classes.dtype.kind == "O":
        classes = classes.astype(str)
    kind = classes.dtype if classes.dtype.kind in "biU" else np.dtype(graph.dtype)
    if kind.kind == "i":
        kind = np.dtype(np.int64)
    found = graph.add("Gather", graph.constant(classes.astype(kind)), codes)
    return {"labels": (found, kind, None)}


def largest(graph: Graph, scores: str) -> str:
    """The column with the largest score of every row; the first one in case of ties."""
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def positive(graph: Graph, z: str) -> str:
    """1 where a score of two classes is positive, else 0."""
    is_second = graph.add("Greater", graph.flat(z), graph.constant(np.array(0.0)))
    return graph.add("Cast", is_second, to=int(graph.onnx.TensorProto.INT64))


def two_shares(graph: Graph, z: str) -> str:
    """σ(−z) and σ(z) side by side, each with full relative precision."""
    return graph.add("Sigmoid", graph.concatenate_columns(graph.add("Neg", z), z))


def rest_shares(graph: Graph, shares: str, k: int) -> str:
    """Shares of each class against the rest, divided by their sum; 1/k where all are 0."""
    total = graph.add("ReduceSum", shares, graph.constant(np.array([1])), keepdims=1)
    nothing = graph.add("Equal", total, graph.constant(np.array(0.0)))
    divided = graph.add(
        "Div", shares, graph.add("Where", nothing, graph.constant(np.array(1.0)), total)
    )
    return graph.add("Where", nothing, graph.constant(np.array(1.0 / k)), divided)


def classes_of_scores(graph: Graph, z: str, n_scores: int, classes: Array) -> Outputs:
    """Labels by the largest score, or by the sign of a single one."""
    codes = positive(graph, z) if n_scores == 1 else largest(graph, z)
    return labels(graph, codes, classes)
