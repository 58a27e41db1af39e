"""Layers and their parameters as modules of torch, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array
from thetahat.mathematics.activations import Identity, LeakyReLU, ReLU, Sigmoid, Softmax, Tanh
from thetahat.mathematics.activations.base import Activation as Function
from thetahat.objective.network.batch_norm import BatchNorm
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.elementwise import Activation, Dropout
from thetahat.objective.network.layer import Layer
from thetahat.objective.network.predictor import NetworkPredictor

KNOWN = "Linear, ReLU, LeakyReLU, Sigmoid, Tanh, Softmax, Identity, Dropout and BatchNorm1d"


def import_torch(purpose: str) -> Any:
    """The torch library, or an error that says how to install it."""
    return optional_import("torch", extra="torch", purpose=purpose)


def as_torch(predictor: NetworkPredictor, theta: Array, who: str) -> Any:
    """A ``torch.nn.Sequential`` with these layers and parameters, in evaluation mode."""
    torch = import_torch(f"{who}.to_torch")
    modules: list[Any] = []
    for n, (layer, weights, free) in zip(
        predictor.chain.widths, predictor.parts(theta), strict=False
    ):
        match layer:
            case Dense():
                linear = torch.nn.Linear(n, layer.units)
                linear.weight = _parameter(torch, weights.reshape(n, -1).T)
                linear.bias = _parameter(torch, free)
                modules += [linear, *_functions(torch, layer.function, who)]
            case Activation():
                assert isinstance(layer.activation, Function)
                modules += _functions(torch, layer.activation, who)
            case Dropout():
                modules.append(torch.nn.Dropout(layer.rate))
            case BatchNorm():
                norm = torch.nn.BatchNorm1d(n, eps=layer.epsilon, momentum=1 - layer.momentum)
                scale, shift, mean, variance = free.reshape(4, -1)
                norm.weight, norm.bias = _parameter(torch, scale), _parameter(torch, shift)
                norm.running_mean = torch.from_numpy(mean.copy())
                norm.running_var = torch.from_numpy(variance.copy())
                modules.append(norm)
            case _:
                raise CapabilityError(
                    f"{who}.to_torch: torch has no module for {layer!r}. Networks of Dense, "
                    "Activation, Dropout and BatchNorm can be converted."
                )
    return torch.nn.Sequential(*modules).eval()


def _parameter(torch: Any, values: Array) -> Any:
    return torch.nn.Parameter(torch.from_numpy(np.array(values, order="C")))


def _functions(torch: Any, function: Function, who: str) -> list[Any]:
    """The module of an activation, or none for the identity."""
    match function:
        case Identity():
            return []
        case ReLU():
            return [torch.nn.ReLU()]
        case LeakyReLU():
            return [torch.nn.LeakyReLU(function.leak)]
        case Sigmoid():
            return [torch.nn.Sigmoid()]
        case Tanh():
            return [torch.nn.Tanh()]
        case Softmax():
            return [torch.nn.Softmax(dim=-1)]
    raise CapabilityError(
        f"{who}.to_torch: torch has no module for the activation {function!r}. Use a network with "
        "another activation."
    )


def layers_of(module: Any) -> tuple[int, list[Layer], Array, Any]:
    """The number of inputs, layers, parameters and dtype of a ``torch.nn.Sequential``.

    A linear map and the activation after it become one dense layer.
    """
    torch = import_torch("from_torch")
    if not isinstance(module, torch.nn.Sequential):
        raise DataError(
            f"from_torch: the module is a {type(module).__name__}, but it must be a "
            "torch.nn.Sequential, whose modules are applied in their order."
        )
    layers: list[Layer] = []
    weights, free = list[Array](), list[Array]()
    n_inputs: int | None = None
    for part in _flat(module, torch):
        width: int | None = getattr(part, "in_features", getattr(part, "num_features", None))
        n_inputs = width if n_inputs is None else n_inputs
        if isinstance(part, torch.nn.Linear):
            layers.append(Dense(part.out_features, "identity"))
            weights.append(_values(part.weight).T.reshape(-1))
            no_bias = np.zeros(part.out_features, weights[-1].dtype)
            free.append(no_bias if part.bias is None else _values(part.bias))
        elif isinstance(part, torch.nn.Dropout):
            layers.append(Dropout(float(part.p)))
        elif isinstance(part, torch.nn.BatchNorm1d):
            layers.append(_norm(part))
            free += _norm_values(part)
        else:
            function = _function(part, torch)
            before = layers[-1] if layers else None
            if isinstance(before, Dense) and isinstance(before.function, Identity):
                layers[-1] = Dense(before.units, function)
            elif not isinstance(function, Identity):
                layers.append(Activation(function))
    if n_inputs is None:
        raise DataError(
            "from_torch: the module has no Linear or BatchNorm1d, so the number of its inputs is "
            "not known. Pass a network with such a module."
        )
    theta = np.concatenate([*weights, *free])
    if not np.isfinite(theta).all():
        raise DataError("from_torch: the weights contain NaN or infinity. Train the module again.")
    return n_inputs, layers, theta, theta.dtype


def _flat(module: Any, torch: Any) -> list[Any]:
    """The modules in their order, those of inner sequences included."""
    found, waiting = [], [module]
    while waiting:
        part = waiting.pop()
        if isinstance(part, torch.nn.Sequential):
            waiting += reversed(list(part))
        else:
            found.append(part)
    return found


def _values(tensor: Any) -> Array:
    values = tensor.detach().cpu()
    if str(values.dtype) not in ("torch.float32", "torch.float64"):
        raise DataError(
            f"from_torch: a parameter has dtype {values.dtype}, but float32 or float64 is needed. "
            "Convert the module first: module.float()."
        )
    return np.array(values.numpy())


def _norm(part: Any) -> BatchNorm:
    if part.momentum is None or part.running_mean is None:
        raise CapabilityError(
            "from_torch: a BatchNorm1d without momentum or without running means has no "
            "equivalent in th.neural. Use momentum=0.1 and track_running_stats=True."
        )
    return BatchNorm(1 - float(part.momentum), float(part.eps))


def _norm_values(part: Any) -> Sequence[Array]:
    mean, variance = _values(part.running_mean), _values(part.running_var)
    scale = np.ones_like(mean) if part.weight is None else _values(part.weight)
    shift = np.zeros_like(mean) if part.bias is None else _values(part.bias)
    return scale, shift, mean, variance


def _function(part: Any, torch: Any) -> Function:
    nn = torch.nn
    plain: dict[Any, type[Function]] = {
        nn.Identity: Identity,
        nn.ReLU: ReLU,
        nn.Sigmoid: Sigmoid,
        nn.Tanh: Tanh,
    }
    if type(part) in plain:
        return plain[type(part)]()
    if type(part) is nn.LeakyReLU:
        return LeakyReLU(float(part.negative_slope))
    if type(part) is nn.Softmax and part.dim in (1, -1):
        return Softmax()
    raise CapabilityError(
        f"from_torch: {part!r} has no equivalent in th.neural. A Sequential of {KNOWN} can be "
        "converted."
    )
