"""Forward mode: derivatives along a direction, computed together with the values.

For a composition f = f_K ∘ … ∘ f_1 the tangent follows the computation, v ← J_{f_k}(x_k)·v. One
pass gives J·v for one direction v; the columns J·e_j of the whole Jacobian take one pass per input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.primitives import op, zeros_like
from thetahat.mathematics.autodiff.trace import Primitive, Trace, Traced, bare, belongs, constant
from thetahat.mathematics.autodiff.tree import flatten, real_arrays, real_arrays_like


class Forward(Trace):
    """The record of a traced array is its tangent."""

    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Any:
        tangents = [
            arg.record if belongs(arg, self) and k not in primitive.inert else None
            for k, arg in enumerate(args)
        ]
        if all(tangent is None for tangent in tangents):
            return constant(out)
        tangent = primitive.forward(tangents, out, *values, **options)
        if tangent.dtype != out.dtype:
            tangent = op.cast(tangent, dtype=out.dtype)
        if tangent.shape != out.shape:
            tangent = op.broadcast_to(tangent, out.shape)
        return Traced(out, self, tangent)


def jvp(f: Callable[[Any], Any], x: Any, v: Any) -> tuple[Any, Any]:
    """The value f(x) and its derivative along v, the Jacobian-vector product J(x)·v.

    Formula: v ← J_{f_k}(x_k)·v for each step f_k of the computation. Cost: about two to three
    evaluations of f, and no additional memory.

    Parameters
    ----------
    f : callable
        A function of arrays, written with NumPy, operators or an array-API namespace.
    x : array, or nested lists, tuples and dictionaries of arrays
        The point at which f is differentiated.
    v : like x
        The direction of the derivative, with the structure and shapes of x.

    Returns
    -------
    value, tangent
        Both have the structure that f returns.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> value, slope = th.autodiff.jvp(np.sin, np.float64(0.0), np.float64(2.0))
    >>> float(value), float(slope)
    (0.0, 2.0)
    """
    points, rebuild = real_arrays(x, "x")
    directions = real_arrays_like(rebuild(points), v, "the direction v (in the form of x)")
    trace = Forward()
    inputs = [Traced(p, trace, d) for p, d in zip(points, directions, strict=True)]
    outputs, rebuild_output = flatten(f(rebuild(inputs)))
    values = [bare(out.value if belongs(out, trace) else out) for out in outputs]
    # The product with one copies the arrays, so that the caller does not get views of ours.
    tangents = [bare(out.record * 1) if belongs(out, trace) else zeros_like(out) for out in outputs]
    return rebuild_output(values), rebuild_output(tangents)
