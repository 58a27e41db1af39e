"""Classifiers by Bayes' rule: the class with the largest log p(x, c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.generative.linear_discriminant_analysis import LinearDiscriminantAnalysis
from thetahat.models.generative.naive_bayes.bernoulli_nb import BernoulliNB
from thetahat.models.generative.naive_bayes.categorical_nb import CategoricalNB
from thetahat.models.generative.naive_bayes.complement_nb import LARGEST_SCORE, ComplementNB
from thetahat.models.generative.naive_bayes.gaussian_nb import GaussianNB, log_scales
from thetahat.models.generative.naive_bayes.multinomial_nb import MultinomialNB
from thetahat.models.generative.quadratic_discriminant_analysis import (
    QuadraticDiscriminantAnalysis,
)
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import Outputs, labels, largest


def generative_classification(model: Any, graph: Graph) -> Outputs:
    """Labels and probabilities from log p(x, c) up to a constant of each row."""
    joint = JOINTS.get(type(model)._joint)
    if joint is None:
        names = ", ".join(sorted(method.__qualname__.split(".")[0] for method in JOINTS))
        raise CapabilityError(
            f"th.to_onnx: {type(model).__name__} is not available as an ONNX graph. Of the "
            f"classifiers by Bayes' rule, these are: {names}."
        )
    logs = joint(model, graph)
    shares = graph.add("Softmax", logs, axis=1)
    if getattr(model, "_impossible", None) is not None:
        top = graph.add("ReduceMax", logs, axes=[1], keepdims=1)
        no_class = graph.add("IsInf", top, detect_positive=0)
        before = graph.constant(np.asarray(model._class_shares(), dtype=float)[None, :])
        shares = graph.add("Where", no_class, before, shares)
    found = labels(graph, largest(graph, logs), model.classes_)
    return found | {"probabilities": (shares, graph.dtype, len(model.classes_))}


def _linear_discriminants(model: Any, graph: Graph) -> str:
    """Scores that are linear in the distance from the mean of all classes."""
    centred = graph.add("Sub", graph.rows, graph.constant(model._centre))
    return graph.affine(centred, model._weights, model._levels)


def _quadratic_discriminants(model: Any, graph: Graph) -> str:
    """log π − ½ log |2πΣ| − ½‖A(x − μ)‖² of every class."""
    return gaussian_logs(graph, model._class_means, model._roots, model._levels)


def gaussian_logs(graph: Graph, means: Array, roots: Any, levels: Array) -> str:
    """levels_c − ½‖(x − μ_c)A_c‖², (rows, classes); a 1-D A_c is diagonal."""
    columns = []
    for mean, root in zip(means, roots, strict=True):
        away = graph.add("Sub", graph.rows, graph.constant(mean))
        root = np.asarray(root, dtype=float)
        away = graph.add("Mul" if root.ndim < 2 else "MatMul", away, graph.constant(root))
        columns.append(graph.add("ReduceSumSquare", away, axes=[1], keepdims=1))
    squares = graph.concatenate_columns(*columns)
    half = graph.add("Mul", squares, graph.constant(np.array(-0.5)))
    return graph.add("Add", half, graph.constant(np.asarray(levels, dtype=float)))


def _gaussian_columns(model: Any, graph: Graph) -> str:
    """Independent Gaussian columns; missing values (NaN) are left out of the sum."""
    missing, columns = graph.add("IsNaN", graph.rows), []
    zero = graph.constant(np.array(0.0))
    with np.errstate(divide="ignore"):
        levels = np.log(model.class_prior_)
    for mean, factor, scale in zip(
        model.theta_, model._factor, log_scales(model.var_), strict=True
    ):
        away = graph.add("Sub", graph.rows, graph.constant(mean))
        squares = graph.add("Mul", graph.add("Mul", away, away), graph.constant(factor))
        terms = graph.add("Sub", graph.constant(scale), squares)
        terms = graph.add("Where", missing, zero, terms)
        columns.append(graph.add("ReduceSum", terms, graph.constant(np.array([1])), keepdims=1))
    return graph.add("Add", graph.concatenate_columns(*columns), graph.constant(levels))


def _counts(model: Any, graph: Graph) -> str:
    logs = graph.affine(graph.rows, model._table, model.class_log_prior_)
    return _without_impossible(graph, graph.rows, logs, model._impossible, None, -np.inf)


def _bits(model: Any, graph: Graph) -> str:
    rows = graph.rows
    if model.binarize is not None:
        above = graph.add("Greater", rows, graph.constant(np.array(float(model.binarize))))
        kind = int(graph.onnx.helper.np_dtype_to_tensor_dtype(graph.dtype))
        rows = graph.add("Cast", above, to=kind)
    logs = graph.affine(rows, model._table, model._constant)
    return _without_impossible(graph, rows, logs, model._impossible, model._needed, -np.inf)


def _complement(model: Any, graph: Graph) -> str:
    constant = model.class_log_prior_ if len(model.classes_) == 1 else np.array(0.0)
    logs = graph.affine(graph.rows, model._table, constant)
    return _without_impossible(graph, graph.rows, logs, model._impossible, None, LARGEST_SCORE)


def _without_impossible(
    graph: Graph, rows: str, logs: str, impossible: Any, needed: Any, value: float
) -> str:
    """The logs, with a value in place of classes that cannot have the row."""
    if impossible is None:
        return logs
    least = np.zeros(1) if needed is None else np.asarray(needed, dtype=float)
    hits = graph.affine(rows, impossible, least)
    hit = graph.add("Greater", hits, graph.constant(np.array(0.0)))
    return graph.add("Where", hit, graph.constant(np.array(value)), logs)


def _categories(model: Any, graph: Graph) -> str:
    """Σ_j log p_j(x_j | c) from a table; a value that is not a category is outside of the table."""
    tables = model._joint_tables
    sizes = graph.constant(np.asarray(model.n_categories_, dtype=float))
    known = graph.add("Equal", graph.add("Floor", graph.rows), graph.rows)
    not_negative = graph.add("GreaterOrEqual", graph.rows, graph.constant(np.array(0.0)))
    known = graph.add("And", known, not_negative)
    known = graph.add("And", known, graph.add("Less", graph.rows, sizes))
    whole = graph.add("Cast", graph.rows, to=int(graph.onnx.TensorProto.INT64))
    places = graph.add("Add", whole, graph.constant(np.asarray(tables.start, dtype=np.int64)))
    outside = graph.constant(np.array(len(tables.table), dtype=np.int64))
    places = graph.add("Where", known, places, outside)
    each = graph.add("Gather", graph.constant(tables.table), places, axis=0)
    return graph.add("ReduceSum", each, graph.constant(np.array([1])), keepdims=0)


JOINTS: dict[Any, Callable[[Any, Graph], str]] = {
    LinearDiscriminantAnalysis._joint: _linear_discriminants,
    QuadraticDiscriminantAnalysis._joint: _quadratic_discriminants,
    GaussianNB._joint: _gaussian_columns,
    MultinomialNB._joint: _counts,
    BernoulliNB._joint: _bits,
    ComplementNB._joint: _complement,
    CategoricalNB._joint: _categories,
}
"""log p(x, c) as a graph, by the method that computes it."""
