"""Products of arrays, norms and linear algebra, under their NumPy and array-API names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.functions import (
    Axis,
    as_array,
    axes_of,
    function,
    max,
    min,
    ravel,
    reshape,
    root,
    squeeze,
    sum,
)
from thetahat.mathematics.autodiff.primitives import PRIMITIVES, op
from thetahat.mathematics.autodiff.trace import plain

# Products.


@function("matmul")
def matmul(a: Array, b: Array) -> Array:
    """A vector counts as a row on the left and as a column on the right."""
    a, b = as_array(a), as_array(b)
    left, right = a[None, :] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    out = PRIMITIVES["matmul"](left, right)
    dropped = ((-2,) if a.ndim == 1 else ()) + ((-1,) if b.ndim == 1 else ())
    return squeeze(out, dropped) if dropped else out


@function("dot")
def dot(a: Array, b: Array) -> Array:
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if b.ndim > 2:
        raise CapabilityError(
            "autodiff supports np.dot only if b has at most 2 dimensions. Use a @ b."
        )
    return matmul(a, b)


@function("vecdot")
def vecdot(a: Array, b: Array, *, axis: int = -1) -> Array:
    """Σ aₖbₖ along an axis of as many entries; the other axes are broadcast."""
    a, b = as_array(a), as_array(b)
    if a.ndim != b.ndim and axis >= 0:
        raise CapabilityError(
            f"autodiff supports vecdot of arrays of {a.ndim} and {b.ndim} dimensions along a "
            f"negative axis only; got axis={axis}. Count the axis from the end."
        )
    if a.shape[axis] != b.shape[axis]:
        raise ParameterError(
            f"vecdot: the arrays have {a.shape[axis]} and {b.shape[axis]} entries along axis "
            f"{axis}, but must have as many. Use np.sum(a * b, axis={axis}) to broadcast."
        )
    return sum(a * b, axis)


@function("inner")
def inner(a: Array, b: Array) -> Array:
    """Σ aₖbₖ along the last axes, for every pair of the other axes."""
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    rows, others = (reshape(x, (math.prod(x.shape[:-1]), x.shape[-1])) for x in (a, b))
    return reshape(rows @ op.matrix_transpose(others), (*a.shape[:-1], *b.shape[:-1]))


@function("vdot")
def vdot(a: Array, b: Array) -> Array:
    """Σ aₖbₖ over all entries."""
    return ravel(as_array(a)) @ ravel(as_array(b))


@function("outer")
def outer(a: Array, b: Array) -> Array:
    return ravel(a)[:, None] * ravel(b)[None, :]


@function("norm")
def norm(x: Array, ord: Any = None, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The norm of a vector, or of a matrix if x or `axis` has two axes."""
    axes = axes_of(axis, x.ndim)
    if ord is None or (len(axes) == 2 and ord == "fro"):
        return root(sum(op.square(x), axes, keepdims=keepdims))
    if len(axes) == 1:
        return _norm_of_vectors(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _norm_of_matrices(x, ord, axes, keepdims)
    raise _unknown_norm(ord, f"arrays of {len(axes)} axes")


@function("vector_norm")
def vector_norm(x: Array, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norm of all entries along the axes."""
    return _norm_of_vectors(x, ord, axes_of(axis, x.ndim), keepdims)


@function("matrix_norm")
def matrix_norm(x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of the matrices in the last two axes."""
    return norm(x, ord, (-2, -1), keepdims=keepdims)


def _norm_of_vectors(x: Array, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Array:
    """(Σ |xₖ|^p)^(1/p), or the largest or smallest size."""
    if ord == 2:
        return root(sum(op.square(x), axes, keepdims=keepdims))
    size = op.abs(x)
    if ord == 1:
        return sum(size, axes, keepdims=keepdims)
    if ord in (math.inf, -math.inf):
        return (max if ord > 0 else min)(size, axes, keepdims=keepdims)
    if isinstance(ord, int | float) and ord >= 1:
        return root(sum(op.pow(size, ord), axes, keepdims=keepdims), ord)
    raise _unknown_norm(ord, "vectors")


def _norm_of_matrices(x: Array, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The largest or smallest sum of sizes of a column (1) or a row (∞)."""
    if ord not in (1, -1, math.inf, -math.inf):
        raise _unknown_norm(ord, "matrices")
    down, across = axes if abs(ord) == 1 else axes[::-1]
    extreme: Callable[..., Array] = max if ord > 0 else min
    out = extreme(sum(op.abs(x), down, keepdims=True), across, keepdims=True)
    return out if keepdims else squeeze(out, axes)


def _unknown_norm(ord: Any, what: str) -> CapabilityError:
    return CapabilityError(
        f"autodiff has no derivative for the norm of {what} with ord={ord!r}. Use 'fro', 1 or "
        "numpy.inf for matrices; numpy.inf or a number ≥ 1 for vectors."
    )


@function("solve")
def solve(a: Array, b: Array) -> Array:
    b = as_array(b)
    run = PRIMITIVES["solve"]
    return squeeze(run(a, b[:, None]), -1) if b.ndim == 1 else run(a, b)


@function("det")
def det(a: Array) -> Array:
    return PRIMITIVES["det"](a, axis=(-2, -1))


class SignAndLogarithm(NamedTuple):
    """The sign and log |det A| of a matrix, as NumPy names them."""

    sign: Array
    logabsdet: Array


@function("slogdet")
def slogdet(a: Array) -> SignAndLogarithm:
    size = PRIMITIVES["logabsdet"](a, axis=(-2, -1))
    return SignAndLogarithm(op.sign(det(plain(a))), size)
