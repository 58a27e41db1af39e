"""Arrays of other libraries and devices: detection, and conversion from and to NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array, Matrix


def namespace(values: Matrix) -> Any:
    """The array functions of the library of these values."""
    if type(values) is np.ndarray:
        return np
    from array_api_compat import array_namespace

    return array_namespace(values)


def is_device_array(X: Any) -> bool:
    """Whether X is an array of torch or CuPy, on any device."""
    if type(X).__module__.partition(".")[0] not in ("torch", "cupy"):
        return False
    from array_api_compat import is_cupy_array, is_torch_array

    return bool(is_torch_array(X) or is_cupy_array(X))


def to_host(values: Matrix) -> Matrix:
    """The values as a NumPy array."""
    if not is_device_array(values):
        return values
    values = values.detach().cpu() if hasattr(values, "detach") else values.get()
    return np.asarray(values)


def like(values: Array, model: Array, dtype: Any = None) -> Array:
    """NumPy values in the library, on the device and with the dtype of `model`."""
    from array_api_compat import array_namespace, device

    xp = array_namespace(model)
    kind = model.dtype if dtype is None else dtype
    return xp.asarray(np.ascontiguousarray(values), dtype=kind, device=device(model))


def read_only(X: Any) -> Any:
    """X as a user's function may see it: a NumPy array that cannot be written to."""
    if type(X) is not np.ndarray:
        return X
    view = X.view()
    view.flags.writeable = False
    return view
