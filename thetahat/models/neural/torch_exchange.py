"""Networks of torch as networks and models of this library."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from sklearn.base import clone

from thetahat.data.columns.labels import LabelEncoding
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.activations import Identity
from thetahat.models.neural.mlp_classifier import MLPClassifier
from thetahat.models.neural.mlp_regressor import MLPRegressor
from thetahat.models.neural.network import Network
from thetahat.models.neural.network_model import Head
from thetahat.models.neural.torch_modules import layers_of
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.layer import Layer


@overload
def from_torch(module: Any, model: None = None, *, classes: Any = None) -> Network: ...
@overload
def from_torch(
    module: Any, model: MLPClassifier | MLPRegressor, *, classes: Any = None
) -> MLPClassifier | MLPRegressor: ...
def from_torch(
    module: Any, model: MLPClassifier | MLPRegressor | None = None, *, classes: Any = None
) -> Network | MLPClassifier | MLPRegressor:
    """Convert a ``torch.nn.Sequential`` into a network, or into a fitted model.

    Formula: the result computes the same f(x) as the module in evaluation mode. Linear, ReLU,
    LeakyReLU, Sigmoid, Tanh, Softmax, Identity, Dropout and BatchNorm1d are converted, also within
    inner sequences; other modules raise an error. Cost: O(number of weights).

    Parameters
    ----------
    module : torch.nn.Sequential
        The network of torch, on any device. Its last module must be Linear if `model` is given,
        because the link belongs to the loss of the model.
    model : MLPClassifier, MLPRegressor or None, default=None
        A model whose parameters, apart from the layers, the result has. The result is a fitted
        model, which can predict, be saved, and continue with `partial_fit`. None gives a `Network`.
    classes : array-like of shape (n_classes,), optional
        The labels of the outputs, in their order. Required if `model` is an `MLPClassifier`. Two
        classes need one output with the log loss, and two with ``loss="softmax_cross_entropy"``.

    Returns
    -------
    Network, MLPClassifier or MLPRegressor
        A network with float64 parameters, or a model with the dtype of the module.

    Examples
    --------
    >>> import thetahat as th
    >>> import torch  # doctest: +SKIP
    >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(),
    ...                              torch.nn.Linear(8, 1))  # doctest: +SKIP
    >>> network = th.neural.from_torch(module)  # doctest: +SKIP
    >>> model = th.neural.from_torch(module, th.MLPRegressor())  # doctest: +SKIP
    """
    n_inputs, layers, theta, dtype = layers_of(module)
    if model is None:
        return Network(n_inputs, layers, parameters=theta)
    if type(model) not in (MLPClassifier, MLPRegressor):
        raise ParameterError(
            f"from_torch: model is a {type(model).__name__}, but it must be an MLPClassifier or an "
            "MLPRegressor."
        )
    return _fitted(clone(model), n_inputs, layers, theta.astype(dtype), classes)


def _fitted(
    model: MLPClassifier | MLPRegressor,
    n_inputs: int,
    layers: list[Layer],
    theta: Array,
    classes: Any,
) -> MLPClassifier | MLPRegressor:
    last = layers[-1]
    if not isinstance(last, Dense) or not isinstance(last.function, Identity):
        raise DataError(
            "from_torch: the last module must be Linear, because the loss of the model contains "
            f"the link, but the last layer is {last!r}. Leave out what follows the last Linear."
        )
    model.hidden_layer_sizes = tuple(layers[:-1])
    head = _head(model, last.units, classes)
    predictor = model._predictor(head, n_inputs)
    model.n_features_in_ = n_inputs
    model._take_network(head, predictor)
    model.__dict__.update(model._attributes(theta, predictor, theta.dtype))
    model.n_iter_, model.t_, model.loss_curve_, model.loss_ = 0, 0, [], float("nan")
    model.best_loss_ = model.validation_scores_ = model.best_validation_score_ = None
    return model


def _head(model: MLPClassifier | MLPRegressor, n_outputs: int, classes: Any) -> Head:
    if isinstance(model, MLPRegressor):
        return model._head(n_outputs if n_outputs > 1 else 0)
    if classes is None:
        raise ParameterError(
            "from_torch: MLPClassifier needs the labels of the outputs. Pass classes=[...]."
        )
    model.classes_ = LabelEncoding.of(np.asarray(classes)).classes
    if not np.array_equal(model.classes_, np.asarray(classes)):
        raise ParameterError(
            f"from_torch: classes={np.asarray(classes).tolist()} must be sorted and distinct. "
            "Sort them, and the outputs of the module in the same way."
        )
    model._several_labels = False
    head = model._head()
    if max(1, head.n_outputs) != n_outputs:
        raise DataError(
            f"from_torch: the module has {n_outputs} {'output' if n_outputs == 1 else 'outputs'}, "
            f"but {len(model.classes_)} classes with loss={model.loss!r} need "
            f"{max(1, head.n_outputs)}. Pass other classes, or a model with "
            "loss='softmax_cross_entropy' for one output per class."
        )
    return head
