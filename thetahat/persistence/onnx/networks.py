"""Networks: matrix products and activations, layer by layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.activations.base import Activation
from thetahat.mathematics.activations.relu import LeakyReLU
from thetahat.mathematics.losses.links import Link
from thetahat.models.neural.mlp_classifier import MLPClassifier
from thetahat.models.neural.mlp_regressor import MLPRegressor
from thetahat.objective.network.batch_norm import BatchNorm
from thetahat.objective.network.chain import Chain
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.elementwise import Activation as ActivationLayer
from thetahat.objective.network.elementwise import Dropout
from thetahat.objective.network.residual import Residual
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import (
    Outputs,
    classes_of_scores,
    mean,
    numbers,
    rest_shares,
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
    theta, chain = np.asarray(model._theta()), model._fitted_predictor().chain
    weights, free = theta[: chain.n_weights], theta[chain.n_weights :]
    return _through(graph, graph.rows, chain, weights, free, type(model).__name__)


def _through(graph: Graph, t: str, chain: Chain, weights: Array, free: Array, who: str) -> str:
    """The outputs of the layers of a chain, from its weights and free parameters."""
    for layer, n, w, f in zip(chain.layers, chain.widths, chain.weights, chain.free, strict=False):
        match layer:
            case Dense():
                t = graph.affine(t, weights[w].reshape(n, -1), free[f])
                t = _activated(graph, layer.function, t, who)
            case ActivationLayer():
                assert isinstance(layer.activation, Activation)
                t = _activated(graph, layer.activation, t, who)
            case BatchNorm():
                scale, shift, mean, variance = free[f].reshape(4, -1).astype(np.float64)
                slope = scale / np.sqrt(variance + layer.epsilon)
                t = graph.add("Mul", t, graph.constant(slope))
                t = graph.add("Add", t, graph.constant(shift - mean * slope))
            case Residual():
                inner = _through(graph, t, Chain(layer.layers, n), weights[w], free[f], who)
                t = graph.add("Add", t, inner)
            case Dropout():
                pass
            case _:
                raise CapabilityError(
                    f"{who}: the layer {type(layer).__name__} is not available as an ONNX graph. "
                    "Use Dense, Activation, BatchNorm, Residual and Dropout."
                )
    return t


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
    if k == 1:
        shares = two_shares(graph, z)
    elif model.loss_function_.link is Link.LOGIT:
        shares = rest_shares(graph, graph.add("Sigmoid", z), k)
    else:
        shares = graph.add("Softmax", z, axis=1)
    return found | {"probabilities": (shares, graph.dtype, max(2, k))}
