"""Kernel machines f(x) = Σⱼ αⱼ k(x, zⱼ) + b."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Constant, Kernel, Product, Scaled, Sum
from thetahat.mathematics.kernels.noise import White
from thetahat.mathematics.kernels.polynomial import Linear, LinearAround, Polynomial, Sigmoid
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import Outputs, labels, largest, numbers, positive
from thetahat.persistence.onnx.linear import any_loss, scores


def kernel_block(graph: Graph, kernel: Kernel, centres: Array, who: str) -> str:
    """k(x, zⱼ) of every row and centre, (rows, m)."""
    match kernel:
        case Linear():
            return graph.add("MatMul", graph.rows, graph.constant(centres.T))
        case LinearAround():
            origin = np.asarray(kernel.origin)
            moved = graph.add("Sub", graph.rows, graph.constant(origin))
            return graph.add("MatMul", moved, graph.constant((centres - origin).T))
        case Polynomial():
            inner = graph.affine(graph.rows, kernel.gamma * centres.T, np.array(kernel.coef0))
            return graph.add("Pow", inner, graph.constant(np.array(float(kernel.degree))))
        case Sigmoid():
            inner = graph.affine(graph.rows, kernel.gamma * centres.T, np.array(kernel.coef0))
            return graph.add("Tanh", inner)
        case RBF():
            return _gaussian(graph, kernel, centres)
        case Constant():
            return _filled(graph, kernel.value, len(centres))
        case White():
            return _filled(graph, 0.0, len(centres))
        case Scaled():
            block = kernel_block(graph, kernel.kernel, centres, who)
            return graph.add("Mul", block, graph.constant(np.array(float(kernel.factor))))
        case Sum() | Product():
            parts = (kernel_block(graph, k, centres, who) for k in (kernel.first, kernel.second))
            return graph.add("Add" if isinstance(kernel, Sum) else "Mul", *parts)
        case _:
            raise CapabilityError(
                f"{who}: the kernel {kernel!r:.80} is not available as an ONNX graph. Use linear, "
                "polynomial, sigmoid or RBF kernels, their sums or products."
            )


def _gaussian(graph: Graph, kernel: RBF, centres: Array) -> str:
    """exp(−γ‖x − z‖²) by inner products of rows about the mean of the centres."""
    lengths = kernel.length_scale if isinstance(kernel.length_scale, tuple) else 1.0
    scale = np.sqrt(kernel.exponent) / np.asarray(lengths, dtype=float)
    middle = centres.mean(axis=0)
    moved = (centres - middle) * scale
    x = graph.add("Sub", graph.rows, graph.constant(middle))
    x = graph.add("Mul", x, graph.constant(np.broadcast_to(scale, middle.shape).copy()))
    own = graph.add("ReduceSumSquare", x, axes=[1], keepdims=1)
    squares = graph.affine(x, -2.0 * moved.T, (moved**2).sum(axis=1))
    squares = graph.add("Max", graph.add("Add", squares, own), graph.constant(np.array(0.0)))
    return graph.add("Exp", graph.add("Neg", squares))


def _filled(graph: Graph, value: float, m: int) -> str:
    own = graph.add("ReduceSum", graph.rows, graph.constant(np.array([1])), keepdims=1)
    return graph.affine(own, np.zeros((1, m)), np.array(float(value)))


def _expansion(
    graph: Graph, kernel: Kernel, centres: Any, weights: Any, offset: Any, who: str
) -> str:
    if not isinstance(centres, np.ndarray) or centres.ndim != 2:
        raise CapabilityError(
            f"{who}: sparse or precomputed rows are not available as an ONNX graph. Fit on a dense "
            "X."
        )
    weights = np.asarray(weights, dtype=float)
    if not len(centres):
        centres, weights = np.zeros((1, centres.shape[1])), np.zeros((1, *weights.shape[1:]))
    matrix = weights[:, None] if weights.ndim == 1 else weights
    block = kernel_block(graph, kernel, np.asarray(centres, dtype=float), who)
    return graph.affine(block, matrix, np.atleast_1d(np.asarray(offset, dtype=float)))


def kernel_regression(model: Any, graph: Graph) -> Outputs:
    """`KernelRidge` and `KernelRidgeCV`."""
    who = type(model).__name__
    z = _expansion(graph, model.kernel_, model.X_fit_, model.dual_coef_, 0.0, who)
    if np.ndim(model.dual_coef_) == 1:
        return numbers(graph, graph.flat(z), None)
    return numbers(graph, z, np.shape(model.dual_coef_)[1])


def kernel_any_loss(model: Any, graph: Graph) -> Outputs:
    """`KernelModel`: any loss on a kernel expansion."""
    who = type(model).__name__
    z = _expansion(graph, model.kernel_, model.X_fit_, model.dual_coef_, model.intercept_, who)
    width = None if np.ndim(model.dual_coef_) == 1 else np.shape(model.dual_coef_)[1]
    return any_loss(model, graph, z, width)


def _support(model: Any, graph: Graph, weights: Any) -> str:
    # Rows far from 0 are centred: (c − m)ᵀ(x − m) + b is (c − m)ᵀx + intercept_.
    offsets = model._offsets if model._middle is None else model.intercept_
    return _expansion(graph, model.kernel_, model._centres, weights, offsets, type(model).__name__)


def support_regression(model: Any, graph: Graph) -> Outputs:
    """`SVR` and `NuSVR`."""
    return numbers(graph, graph.flat(_support(model, graph, model._weights)), None)


def support_classification(model: Any, graph: Graph) -> Outputs:
    """`SVC` and `NuSVC`: a vote of all pairs of classes."""
    z, classes = _support(model, graph, model._pair_weights()), model.classes_
    k = len(classes)
    if k == 2:
        return labels(graph, positive(graph, z), classes) | scores(graph, z, 1)
    pairs = list(combinations(range(k), 2))
    first, second = np.zeros((len(pairs), k)), np.zeros((len(pairs), k))
    for pair, (i, j) in enumerate(pairs):
        first[pair, i] = second[pair, j] = 1.0
    wins = graph.add("Greater", z, graph.constant(np.array(0.0)))
    wins = graph.add("Cast", wins, to=int(graph.onnx.helper.np_dtype_to_tensor_dtype(graph.dtype)))
    votes = graph.affine(wins, first - second, second.sum(axis=0))
    sums = graph.add("MatMul", z, graph.constant(first - second))
    size = graph.add("Add", graph.add("Abs", sums), graph.constant(np.array(1.0)))
    size = graph.add("Mul", size, graph.constant(np.array(3.0)))
    finer = graph.add("Add", votes, graph.add("Div", sums, size))
    winner = largest(graph, finer if model.break_ties else votes)
    found = labels(graph, winner, classes)
    if model.decision_function_shape == "ovo":
        return found | {"scores": (z, graph.dtype, len(pairs))}
    return found | {"scores": (finer, graph.dtype, k)}
