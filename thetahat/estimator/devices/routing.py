"""Which methods of an estimator run on a device, and where a fitted model is.

A method that runs on devices has a second form, a function of the model and of arrays of torch or
CuPy. `on_devices` names these functions beside the class. Every other method of a model on a device
raises an error that names the way to the CPU: nothing is copied there silently.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

import numpy as np
from array_api_compat import device
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import is_device_array, require_plain_tensor
from thetahat.estimator.base import whole_or_not_at_all
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.memory import shortage_named

Class = TypeVar("Class", bound=type)

_EVERYWHERE = {
    "get_params",
    "get_metadata_routing",
    "get_feature_names_out",
    "fit_transform",
    "fit_predict",
    "partial_fit",
    "sparsify",
    "densify",
}
"""Methods that read no fitted array, or call others that are routed."""


def array_of(model: Any) -> Array | None:
    """A fitted array of torch or CuPy; None if the model is on the CPU, as NumPy arrays."""
    fitted = vars(model)
    for name in model._device_arrays:
        value = fitted.get(name)
        if type(value) is not np.ndarray and value is not None and is_device_array(value):
            return value
    return None


def on_devices(*arrays: str, **methods: Callable[..., Any]) -> Callable[[Class], Class]:
    """Let the named methods take arrays of torch and CuPy, by these functions of the model.

    ``arrays`` are the fitted attributes that are on the device.
    """

    def decorate(cls: Class) -> Class:
        owner: Any = cls
        owner._device_methods, owner._device_arrays = frozenset(methods), arrays
        for name, function in methods.items():
            routed = _routed_fit if name == "fit" else _routed
            setattr(cls, name, routed(name, getattr(cls, name), function))
        for name in dir(cls):
            own = getattr(cls, name, None)
            private = name.startswith(("_", "set_")) or name in methods or name in _EVERYWHERE
            if not private and callable(own) and not isinstance(own, type):
                setattr(cls, name, _on_cpu_only(name, own))
        return cls

    return decorate


def _routed_fit(name: str, on_cpu: Any, on_device: Callable[..., Any]) -> Any:
    fit_on_device = whole_or_not_at_all(wraps(on_cpu)(on_device))

    @wraps(on_cpu)
    def fit(self: Any, X: Any, *data: Any, **params: Any) -> Any:
        if type(X) is not np.ndarray and is_device_array(X):
            with shortage_named(type(self).__name__, device(X)):
                return fit_on_device(self, X, *data, **params)
        left = {key: value for key, value in vars(self).items() if is_device_array(value)}
        found = on_cpu(self, X, *data, **params)
        for key, value in left.items():
            if vars(self).get(key) is value:
                del self.__dict__[key]
        return found

    return fit


def _routed(name: str, on_cpu: Any, on_device: Callable[..., Any]) -> Any:
    @wraps(on_cpu)
    def method(self: Any, X: Any = None, *data: Any, **params: Any) -> Any:
        fitted = array_of(self)
        if fitted is None:
            if type(X) is not np.ndarray and is_device_array(X) and "cpu" not in str(device(X)):
                check_is_fitted(self)
                require_plain_tensor(X, "X", type(self).__name__)
                raise DataError(
                    f"{type(self).__name__}: the model is on the CPU, but X is on {device(X)}. "
                    f"Pass X.cpu().numpy(), or move the model: th.to_device(model, "
                    f"{str(device(X))!r})."
                )
            return on_cpu(self, X, *data, **params)
        if X is not None and not is_device_array(X):
            raise DataError(
                f"{type(self).__name__}: the model holds tensors on {device(fitted)}, but X is a "
                f"{type(X).__name__}. Pass a tensor on that device, or make the model one of NumPy "
                "arrays: th.to_device(model, 'cpu')."
            )
        with shortage_named(f"{type(self).__name__}.{name}", device(fitted)):
            return on_device(self, X, *data, **params)

    if signature(on_cpu).parameters["X"].default is Parameter.empty:
        # Without X, Python's own error names the argument that is missing.
        method.__defaults__ = None  # type: ignore[attr-defined]
    return method


def _on_cpu_only(name: str, on_cpu: Any) -> Any:
    @wraps(on_cpu)
    def method(self: Any, *data: Any, **params: Any) -> Any:
        fitted = array_of(self)
        if fitted is not None:
            raise CapabilityError(
                f"{type(self).__name__}.{name} runs on NumPy arrays only, but the model holds "
                f"tensors on {device(fitted)}. Move it first: th.to_device(model, 'cpu')."
            )
        return on_cpu(self, *data, **params)

    return method
