"""Steps of a pipeline that change the columns before the last step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.threads import scipy_linalg
from thetahat.models.cluster.centre_model import CentreModel
from thetahat.models.decomposition.factors.factor_analysis import FactorAnalysis
from thetahat.models.decomposition.principal.projection import Projection
from thetahat.models.decomposition.principal.random_projection import RandomProjection
from thetahat.models.generative.linear_discriminant_analysis import LinearDiscriminantAnalysis
from thetahat.persistence.onnx.distances import centre_distances
from thetahat.persistence.onnx.graph import Graph


def transformed(model: Any, graph: Graph) -> None:
    """Replace the rows of the graph by the rows that the fitted transformer returns."""
    build = OURS.get(getattr(type(model), "_transform_block", None)) or OF_SCIKIT_LEARN.get(
        type(model).__name__
    )
    if isinstance(model, LinearDiscriminantAnalysis):
        build = _discriminants
    if build is None:
        raise CapabilityError(
            f"The step {type(model).__name__} is not available as an ONNX graph. Use {STEPS}."
        )
    graph.rows = build(model, graph)


def is_transformer(model: Any) -> bool:
    """Whether a step without predictions can be the last one of a graph."""
    known = getattr(type(model), "_transform_block", None) in OURS
    return known or (type(model).__name__ in OF_SCIKIT_LEARN and hasattr(model, "transform"))


def _directions(model: Any, graph: Graph) -> str:
    """Projections (x − μ)V, divided by scales of the columns before and after."""
    weights = np.asarray(model.components_, dtype=float).T
    by, after, offset = model._column_scale(), model._output_scale(), model._offset()
    weights = weights if by is None else weights / np.asarray(by)[:, None]
    weights = weights if after is None else weights / after
    rows = graph.rows if offset is None else graph.add("Sub", graph.rows, graph.constant(offset))
    return graph.add("MatMul", rows, graph.constant(weights))


def _random_directions(model: Any, graph: Graph) -> str:
    weights = model.components_.T
    weights = weights.toarray() if is_sparse(weights) else np.asarray(weights)
    return graph.add("MatMul", graph.rows, graph.constant(np.asarray(weights, dtype=float)))


def _factors(model: Any, graph: Graph) -> str:
    """The posterior means of the factors."""
    scale, B, root = model._whitening()
    weights = scipy_linalg().cho_solve((root, True), B * scale, check_finite=False)
    rows = graph.add("Sub", graph.rows, graph.constant(np.asarray(model.mean_, dtype=float)))
    return graph.add("MatMul", rows, graph.constant(weights.T))


def _discriminants(model: Any, graph: Graph) -> str:
    rows = graph.rows
    if model.solver == "svd":
        rows = graph.add("Sub", rows, graph.constant(model._centre))
    directions = np.asarray(model.scalings_[:, : model._n_features_out], dtype=float)
    return graph.add("MatMul", rows, graph.constant(directions))


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


def _divided(model: Any, graph: Graph) -> str:
    """`RobustScaler` and `MaxAbsScaler`."""
    rows = graph.rows
    if getattr(model, "center_", None) is not None:
        rows = graph.add("Sub", rows, graph.constant(np.asarray(model.center_, dtype=float)))
    if getattr(model, "scale_", None) is not None:
        rows = graph.add("Div", rows, graph.constant(np.asarray(model.scale_, dtype=float)))
    return rows


OURS: dict[Any, Callable[[Any, Graph], str]] = {
    Projection._transform_block: _directions,
    RandomProjection._transform_block: _random_directions,
    FactorAnalysis._transform_block: _factors,
    CentreModel._transform_block: centre_distances,
}
"""Transformers by the method that transforms rows."""
OF_SCIKIT_LEARN: dict[str, Callable[[Any, Graph], str]] = {
    "PCA": _projected,
    "IncrementalPCA": _projected,
    "TruncatedSVD": lambda model, graph: graph.add(
        "MatMul", graph.rows, graph.constant(model.components_.T)
    ),
    "Standardizer": _scaled,
    "StandardScaler": _scaled,
    "MinMaxScaler": _ranged,
    "RobustScaler": _divided,
    "MaxAbsScaler": _divided,
    "SimpleImputer": _filled,
}
"""Transformers by the names of their classes."""
STEPS = (
    "Standardizer, PCA, IncrementalPCA, TruncatedSVD, FastICA, FactorAnalysis, "
    "LinearDiscriminantAnalysis, KMeans, GaussianRandomProjection, or scikit-learn's "
    "StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler or SimpleImputer"
)
