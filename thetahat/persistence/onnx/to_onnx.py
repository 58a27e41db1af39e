"""Export of fitted models to ONNX."""

from __future__ import annotations

from collections.abc import Callable
from inspect import unwrap
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.any_loss import AnyLoss
from thetahat.estimator.generative_classifier import BayesRule
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.foundation.atomic_file import atomic_file, require_place
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.models.cluster.centre_model import CentreModel
from thetahat.models.ensemble.forest.classifier import ForestClassifier
from thetahat.models.ensemble.forest.regressor import ForestRegressor
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.regressor import BaseBoostingRegressor
from thetahat.models.kernel.kernel_ridge import KernelRegressor
from thetahat.models.kernel.machine import KernelMachine
from thetahat.models.kernel.support.classifier import SupportVectorClassifier
from thetahat.models.kernel.support.regressor import SupportVectorRegressor
from thetahat.models.linear.bayesian.bayesian_ridge import BayesianRidge
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor
from thetahat.models.linear.least_squares.ridge_classifier import RidgeClassifier
from thetahat.models.linear.stochastic.sgd_regressor import SGDRegressor
from thetahat.models.mixture.mixture_density import MixtureDensity
from thetahat.models.neighbors.k_neighbors_classifier import KNeighborsClassifier
from thetahat.models.neighbors.k_neighbors_regressor import KNeighborsRegressor
from thetahat.models.neural.mlp_classifier import MLPClassifier
from thetahat.models.neural.mlp_regressor import MLPRegressor
from thetahat.models.tree.classification import ClassificationTree
from thetahat.models.tree.regression import RegressionTree
from thetahat.persistence.onnx.distances import (
    centres,
    mixture,
    neighbor_classification,
    neighbor_regression,
)
from thetahat.persistence.onnx.generative import generative_classification
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import Outputs
from thetahat.persistence.onnx.kernels import (
    kernel_any_loss,
    kernel_regression,
    support_classification,
    support_regression,
)
from thetahat.persistence.onnx.linear import classification, linear_any_loss, regression
from thetahat.persistence.onnx.networks import network_classification, network_regression
from thetahat.persistence.onnx.transformers import STEPS, is_transformer, transformed
from thetahat.persistence.onnx.trees import boosting, forest, single_tree


def _any_loss(model: Any, graph: Graph) -> Outputs:
    return (kernel_any_loss if isinstance(model, KernelMachine) else linear_any_loss)(model, graph)


ROADS: dict[Any, Callable[[Any, Graph], Outputs]] = {
    LinearRegressor.predict: regression,
    BayesianRidge.predict: regression,
    DevianceRegressor.predict: regression,
    SGDRegressor.predict: regression,
    LinearClassifier.predict: classification,
    RidgeClassifier.predict: classification,
    AnyLoss.predict: _any_loss,
    ClassificationTree.predict: single_tree,
    RegressionTree.predict: single_tree,
    ForestClassifier.predict: forest,
    ForestRegressor.predict: forest,
    BaseBoostingClassifier.predict: boosting,
    BaseBoostingRegressor.predict: boosting,
    KernelRegressor.predict: kernel_regression,
    MLPClassifier.predict: network_classification,
    MLPRegressor.predict: network_regression,
    SupportVectorClassifier.predict: support_classification,
    SupportVectorRegressor.predict: support_regression,
    BayesRule.predict: generative_classification,
    KNeighborsClassifier.predict: neighbor_classification,
    KNeighborsRegressor.predict: neighbor_regression,
    CentreModel.predict: centres,
    MixtureDensity.predict: mixture,
}
ROADS = {unwrap(predict): road for predict, road in ROADS.items()}
"""How predictions become a graph, by the code that makes them: a class that predicts in another way
has another method, and is refused instead of exported wrongly."""


def to_onnx(model: Any, path: Any = None, *, dtype: Any = np.float64) -> Any:
    """Export a fitted model as an ONNX graph, which other runtimes evaluate without Python.

    Linear models, decision trees, forests, gradient boosting, kernel ridge regression, support
    vector machines, `KernelModel`, multilayer perceptrons, discriminant analysis, naive Bayes,
    nearest neighbours, `KMeans`, `GaussianMixture` and `BayesianGaussianMixture` can be exported,
    and pipelines that end with one of them or with a scaler or a projection such as `PCA`. The
    graph has one input ``X`` of shape (rows, d). Its outputs are ``predictions`` for regression;
    ``labels`` and ``probabilities`` for classification, or ``scores`` (the decision function) where
    the model has no probabilities or they need cross-validated scores (`SVC`); ``labels`` with
    ``distances`` from the centres or ``probabilities`` for clusters; and ``features`` for
    transformers. Trees, boosting and `GaussianNB` take missing values (NaN). Columns of categories
    must hold numbers.

    Formula: the graph computes what `predict` computes, in the precision `dtype`; in double
    precision the results differ by rounding errors only.

    Cost: O(size of the model) in time and memory.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted model, or a scikit-learn `Pipeline` of scalers, projections and a model.
    path : str or Path, optional
        File to write, usually with the suffix ".onnx". Its folder must exist. None writes no file.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the input and of all numbers in the graph. Single precision is faster on some
        devices. The thresholds of trees are rounded so that rows in single precision take the same
        branches.

    Returns
    -------
    graph : onnx.ModelProto
        The graph. ``graph.SerializeToString()`` gives its bytes for ``onnxruntime``.

    Raises
    ------
    CapabilityError
        If the model, or one of its parts, is not available as an ONNX graph.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> graph = th.to_onnx(model)  # doctest: +SKIP
    >>> [output.name for output in graph.graph.output]  # doctest: +SKIP
    ['predictions']
    """
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ParameterError(
            f"th.to_onnx: dtype={dtype!r} must be numpy.float64 or numpy.float32, the types of the "
            "numbers in the graph."
        )
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    steps = [step for step in steps if step is not None and not _passes_through(step)]
    if not steps:
        raise CapabilityError(
            "th.to_onnx: all steps of the Pipeline are 'passthrough', so that there is no graph to "
            "make. Add a model or a scaler."
        )
    last = steps[-1]
    predict = getattr(type(last), "predict", None)
    road = ROADS.get(unwrap(predict)) if predict else None
    if road is None and is_transformer(last):
        road = _features
    if road is None:
        raise CapabilityError(
            f"th.to_onnx: {_name(last)} is not available as an ONNX graph. Linear models, trees, "
            "forests, gradient boosting, KernelRidge, KernelModel, support vector machines, "
            "multilayer perceptrons, discriminant analysis, naive Bayes, KNeighborsClassifier, "
            "KNeighborsRegressor, KMeans, GaussianMixture and BayesianGaussianMixture are, and "
            f"pipelines that end with one of them. Transformers are: {STEPS}."
        )
    if path is not None:
        require_place(path)
    check_is_fitted(model)
    # The first step may be "passthrough", so the columns are those of the first one at work.
    graph = Graph(int(steps[0].n_features_in_), kind)
    for step in steps[:-1]:
        transformed(step, graph)
    built = graph.finished(road(last, graph))
    if path is not None:
        with atomic_file(path) as file:
            file.write(built.SerializeToString())
    return built


def _features(model: Any, graph: Graph) -> Outputs:
    """The rows that a transformer returns."""
    transformed(model, graph)
    return {"features": (graph.rows, graph.dtype, len(model.get_feature_names_out()))}


def _passes_through(step: Any) -> bool:
    return isinstance(step, str) and step == "passthrough"


def _name(model: Any) -> str:
    return model.__name__ if isinstance(model, type) else type(model).__name__
