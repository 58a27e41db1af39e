"""Convert y and z to one array namespace and one floating-point type, as every loss needs.

Results have the dtype and device of z, so float32 raw predictions give float32 results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from thetahat.foundation.types import Array

_NUMPY = array_namespace(np.empty(0))


def floating(z: Array) -> tuple[Any, Array]:
    """The namespace of z, and z in floating point; plain numbers and lists become NumPy arrays."""
    if type(z) is np.ndarray and z.dtype.char in "df":  # a fast path for calls with single rows
        return _NUMPY, z
    if not is_array_api_obj(z):
        z = np.asarray(z)
    xp = array_namespace(z)
    if not xp.isdtype(z.dtype, "real floating"):
        z = xp.astype(z, xp.float64)
    return xp, z


def aligned(y: Array, z: Array) -> tuple[Any, Array, Array]:
    """The common namespace, and y and z as arrays of z's dtype."""
    xp, z = floating(z)
    if type(y) is np.ndarray is type(z):  # a fast path for small batches
        return xp, y.astype(z.dtype, copy=False), z
    if not is_array_api_obj(y):
        y = xp.asarray(y, dtype=z.dtype, device=device(z))
    # The namespace of z comes first: it traces derivatives, also where y is a plain array.
    return array_namespace(z, y), xp.astype(y, z.dtype, copy=False), z


def is_compiled(z: Array) -> bool:
    """Whether z has the memory layout that the compiled losses read."""
    return type(z) is np.ndarray and z.dtype == np.float64 and z.flags.c_contiguous


def in_floats(y: Array) -> Array:
    """The targets in the memory layout and floating-point type of the compiled losses."""
    y = np.ascontiguousarray(y)
    return y if y.dtype.char in "df" else y.astype(np.float64)


def residuals(y: Array, z: Array) -> tuple[Any, Array]:
    """The namespace and r = z − y."""
    xp, y, z = aligned(y, z)
    return xp, z - y


def margins(y: Array, z: Array) -> tuple[Any, Array, Array]:
    """The namespace, the signs y, and the margins m = y·z."""
    xp, y, z = aligned(y, z)
    return xp, y, y * z
