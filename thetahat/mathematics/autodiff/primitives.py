"""The table of primitives, and forms in which one derivative rule serves both modes.

- `elementwise`: the partial derivatives dₖ = ∂out/∂xₖ. Forward mode computes Σ tₖ·dₖ, reverse mode
  u·dₖ (the trace sums it over broadcast axes). A number means a constant derivative.
- `linear`: forward mode applies the operation to the tangent, reverse mode applies its transpose.
- `reduction`: the partial derivative of each result with respect to its entries; forward mode sums
  t·d, reverse mode gives u·d.
- `define`: all other primitives, with both rules given.

The primitives are in `elementwise` and `structural`, in the same folder.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import array_api_compat.numpy
import numpy as np
from array_api_compat import array_namespace, is_numpy_array
from array_api_compat import device as device_of

from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.trace import FUNCTIONS, Primitive, Traced, plain

PRIMITIVES: dict[str, Primitive] = {}
OF_NUMPY = (np.ndarray, np.generic, bool, int, float)
"""Operands that need no search for their library."""


class _Operations:
    """``op.exp(x)`` calls the operation of that name, on plain and on traced arrays."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return FUNCTIONS[name]
        except KeyError:
            raise AttributeError(name) from None


op = _Operations()


def define(name: str, run: Callable[..., Array], **rules: Any) -> Primitive:
    """Add one primitive to the table."""
    PRIMITIVES[name] = FUNCTIONS[name] = primitive = Primitive(name, run, **rules)
    return primitive


def elementwise(
    name: str,
    *partials: Callable[..., Array] | int,
    run: Callable[..., Array] | None = None,
    domain: tuple[float, float] = (-2.0, 2.0),
) -> None:
    """out = f(x₁, x₂, …) elementwise, from its partial derivatives dₖ(out, x₁, x₂, …)."""

    def scaled(position: int, direction: Array, out: Array, args: tuple[Array, ...]) -> Array:
        partial = partials[position]
        if callable(partial):
            slope = partial(out, *args)
            # A plain array is copied, because the function may change it later.
            is_same = (
                isinstance(direction, float) and direction == 1.0 and isinstance(slope, Traced)
            )
            return slope if is_same else direction * slope
        return direction if partial == 1 else partial * direction

    def forward(tangents: list[Array], out: Array, *args: Array) -> Array:
        terms = [scaled(k, t, out, args) for k, t in enumerate(tangents) if t is not None]
        return reduce(operator.add, terms)

    def reverse(position: int, u: Array, out: Array, *args: Array) -> Array:
        return scaled(position, u, out, args)

    inert = tuple(k for k, partial in enumerate(partials) if not callable(partial) and partial == 0)
    run = run if run is not None else library(name)
    rules = {"forward": forward, "reverse": reverse, "inert": inert, "domain": domain}
    define(name, run, by_entry=True, **rules)


def linear(
    name: str,
    run: Callable[..., Array],
    transpose: Callable[..., Array],
    *,
    by_entry: bool = False,
) -> None:
    """out = A·x, from transpose(u, x, **options) = Aᵀ·u."""

    def forward(tangents: list[Array], out: Array, x: Array, **options: Any) -> Array:
        return PRIMITIVES[name](tangents[0], **options)

    def reverse(position: int, u: Array, out: Array, x: Array, **options: Any) -> Array:
        return transpose(u, x, **options)

    define(name, run, forward=forward, reverse=reverse, by_entry=by_entry)


def library(name: str) -> Callable[..., Array]:
    """The function of the array library; Python numbers become arrays where it requires them."""

    in_numpy = getattr(array_api_compat.numpy, name)

    def run(*args: Array) -> Array:
        if all(isinstance(arg, OF_NUMPY) for arg in args):
            return in_numpy(*args)
        xp = array_namespace(*args)
        if not any(is_numpy_array(arg) for arg in args):
            like = next(arg for arg in reversed(args) if hasattr(arg, "dtype"))
            args = tuple(
                xp.asarray(arg, dtype=like.dtype, device=device_of(like))
                if isinstance(arg, bool | int | float)
                else arg
                for arg in args
            )
        return getattr(xp, name)(*args)

    run.in_numpy = in_numpy  # type: ignore[attr-defined]
    return run


def zeros_like(x: Array) -> Array | float:
    value = plain(x)
    return array_namespace(value).zeros_like(value) if hasattr(value, "shape") else 0.0


def indicator(condition: Array, like: Array) -> Array:
    """1 where the condition holds, 0 elsewhere, in the precision of `like`."""
    return array_namespace(condition).astype(condition, like.dtype)


def reduction(name: str, run: Callable[..., Array], partial: Callable[..., Array]) -> None:
    """One number per slice of x over `axis`, from partial(out, x, axis) = ∂out/∂x.

    `partial` receives `out` with the reduced axes kept and returns an array with the shape of x.
    """

    def weights(out: Array, x: Array, axis: Any) -> Array:
        return partial(op.reshape(out, kept(x, axis)), x, axis)

    def forward(tangents: list[Array], out: Array, x: Array, axis: Any) -> Array:
        return op.sum(tangents[0] * weights(out, x, axis), axis)

    def reverse(position: int, u: Array, out: Array, x: Array, axis: Any) -> Array:
        return op.reshape(u, kept(x, axis)) * weights(out, x, axis)

    define(name, run, forward=forward, reverse=reverse)


def kept(x: Array, axis: Any) -> tuple[int, ...]:
    """The shape of a reduction of x over `axis` that keeps the axes it reduces."""
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    reduced = {k % x.ndim for k in axes}
    return tuple(1 if k in reduced else n for k, n in enumerate(x.shape))


def sum_to(u: Array, shape: tuple[int, ...]) -> Array:
    """The transpose of broadcasting: u summed over the axes along which `shape` was repeated."""
    extra = u.ndim - len(shape)
    repeated = [extra + k for k, n in enumerate(shape) if n == 1 and u.shape[extra + k] != 1]
    axes = (*range(extra), *repeated)
    return op.reshape(op.sum(u, axis=axes), shape) if axes else u
