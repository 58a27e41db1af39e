"""Linear models z = xᵀβ + b as matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.validation import is_sparse
from thetahat.estimator.any_loss import AnyLoss
from thetahat.foundation.errors import CapabilityError
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.links import Link
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor
from thetahat.models.linear.generalized.logistic_classifier import LogisticClassifier
from thetahat.models.linear.stochastic.sgd_classifier import SGDClassifier
from thetahat.persistence.onnx.graph import Graph
from thetahat.persistence.onnx.heads import (
    Outputs,
    classes_of_scores,
    labels,
    largest,
    mean,
    numbers,
    positive,
    rest_shares,
    two_shares,
)


def raw(model: Any, graph: Graph) -> tuple[str, int | None]:
    """z of every row, (rows, k), and k, or None if the model has a single target."""
    coef = model.coef_.toarray() if is_sparse(model.coef_) else np.asarray(model.coef_)
    width = None if coef.ndim == 1 else coef.shape[0]
    return graph.affine(graph.rows, np.atleast_2d(coef).T, np.atleast_1d(model.intercept_)), width


def regression(model: Any, graph: Graph) -> Outputs:
    """ŷ = z, or its mean under the link of the loss."""
    z, width = raw(model, graph)
    loss = getattr(model, "loss_", None)
    if isinstance(model, DevianceRegressor):
        loss = model._loss()
    if isinstance(loss, Loss) and loss.link is not Link.IDENTITY:
        z = mean(graph, z, loss, type(model).__name__)
    return numbers(graph, graph.flat(z) if width is None else z, width)


def classification(model: Any, graph: Graph) -> Outputs:
    """The label of the largest score; probabilities of models that have them."""
    who = type(model).__name__
    if getattr(model, "_several", False):
        raise CapabilityError(
            f"{who}: a model with several labels per row is not available as an ONNX graph. Fit "
            "one model per column of labels."
        )
    z, k = raw(model, graph)
    assert k is not None
    found = classes_of_scores(graph, z, k, model.classes_)
    if isinstance(model, LogisticClassifier):
        shares = two_shares(graph, z) if k == 1 else graph.add("Softmax", z, axis=1)
        return found | {"probabilities": (shares, graph.dtype, max(2, k))}
    loss = getattr(model, "loss_", None)
    if isinstance(model, SGDClassifier) and isinstance(loss, Loss):
        if loss.link is Link.SOFTMAX:
            shares = graph.add("Softmax", z, axis=1)
            return found | {"probabilities": (shares, graph.dtype, k)}
        if loss.linear_probability:
            ends = graph.constant(np.array(-1.0)), graph.constant(np.array(1.0))
            half = graph.constant(np.array(0.5))
            near = graph.add("Clip", z, *ends)
            share = graph.add("Add", graph.add("Mul", near, half), half)
            if k == 1:
                other = graph.add("Sub", graph.constant(np.array(1.0)), share)
                both = graph.concatenate_columns(other, share)
                return found | {"probabilities": (both, graph.dtype, 2)}
            return found | {"probabilities": (rest_shares(graph, share, k), graph.dtype, k)}
        if loss.link is Link.LOGIT:
            shares = (
                two_shares(graph, z) if k == 1 else rest_shares(graph, graph.add("Sigmoid", z), k)
            )
            return found | {"probabilities": (shares, graph.dtype, max(2, k))}
    return found | scores(graph, z, k)


def scores(graph: Graph, z: str, k: int) -> Outputs:
    """The decision function: a vector for two classes, else one column per class."""
    if k == 2:  # losses of class scores have one for each
        z, k = graph.affine(z, np.array([[-1.0], [1.0]]), np.zeros(1)), 1
    return {"scores": (graph.flat(z), graph.dtype, None) if k == 1 else (z, graph.dtype, k)}


def any_loss(model: AnyLoss, graph: Graph, z: str, width: int | None) -> Outputs:
    """What a model with a loss of choice answers, from its raw predictions (rows, k)."""
    who, loss = type(model).__name__, model.loss_
    if not hasattr(model, "classes_"):
        z = mean(graph, z, loss, who)
        return numbers(graph, graph.flat(z) if width is None else z, width)
    if width is not None:
        found = labels(graph, largest(graph, z), model.classes_)
    else:
        found = labels(graph, positive(graph, z), model.classes_)
    if loss.link is Link.SOFTMAX:
        shares = mean(graph, z, loss, who)
        return found | {"probabilities": (shares, graph.dtype, width)}
    if loss.link is Link.LOGIT and type(loss).mean is Loss.mean:
        return found | {"probabilities": (two_shares(graph, z), graph.dtype, 2)}
    return found | scores(graph, z, width or 1)


def linear_any_loss(model: AnyLoss, graph: Graph) -> Outputs:
    """`LinearModel`: any loss on xᵀβ + b."""
    return any_loss(model, graph, *raw(model, graph))
