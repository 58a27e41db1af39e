"""The primitives that rearrange, select, sum or multiply whole arrays.

If `max` or `min` is attained more than once, the derivative is shared equally.
"""

from __future__ import annotations

import math
import operator
from functools import reduce
from types import EllipsisType
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_jax_array, is_numpy_array, is_torch_array
from array_api_compat import device as device_of

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.primitives import (
    define,
    indicator,
    kept,
    linear,
    op,
    reduction,
    sum_to,
    zeros_like,
)
from thetahat.mathematics.autodiff.trace import plain

# Shape.

linear(
    "reshape",
    lambda x, shape: array_namespace(x).reshape(x, shape),
    lambda u, x, shape: op.reshape(u, x.shape),
)
linear(
    "permute_dims",
    lambda x, axes: array_namespace(x).permute_dims(x, axes),
    lambda u, x, axes: op.permute_dims(u, tuple(int(k) for k in np.argsort(axes))),
)
linear(
    "broadcast_to",
    lambda x, shape: array_namespace(x).broadcast_to(x, shape),
    lambda u, x, shape: sum_to(u, x.shape),
)
linear(
    "flip",
    lambda x, axis: array_namespace(x).flip(x, axis=axis),
    lambda u, x, axis: op.flip(u, axis),
)
linear(
    "cast",
    lambda x, dtype: array_namespace(x).astype(x, dtype),
    lambda u, x, dtype: op.cast(u, dtype=x.dtype),
    by_entry=True,
)


def _concat_forward(tangents: list[Array], out: Array, *args: Array, axis: int) -> Array:
    parts = [zeros_like(x) if t is None else t for t, x in zip(tangents, args, strict=True)]
    return op.concat(parts, axis)


def _concat_reverse(position: int, u: Array, out: Array, *args: Array, axis: int) -> Array:
    start = sum(x.shape[axis] for x in args[:position])
    here = slice(start, start + args[position].shape[axis])
    return u[(slice(None),) * (axis % u.ndim) + (here,)]


define(
    "concat",
    lambda *args, axis: array_namespace(*args).concat(args, axis=axis),
    forward=_concat_forward,
    reverse=_concat_reverse,
)

# Selecting entries, and its transpose, which adds entries to zeros.


def _scatter(u: Array, key: Any, shape: tuple[int, ...]) -> Array:
    """Zeros of `shape` with u added at `key`; an entry that occurs twice is added twice."""
    xp = array_namespace(u)
    zeros = xp.zeros(shape, dtype=u.dtype, device=device_of(u))
    if is_jax_array(u):
        zeros = zeros.at[key].add(u)
    elif _names_entries_once(key):
        zeros[key] = u
    elif is_numpy_array(u):
        np.add.at(zeros, key, u)
    else:
        zeros = xp.reshape(zeros, (-1,))
        places = xp.reshape(xp.arange(zeros.shape[0], device=device_of(u)), shape)[key]
        places, entries = xp.reshape(places, (-1,)), xp.reshape(u, (-1,))
        if is_torch_array(u):
            zeros.index_add_(0, places, entries)
        else:
            for k in range(places.shape[0]):
                zeros[int(places[k])] += entries[k]
        zeros = xp.reshape(zeros, shape)
    return zeros


