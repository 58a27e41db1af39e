"""Functions built from primitives, under their NumPy and array-API names and signatures.

They need no derivative rules: the derivative of a mean follows from a sum and a division.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

import thetahat.mathematics.autodiff.elementwise
import thetahat.mathematics.autodiff.structural  # noqa: F401  # both fill the table
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.primitives import PRIMITIVES, kept, op, zeros_like
from thetahat.mathematics.autodiff.trace import FUNCTIONS, constant, plain

Axis = int | tuple[int, ...] | None


def function(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a function to the table under each of these names."""

    def enter(body: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(names, body))
        return body

    return enter


# Shape.


@function("reshape")
def reshape(x: Array, *shape: Any, order: str = "C") -> Array:
    """C order only; other orders would need another primitive."""
    if order != "C":
        raise CapabilityError(
            f"autodiff supports reshape in C order only; got order={order!r}. Transpose first."
        )
    new = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return PRIMITIVES["reshape"](x, shape=tuple(new))


@function("ravel", "flatten")
def ravel(x: Array, order: str = "C") -> Array:
    return reshape(x, (-1,), order=order)


@function("expand_dims")
def expand_dims(x: Array, axis: Axis = 0) -> Array:
    axes = axes_of(axis, x.ndim + len(axis) if isinstance(axis, tuple) else x.ndim + 1)
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if k in axes else next(sizes) for k in range(x.ndim + len(axes))))


@function("squeeze")
def squeeze(x: Array, axis: Axis = None) -> Array:
    axes = [k for k, n in enumerate(x.shape) if n == 1] if axis is None else axes_of(axis, x.ndim)
    return reshape(x, tuple(n for k, n in enumerate(x.shape) if k not in axes))


@function("permute_dims", "transpose")
def permute_dims(x: Array, *order: Any, axes: tuple[int, ...] | None = None) -> Array:
    if len(order) == 1 and not isinstance(order[0], int):
        (order,) = order
    order = axes or order or tuple(reversed(range(x.ndim)))
    return PRIMITIVES["permute_dims"](x, axes=tuple(k % x.ndim for k in order))


@function("swapaxes")
def swapaxes(x: Array, axis1: int, axis2: int) -> Array:
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return permute_dims(x, tuple(order))


@function("matrix_transpose")
def matrix_transpose(x: Array) -> Array:
    return swapaxes(x, -1, -2)


@function("moveaxis")
def moveaxis(x: Array, source: Axis, destination: Axis) -> Array:
    moved = dict(zip(axes_of(destination, x.ndim), axes_of(source, x.ndim), strict=True))
    others = (k for k in range(x.ndim) if k not in moved.values())
    return permute_dims(x, tuple(moved[k] if k in moved else next(others) for k in range(x.ndim)))


@function("broadcast_to")
def broadcast_to(x: Array, shape: tuple[int, ...]) -> Array:
    return PRIMITIVES["broadcast_to"](x, shape=tuple(shape))


@function("concat", "concatenate")
def concat(arrays: Sequence[Array], axis: int | None = 0) -> Array:
    if axis is None:
        arrays, axis = [ravel(x) for x in arrays], 0
    return PRIMITIVES["concat"](*arrays, axis=axis)


@function("stack")
def stack(arrays: Sequence[Array], axis: int = 0) -> Array:
    return concat([expand_dims(as_array(x), axis) for x in arrays], axis)


@function("hstack")
def hstack(arrays: Sequence[Array]) -> Array:
    parts = [_at_least_1d(x) for x in arrays]
    return concat(parts, 0 if parts[0].ndim == 1 else 1)


@function("vstack")
def vstack(arrays: Sequence[Array]) -> Array:
    parts = [_at_least_1d(x) for x in arrays]
    return concat([x[None, :] if x.ndim == 1 else x for x in parts], 0)


@function("column_stack")
def column_stack(arrays: Sequence[Array]) -> Array:
    parts = [_at_least_1d(x) for x in arrays]
    return concat([x[:, None] if x.ndim == 1 else x for x in parts], 1)


@function("atleast_1d")
def _at_least_1d(x: Array) -> Array:
    x = as_array(x)
    return x if x.ndim else reshape(x, (1,))


@function("flip")
def flip(x: Array, axis: Axis = None) -> Array:
    return PRIMITIVES["flip"](x, axis=axes_of(axis, x.ndim))


@function("take")
def take(x: Array, indices: Any, axis: int | None = None) -> Array:
    if axis is None:
        return ravel(x)[indices]
    return x[(slice(None),) * (axis % x.ndim) + (indices,)]


@function("diagonal")
def diagonal(x: Array) -> Array:
    if x.ndim != 2:
        raise CapabilityError(
            f"autodiff supports the diagonal of a matrix only; got {x.ndim} dimensions."
        )
    value = plain(x)
    places = array_namespace(value).arange(builtins.min(x.shape), device=device_of(value))
    return x[places, places]


@function("diag")
def diag(x: Array) -> Array:
    """A vector as a diagonal matrix, or the diagonal of a matrix."""
    return x[:, None] * np.eye(x.shape[0], dtype=x.dtype) if x.ndim == 1 else diagonal(x)


