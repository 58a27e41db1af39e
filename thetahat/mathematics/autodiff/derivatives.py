"""Whole derivatives from single passes: Jacobian, Hessian, Hessian times a vector.

Forward mode builds the Jacobian column by column, J·e_j, one pass per input; reverse mode row by
row, e_iᵀ·J, one pass per output. The cheaper is the one with fewer passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from array_api_compat import array_namespace
from array_api_compat import device as device_of

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.forward import jvp
from thetahat.mathematics.autodiff.primitives import op, zeros_like
from thetahat.mathematics.autodiff.reverse import gradient, vjp
from thetahat.mathematics.autodiff.trace import plain
from thetahat.mathematics.autodiff.tree import flatten, real_arrays


def jacobian(f: Callable[[Any], Array], x: Any, mode: str = "auto") -> Any:
    """All partial derivatives of an array-valued function.

    Formula: J[i, j] = ∂f_i/∂x_j, of shape ``f(x).shape + x.shape``. Cost: min(inputs, outputs)
    passes of about two to three evaluations of f each, and inputs × outputs numbers of memory.

    Parameters
    ----------
    f : callable
        Returns one array.
    x : array, or nested lists, tuples and dictionaries of arrays
        Where to differentiate; a nested x gives a Jacobian per array in the same form.
    mode : {"auto", "forward", "reverse"}
        Forward: columns J·e_j, one pass per input. Reverse: rows e_iᵀ·J, one per output. "auto"
        takes forward when there are at most as many inputs as outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> f = lambda x: np.stack([x[0] ** 2 + x[1], x[0] - x[1]])
    >>> th.autodiff.jacobian(f, np.array([2.0, 3.0]))
    array([[ 4.,  1.],
           [ 1., -1.]])
    """
    if mode not in ("auto", "forward", "reverse"):
        raise ParameterError(f"jacobian: mode must be auto, forward or reverse; got {mode!r}.")
    points, rebuild = real_arrays(x, "x")
    x = rebuild(points)
    value, pullback = vjp(f, x)
    if not hasattr(value, "shape"):
        raise ParameterError(
            f"jacobian: f must return one array; it returned {type(value).__name__}. "
            "Stack the parts with np.stack or np.concatenate."
        )
    n_inputs, n_outputs = sum(_size(point) for point in points), _size(value)
    require_memory(
        8 * n_inputs * n_outputs,
        f"A Jacobian of {n_outputs} outputs by {n_inputs} inputs",
        "Use jvp, vjp or hessian_product: they need no matrix.",
    )
    if mode == "forward" or (mode == "auto" and n_inputs <= n_outputs):
        blocks = [_columns(f, points, rebuild, k) for k in range(len(points))]
        order = -1
    else:
        rows = [flatten(pullback(unit))[0] for unit in _units(value)]
        blocks = [[row[k] for row in rows] for k in range(len(points))]
        order = 0
    return rebuild(
        [_pile(block, order, value, point) for block, point in zip(blocks, points, strict=True)]
    )


def _columns(f: Callable[[Any], Array], points: list[Array], rebuild: Any, k: int) -> list[Array]:
    """J·e for every unit vector e of the k-th array."""
    still = [zeros_like(point) for point in points]
    return [
        jvp(f, rebuild(points), rebuild([*still[:k], unit, *still[k + 1 :]]))[1]
        for unit in _units(points[k])
    ]


def _units(x: Array) -> Iterator[Array]:
    """The unit vectors in the shape of x."""
    value = plain(x)
    xp = array_namespace(value)
    entries = xp.arange(_size(value), device=device_of(value))
    for k in range(_size(value)):
        yield xp.reshape(xp.astype(entries == k, value.dtype), value.shape)


def _pile(parts: list[Array], axis: int, value: Array, point: Array) -> Array:
    """Rows or columns, stacked and shaped as outputs × inputs."""
    shape = (*value.shape, *point.shape)
    if not parts:
        return array_namespace(plain(value)).zeros(shape, dtype=plain(value).dtype)
    return op.reshape(op.stack(parts, axis), shape)


def _size(x: Array) -> int:
    return math.prod(x.shape)


def hessian_product(f: Callable[[Any], Array], x: Any, v: Any) -> Any:
    """The Hessian of a scalar f times a vector, without the Hessian.

    Formula: ∇²f(x)·v = ∂/∂t ∇f(x + t·v) at t = 0: forward mode over reverse mode. Cost: about
    six to nine evaluations of f, whatever the size of x. x and v may be nested.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.autodiff.hessian_product(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.ones(2))
    array([ 6., 12.])
    """
    return jvp(gradient(f), x, v)[1]


def hessian(f: Callable[[Array], Array], x: Array) -> Array:
    """All second derivatives of a scalar function of one array.

    Formula: H[i, j] = ∂²f/∂x_i∂x_j, of shape ``x.shape + x.shape``, column by column. Cost: one
    `hessian_product` per entry of x, and the square of its size in memory.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.autodiff.hessian(lambda x: x[0] ** 2 * x[1], np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    if isinstance(x, dict | list | tuple):
        raise ParameterError(
            "hessian takes one array; for nested parameters use hessian_product, or put them into "
            "one vector with np.concatenate."
        )
    return jacobian(gradient(f), x, mode="forward")
