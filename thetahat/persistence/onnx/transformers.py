"""Steps of a pipeline that change the columns before the last step."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.persistence.onnx.graph import Graph


def transformed(model: Any, graph: Graph) -> None:
    """Replace the rows of the graph by the rows that the fitted transformer returns."""
    name = type(model).__name__
    if name in ("PCA", "IncrementalPCA"):
        graph.rows = _projected(model, graph)
    elif name == "TruncatedSVD":
        graph.rows = graph.add("MatMul", graph.rows, graph.constant(model.components_.T))
    elif name in ("Standardizer", "StandardScaler"):
        graph.rows = _scaled(model, graph)
    elif name == "MinMaxScaler":
        graph.rows = _ranged(model, graph)
    elif name == "SimpleImputer":
        graph.rows = _filled(model, graph)
    else:
        raise CapabilityError(
            f"The step {name} is not available as an ONNX graph. Use Standardizer, PCA, "
            "TruncatedSVD, or scikit-learn's StandardScaler, MinMaxScaler or SimpleImputer."
        )


def _projected(model: Any, graph: Graph) -> str:
    weights = np.asarray(model.components_, dtype=float).T
    if getattr(model, "scale_", None) is not None:
        weights = weights / np.asarray(model.scale_)[:, None]
    if model.whiten:
        weights = weights / np.sqrt(np.maximum(model.explained_variance_, np.finfo(float).tiny))
    mean = getattr(model, "mean_", None)
    rows = graph.rows if mean is None else graph.add("Sub", graph.rows, graph.constant(mean))
    return graph.add("MatMul", rows, graph.constant(weights))


def _scaled(model: Any, graph: Graph) -> str:
    rows = graph.rows
    if getattr(model, "mean_", None) is not None and getattr(model, "with_mean", True):
        rows = graph.add("Sub", rows, graph.constant(np.asarray(model.mean_, dtype=float)))
    if getattr(model, "scale_", None) is not None:
        rows = graph.add("Div", rows, graph.constant(np.asarray(model.scale_, dtype=float)))
    return rows


def _ranged(model: Any, graph: Graph) -> str:
    rows = graph.add("Mul", graph.rows, graph.constant(model.scale_))
    rows = graph.add("Add", rows, graph.constant(model.min_))
    if not model.clip:
        return rows
    low, high = (graph.constant(np.array(float(end))) for end in model.feature_range)
    return graph.add("Min", graph.add("Max", rows, low), high)


def _filled(model: Any, graph: Graph) -> str:
    given = model.missing_values
    plain = isinstance(given, float) and np.isnan(given) and not model.add_indicator
    kept = np.asarray(model.statistics_)
    if not plain or kept.dtype.kind != "f" or np.isnan(kept).any():
        raise CapabilityError(
            "SimpleImputer: only numbers in place of NaN, in every column and without indicators, "
            "are available as an ONNX graph."
        )
    missing = graph.add("IsNaN", graph.rows)
    return graph.add("Where", missing, graph.constant(kept), graph.rows)
