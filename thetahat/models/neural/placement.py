"""Where the rows and the weights of a network are: NumPy, or torch on some device."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device, is_torch_array

from thetahat.data.arrays import is_device_array, namespace, to_host
from thetahat.data.columns.schema import Schema
from thetahat.data.finite import require_finite_block
from thetahat.data.in_memory import InMemory
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Source
from thetahat.data.views import View
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array


def on_host(X: Any, y: Any, sample_weight: Any, who: str) -> tuple[Any, Any]:
    """Targets and weights as NumPy arrays, if X is a torch tensor; they must be where X is."""
    if not is_device_array(X):
        for role, values in (("y", y), ("sample_weight", sample_weight)):
            if is_device_array(values):
                raise DataError(
                    f"{who}: {role} is a {type(values).__name__} on {device(values)}, but X is "
                    f"not. Pass both as torch tensors on one device, or {role}.cpu().numpy()."
                )
        return y, sample_weight
    if not is_torch_array(X):
        raise CapabilityError(
            f"{who}: X is a {type(X).__name__}, but networks take arrays of NumPy and torch."
        )
    kind = str(X.dtype).rpartition(".")[2]
    if kind not in ("float32", "float64"):
        raise DataError(
            f"{who}: X has dtype {X.dtype}, but a torch tensor must be float32 or float64. Use "
            "X.float()."
        )
    for role, values in (("y", y), ("sample_weight", sample_weight)):
        if is_device_array(values) and device(values) != device(X):
            raise DataError(
                f"{who}: X is on {device(X)}, but {role} is on {device(values)}. Move them to one "
                f"device: {role}.to(X.device)."
            )
    require_finite_block(X, 0, Schema())
    return to_host(y), to_host(sample_weight)


def rows_on_device(source: Source) -> Array | None:
    """The rows of a source if they are on a device, else None."""
    while isinstance(source, View):
        source = source.source
    return source.X if isinstance(source, OnDevice) else None


def require_same_place(X: Any, weights: Array, who: str) -> None:
    """Rows to predict must be where the weights are, in their dtype if they are of torch."""
    fitted, given = is_device_array(weights), is_device_array(X)
    if fitted and not given:
        raise DataError(
            f"{who}: the model was fitted on torch tensors, but X is a {type(X).__name__}. Pass a "
            f"torch tensor of dtype {weights.dtype} on {device(weights)}."
        )
    if given and not fitted:
        raise DataError(
            f"{who}: the model was fitted on NumPy arrays, but X is a {type(X).__name__} on "
            f"{device(X)}. Pass X.cpu().numpy(), or fit the model on torch tensors."
        )
    if fitted and (device(X) != device(weights) or X.dtype != weights.dtype):
        raise DataError(
            f"{who}: the weights are {weights.dtype} on {device(weights)}, but X is {X.dtype} on "
            f"{device(X)}. Pass X.to(device={str(device(weights))!r}, dtype={weights.dtype})."
        )


def require_steps_on_device(model: Any) -> None:
    """Raise an error for settings that need NumPy arrays."""
    who = type(model).__name__
    for name, wanted in (("early_stopping", False), ("checkpoint", None)):
        if getattr(model, name) != wanted:
            raise CapabilityError(
                f"{who}: {name}={getattr(model, name)!r} needs NumPy arrays, but X is a torch "
                f"tensor. Use {name}={wanted}, or pass X.cpu().numpy()."
            )
    if model.solver == "lbfgs":
        raise CapabilityError(
            f"{who}: solver='lbfgs' runs on NumPy arrays only, but X is a torch tensor. Use "
            "solver='adam', or pass X.cpu().numpy()."
        )


def counted_rows(source: Source, who: str) -> Source:
    """Rows in memory in C order, without those of weight 0."""
    if not isinstance(source, InMemory):
        return source
    if source.weight is not None and not source.weight.all():
        there = np.flatnonzero(source.weight)
        if not there.size:
            raise DataError(
                f"{who}: all sample weights are zero, so no row counts. Give at least one a "
                "positive weight."
            )
        source = source.take(there)
    return source


def labels_like(labels: Array, z: Array) -> Array:
    """Predicted labels beside z: on its device if they are numbers."""
    if not is_device_array(z) or labels.dtype.kind not in "biuf":
        return labels
    return namespace(z).asarray(np.ascontiguousarray(labels), device=device(z))