def _names_entries_once(key: Any) -> bool:
    """Whether a key consists of integers, slices and masks only."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None
        or isinstance(part, int | np.integer | slice | EllipsisType)
        or str(getattr(part, "dtype", "")).endswith("bool")
        for part in parts
    )


linear("getitem", lambda x, key: x[key], lambda u, x, key: op.scatter(u, key=key, shape=x.shape))
linear("scatter", _scatter, lambda u, x, key, shape: u[key])

# Reductions.


linear(
    "sum",
    lambda x, axis: array_namespace(x).sum(x, axis=axis),
    lambda u, x, axis: op.broadcast_to(op.reshape(u, kept(x, axis)), x.shape),
)
linear(
    "cumulative_sum",
    lambda x, axis: array_namespace(x).cumulative_sum(x, axis=axis),
    lambda u, x, axis: op.flip(op.cumulative_sum(op.flip(u, axis), axis), axis),
)


def _attained(out: Array, x: Array, axis: Any) -> Array:
    """The derivative, shared equally by all entries that attain the extreme."""
    attained = indicator(x == out, x)
    return attained / op.sum(attained, axis, keepdims=True)


reduction("max", lambda x, axis: array_namespace(x).max(x, axis=axis), _attained)
reduction("min", lambda x, axis: array_namespace(x).min(x, axis=axis), _attained)
reduction(
    "det",
    lambda a, axis: array_namespace(a).linalg.det(a),
    lambda out, a, axis: _cofactors(out, a),
)
reduction(
    "logabsdet",
    lambda a, axis: array_namespace(a).linalg.slogdet(a)[1],
    lambda out, a, axis: _inverse_transpose(out, a),
)

# Linear algebra, on matrices or stacks of them.


def _t(x: Array) -> Array:
    return op.matrix_transpose(x)


def _cofactors(out: Array, a: Array) -> Array:
    """∂det/∂a: det·a⁻ᵀ, or the signed determinants of the minors where a is (nearly) singular."""
    n, value = a.shape[-1], plain(a)
    if n == 0:
        return a
    xp = array_namespace(value)
    sizes = xp.linalg.svdvals(value)
    if bool(xp.all(sizes[..., -1] > SINGULAR * sizes[..., 0])):
        return out * _t(op.inv(a))
    others = [
        np.array([k for k in range(n) if k != left_out], dtype=np.intp) for left_out in range(n)
    ]
    minors = [
        (-1) ** (i + j) * op.det(a[(..., others[i][:, None], others[j])])
        for i in range(n)
        for j in range(n)
    ]
    return op.reshape(op.stack(minors, -1), a.shape)


SINGULAR = 1e-6
"""Ratio of the smallest to the largest singular value below which no inverse is used."""


def _inverse_transpose(out: Array, a: Array) -> Array:
    """∂log|det|/∂a."""
    if bool(array_namespace(plain(out)).any(plain(out) == -math.inf)):
        raise DataError(
            "autodiff: log |det A| has no derivative where the determinant is 0, but a matrix is "
            "singular. Add a small multiple of the identity to it."
        )
    return _t(op.inv(a))


def _matmul_forward(tangents: list[Array], out: Array, a: Array, b: Array) -> Array:
    left, right = tangents
    terms = [left @ b] if left is not None else []
    return reduce(operator.add, terms + ([a @ right] if right is not None else []))


def _matmul_reverse(position: int, u: Array, out: Array, a: Array, b: Array) -> Array:
    return sum_to(u @ _t(b), a.shape) if position == 0 else sum_to(_t(a) @ u, b.shape)


define("matmul", operator.matmul, forward=_matmul_forward, reverse=_matmul_reverse)


def _solve_forward(tangents: list[Array], out: Array, a: Array, b: Array) -> Array:
    """a·x = b, so a·ẋ = ḃ − ȧ·x."""
    left, right = tangents
    change = 0.0 if right is None else right
    return op.solve(a, change if left is None else change - left @ out)


def _solve_reverse(position: int, u: Array, out: Array, a: Array, b: Array) -> Array:
    w = op.solve(_t(a), u)
    return sum_to(w, b.shape) if position == 1 else sum_to(-w @ _t(out), a.shape)


define(
    "solve",
    lambda a, b: array_namespace(a, b).linalg.solve(a, b),
    forward=_solve_forward,
    reverse=_solve_reverse,
)
define(
    "inv",
    lambda a: array_namespace(a).linalg.inv(a),
    forward=lambda tangents, out, a: -out @ tangents[0] @ out,
    reverse=lambda position, u, out, a: -_t(out) @ u @ _t(out),
)
