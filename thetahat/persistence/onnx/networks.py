"""Networks: matrix products and activations, layer by layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.mathematics.activations.base import Activation
from thetahat.mathematics.activations.relu import LeakyReLU
from thetahat.models.neural.mlp_classifier import MLPClassifier
from thetahat.models.neural.mlp_regressor import MLPRegressor
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.elementwise import Dropout
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import (
    Outputs,
    classes_of_scores,
    mean,
    numbers,
    two_shares,
)
from thetahat.persistence.onnx.linear import scores

OPERATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}


def _activated(graph: Graph, function: Activation, t: str, who: str) -> str:
    if function.name == "identity":
        return t
    if function.name == "softmax":
        return graph.add("Softmax", t, axis=1)
    if isinstance(function, LeakyReLU):
        return graph.add("Max", t, graph.add("Mul", t, graph.constant(np.array(function.leak))))
    if function.name in OPERATIONS:
        return graph.add(OPERATIONS[function.name], t)
    raise CapabilityError(
        f"{who}: the activation {function!r} is not available as an ONNX graph. Use 'relu', "
        "'leaky_relu', 'tanh', 'logistic' or 'identity'."
    )


def _outputs(model: Any, graph: Graph) -> str:
    """z of every row, (rows, outputs)."""
    who, z = type(model).__name__, graph.rows
    weights = iter(zip(model.coefs_, model.intercepts_, strict=False))
    for layer in model.layers_:
        if isinstance(layer, Dropout):
            continue
        if not isinstance(layer, Dense):
            raise CapabilityError(
                f"{who}: the layer {type(layer).__name__} is not available as an ONNX graph. Use "
                "Dense, Activation and Dropout."
            )
        z = _activated(graph, layer.function, graph.affine(z, *next(weights)), who)
    return z


def network_regression(model: MLPRegressor, graph: Graph) -> Outputs:
    """`MLPRegressor`: the mean of the loss of the outputs."""
    several = model._several_outputs()
    each = model.loss_function_.one_output()
    z = mean(graph, _outputs(model, graph), each, type(model).__name__)
    return numbers(graph, z if several else graph.flat(z), model.n_outputs_ if several else None)


def network_classification(model: MLPClassifier, graph: Graph) -> Outputs:
    """`MLPClassifier`: labels, with probabilities where the loss has such a link."""
    who = type(model).__name__
    if model._several_labels:
        raise CapabilityError(
            f"{who}: several labels per row are not available as an ONNX graph. Fit one model per "
            "column of labels."
        )
    z, k = _outputs(model, graph), model.n_outputs_
    found = classes_of_scores(graph, z, k, model.classes_)
    if not hasattr(model, "predict_proba"):
        return found | scores(graph, z, k)
    shares = two_shares(graph, z) if k == 1 else graph.add("Softmax", z, axis=1)
    return found | {"probabilities": (shares, graph.dtype, max(2, k))}
