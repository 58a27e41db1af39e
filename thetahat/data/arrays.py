"""Arrays of other libraries and devices: detection, and conversion from and to NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set, Sized
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.distributed.pieces import is_dask
from thetahat.foundation.errors import CapabilityError, DataError
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
    tensor: Any = values
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor.get())


def require_plain_tensor(values: Any, role: str, who: str, *, negated: bool = True) -> None:
    """Refuse tensors of torch that are not dense arrays of numbers, with the call that makes one.

    ``negated`` says whether tensors that torch has yet to negate are allowed.
    """
    if not is_device_array(values) or not hasattr(values, "is_quantized"):
        return
    if values.is_meta:
        kind, remedy = "a meta tensor, which has a shape and no values", "Pass a tensor with values"
    elif str(values.layout) != "torch.strided":
        kind, remedy = f"a tensor with layout {values.layout}", f"Use {role}.to_dense()"
    elif values.is_quantized:
        kind, remedy = f"a quantised tensor ({values.dtype})", f"Use {role}.dequantize()"
    elif values.is_neg() and not negated:
        kind, remedy = "a lazily negated tensor", f"Use {role}.resolve_neg()"
    else:
        return
    raise DataError(f"{who}: {role} must be a dense tensor of numbers, but it is {kind}. {remedy}.")


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


def as_array(values: Any, role: str, who: str) -> Array:
    """The array that NumPy makes of the values, if they have the shape of one."""
    if is_dask(values):
        raise CapabilityError(
            f"{who}: {role} is a Dask collection, but values in memory are needed here. Pass X, y "
            "and sample_weight as Dask collections to fit, predict, transform or score, or load "
            f"the values with {role}.compute()."
        )
    require_values(values, role, who)
    require_unmasked(values, role, who)
    try:
        return np.asarray(values)
    except ValueError as failure:
        if not isinstance(values, list | tuple):
            raise DataError(
                f"{who}: {role} is a {type(values).__name__}, of which NumPy makes no array "
                f"({failure}). Give an array, a table or a list of numbers."
            ) from failure
        sizes = [len(each) if isinstance(each, Sized) else None for each in values]
        other = next((row for row, size in enumerate(sizes) if size != sizes[0]), None)
        if other is None:
            raise DataError(
                f"{who}: {role} must be an array, but its rows hold lists of different lengths, or "
                f"a list that holds itself: {str(failure).rstrip('.')}. Give one value for each "
                "entry."
            ) from failure
        first, second = (
            "is one value" if size is None else f"has {size} entr{'y' if size == 1 else 'ies'}"
            for size in (sizes[0], sizes[other])
        )
        raise DataError(
            f"{who}: all rows of {role} must have the same number of entries, but row 0 {first} "
            f"and row {other} {second}. Complete or drop the rows that differ."
        ) from None


def require_values(values: Any, role: str, who: str) -> None:
    """Refuse classes, containers without an order, iterators and lists of sparse rows.

    NumPy would make one object of them, or of each row.
    """
    if isinstance(values, type):
        raise TypeError(
            f"{who}: {role} must be an array, a table or a list, but it is the class "
            f"{values.__name__} itself. Give an instance with values."
        )
    if isinstance(values, Mapping | Set | Iterator | np.nditer):
        raise TypeError(
            f"{who}: {role} is a {type(values).__name__}, but it must be an array, a table or a "
            f"list. {_container_remedy(values, role)}"
        )
    rows = values if isinstance(values, list | tuple) else ()
    if rows and type(rows[0]).__module__.startswith("scipy.sparse"):
        one = "" if role == "X" else ".toarray()"
        raise TypeError(
            f"{who}: {role} is a {type(values).__name__} of sparse arrays, but it must be one "
            f"array. Use scipy.sparse.vstack({role}){one}."
        )


def require_unmasked(values: Any, role: str, who: str) -> None:
    """Refuse masked entries, of which NumPy would return the values below the mask."""
    is_subclass = isinstance(values, np.ndarray) and type(values) is not np.ndarray
    if is_subclass and np.ma.is_masked(values):
        masked = np.nonzero(np.ma.getmaskarray(values))
        first = tuple(int(part[0]) for part in masked)
        remedy = (
            ", or use X.filled(numpy.nan) with a model that accepts NaN." if role == "X" else "."
        )
        raise DataError(
            f"{who}: {role} is masked at {len(masked[0])} of {values.size} places (the "
            f"first: {first}), but every row needs its values. Drop the masked rows{remedy}"
        )


def _container_remedy(values: Any, role: str) -> str:
    if isinstance(values, Mapping):
        return f"Use pandas.DataFrame({role}), for example."
    return f"Use list({role})."


def sparse_pullback(X: Any, slope: Array) -> Array | None:
    """Xᵀs of compressed sparse rows, without the transpose that SciPy builds; None for others."""
    if getattr(X, "format", None) != "csr" or slope.ndim != 1 or type(slope) is not np.ndarray:
        return None
    found = np.empty(X.shape[1])
    _native.sparse_pullback(
        X.data, X.indices, X.indptr, np.ascontiguousarray(slope, dtype=np.float64), found
    )
    return found