@function("trace")
def trace(x: Array) -> Array:
    return sum(diagonal(x))


@function("astype", "asarray")
def astype(x: Array, dtype: Any = None, *, copy: bool | None = None, device: Any = None) -> Array:
    """The derivative passes between floating types; results of other types are constants."""
    if dtype is None or dtype == x.dtype:
        return x
    cast = PRIMITIVES["cast"]
    return cast(x, dtype=dtype) if "float" in str(dtype) else constant(cast(plain(x), dtype=dtype))


# Reductions.


@function("sum")
def sum(x: Array, axis: Axis = None, *, keepdims: bool = False, dtype: Any = None) -> Array:
    return _reduced("sum", astype(x, dtype), axis, keepdims)


@function("max", "amax")
def max(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return _reduced("max", x, axis, keepdims)


@function("min", "amin")
def min(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return _reduced("min", x, axis, keepdims)


def _reduced(name: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    out = PRIMITIVES[name](x, axis=axis)
    return reshape(out, kept(x, axis)) if keepdims else out


@function("mean")
def mean(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    count = math.prod(x.shape[k] for k in axes_of(axis, x.ndim))
    return sum(x, axis, keepdims=keepdims) / count


@function("var")
def var(x: Array, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    squares = op.square(x - mean(x, axis, keepdims=True))
    count = math.prod(x.shape[k] for k in axes_of(axis, x.ndim))
    return sum(squares, axis, keepdims=keepdims) / (count - ddof)


@function("std")
def std(x: Array, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    return root(var(x, axis, ddof=ddof, keepdims=keepdims))


def root(x: Array, power: float = 2) -> Array:
    """x^(1/p) of x ≥ 0, with the derivative 0 at 0, which is a subgradient of a norm."""
    nothing = x == 0
    inside = op.where(nothing, 1.0, x)
    return op.where(nothing, 0.0, op.sqrt(inside) if power == 2 else op.pow(inside, 1 / power))


@function("prod")
def prod(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Multiply by halves, because the derivative out/x is not defined at zeros."""
    axes = axes_of(axis, x.ndim)
    factors = moveaxis(x, axes, tuple(range(len(axes))))
    factors = reshape(factors, (-1, *factors.shape[len(axes) :])) if axes else x[None]
    while (n := factors.shape[0]) > 1:
        pairs = factors[: n // 2] * factors[n // 2 : n - n % 2]
        factors = concat([pairs, factors[n - n % 2 :]]) if n % 2 else pairs
    out = factors[0] if factors.shape[0] else sum(factors, 0) + 1
    return reshape(out, kept(x, axis)) if keepdims else out


@function("logsumexp")
def logsumexp(x: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """log Σ exp(x − shift) + shift; the shift is a constant and has no derivative."""
    peak = constant(plain(max(plain(x), axis, keepdims=True)))
    out = op.log(sum(op.exp(x - peak), axis, keepdims=True)) + peak
    return out if keepdims else squeeze(out, axes_of(axis, x.ndim))


@function("cumulative_sum", "cumsum")
def cumulative_sum(x: Array, axis: int | None = None) -> Array:
    x, axis = (ravel(x), 0) if axis is None else (x, axis)
    return PRIMITIVES["cumulative_sum"](x, axis=axis % x.ndim)


@function("diff")
def diff(x: Array, n: int = 1, axis: int = -1) -> Array:
    lead = (slice(None),) * (axis % x.ndim)
    for _ in range(n):
        x = x[(*lead, slice(1, None))] - x[(*lead, slice(None, -1))]
    return x


# Piecewise functions.


@function("clip")
def clip(
    x: Array, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None
) -> Array:
    lower, upper = a_min if min is None else min, a_max if max is None else max
    x = x if lower is None else op.maximum(x, lower)
    return x if upper is None else op.minimum(x, upper)


@function("full_like")
def full_like(x: Array, fill_value: Any) -> Array:
    return fill_value * (zeros_like(x) + 1)


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The given axes as non-negative numbers."""
    axes = range(ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    return tuple(k % ndim for k in axes)


def as_array(x: Any) -> Array:
    return x if hasattr(x, "shape") else np.asarray(x)


NUMPY_NAMES = {
    "absolute": "abs",
    "fabs": "abs",
    "power": "pow",
    "float_power": "pow",
    "mod": "remainder",
    "fmax": "maximum",
    "fmin": "minimum",
    "rint": "round",
    "copy": "positive",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}
FUNCTIONS.update({alias: FUNCTIONS[name] for alias, name in NUMPY_NAMES.items()})


def operations() -> list[str]:
    """The names of all functions that can be differentiated.

    A function is differentiated when it is called as ``np.<name>`` (``np.linalg.<name>``,
    ``scipy.special.<name>``), as a method, as an operator, or as ``xp.<name>`` of an array-API
    namespace xp. Cost: O(1).

    Returns
    -------
    list of str
        The names in alphabetical order.

    Examples
    --------
    >>> import thetahat as th
    >>> "logaddexp" in th.autodiff.operations()
    True
    """
    internal = {"cast", "scatter", "getitem", "logabsdet"}
    return builtins.sorted(FUNCTIONS.keys() - internal)
