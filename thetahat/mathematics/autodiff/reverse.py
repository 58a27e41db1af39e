"""Reverse mode: derivatives computed backwards along a recorded tape.

For a composition f = f_K ∘ … ∘ f_1 the row vector moves against the computation,
uᵀ ← uᵀ·J_{f_k}(x_k). One pass gives uᵀ·J, so the gradient of a scalar takes one pass for any number
of inputs. With parameters per layer, x_{k+1} = f_k(x_k, θ_k), the same pass also gives
∇_{θ_k} = u_{k+1}ᵀ·∂f_k/∂θ_k.

Operations are recorded in the order in which they run, so the reverse of the tape is a topological
order: no search or recursion is needed, and the tape may have any length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.primitives import op, sum_to, zeros_like
from thetahat.mathematics.autodiff.trace import Primitive, Trace, Traced, bare, belongs, constant
from thetahat.mathematics.autodiff.tree import flatten, real_arrays, real_arrays_like


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded operation."""

    primitive: Primitive
    parents: list[tuple[int, int]]
    """(position among the arguments, index on the tape) of each traced argument."""
    out: Array
    values: list[Any]
    options: dict[str, Any]


class Reverse(Trace):
    """The record of a traced array is its index on the tape."""

    def __init__(self) -> None:
        super().__init__()
        self.tape: list[Entry | None] = []

    def start(self, x: Array) -> Traced:
        """x as an input of the function."""
        self.tape.append(None)
        return Traced(x, self, len(self.tape) - 1)

    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Any:
        parents = [
            (k, arg.record)
            for k, arg in enumerate(args)
            if belongs(arg, self) and k not in primitive.inert
        ]
        if not parents:
            return constant(out)
        self.tape.append(Entry(primitive, parents, out, values, options))
        return Traced(out, self, len(self.tape) - 1)

    def pull_back(self, sensitivities: dict[int, Array]) -> dict[int, Array]:
        """From ∂L/∂(outputs) to ∂L/∂(inputs), both by index on the tape."""
        u = dict(sensitivities)
        for place in range(max(u, default=-1), -1, -1):
            entry = self.tape[place]
            if place not in u or entry is None:
                continue
            here = u.pop(place)
            for position, parent in entry.parents:
                share = entry.primitive.reverse(
                    position, here, entry.out, *entry.values, **entry.options
                )
                share = _shaped_like(share, entry.values[position])
                u[parent] = u[parent] + share if parent in u else share
        return u


def _shaped_like(u: Array, x: Array) -> Array:
    u = sum_to(u, x.shape) if u.shape != x.shape else u
    return u if u.dtype == x.dtype else op.cast(u, dtype=x.dtype)


def vjp(f: Callable[[Any], Any], x: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The value f(x) and its pullback u ↦ uᵀ·J(x), the vector-Jacobian product.

    Formula: uᵀ ← uᵀ·J_{f_k}(x_k), from the last step of the computation to the first. Cost: about
    two to three evaluations of f per pullback; all intermediate results are kept in memory.

    Parameters
    ----------
    f : callable
        A function of arrays, written with NumPy, operators or an array-API namespace.
    x : array, or nested lists, tuples and dictionaries of arrays
        The point at which f is differentiated.

    Returns
    -------
    value
        The value f(x).
    pullback : callable
        Takes u with the structure of the value and returns uᵀ·J with the structure of x. It may be
        called many times.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> value, pullback = th.autodiff.vjp(lambda x: x[0] * x[1], np.array([2.0, 5.0]))
    >>> pullback(1.0)
    array([5., 2.])
    """
    points, rebuild = real_arrays(x, "x")
    trace = Reverse()
    inputs = [trace.start(point) for point in points]
    outputs, rebuild_output = flatten(f(rebuild(inputs)))
    value = rebuild_output([bare(out.value if belongs(out, trace) else out) for out in outputs])

    def pullback(u: Any) -> Any:
        rows = real_arrays_like(value, u, "the row vector u (in the form of f(x))")
        sensitivities: dict[int, Array] = {}
        for out, row in zip(outputs, rows, strict=True):
            if belongs(out, trace):
                before = sensitivities.get(out.record)
                sensitivities[out.record] = row if before is None else before + row
        found = trace.pull_back(sensitivities)
        # The product with one copies the arrays, so that the caller does not get views of ours.
        return rebuild(
            [bare(found[k] * 1) if k in found else zeros_like(p) for k, p in enumerate(points)]
        )

    return value, pullback


def value_and_gradient(f: Callable[..., Any]) -> Callable[..., tuple[Array, Any]]:
    """A function that returns the value and the gradient of a scalar function, (f(x), ∇f(x)).

    Formula: ∇f = 1·J(x), one reverse pass. Cost: about three to four evaluations of f, for any size
    of x. Further arguments of f are passed on and not differentiated.

    Parameters
    ----------
    f : callable
        A function with a scalar value, written with NumPy, operators or an array-API namespace.

    Returns
    -------
    callable
        Takes the arguments of f; the gradient has the structure of x.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.autodiff.value_and_gradient(lambda x: np.sum(x**2))(np.array([3.0]))
    (np.float64(9.0), array([6.]))
    """

    def evaluate(x: Any, *rest: Any, **named: Any) -> tuple[Array, Any]:
        value, pullback = vjp(lambda point: f(point, *rest, **named), x)
        _require_scalar(value)
        return value, pullback(1.0)

    return evaluate


def gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar function, x ↦ ∇f(x).

    Formula: ∇f = 1·J(x), one reverse pass. Cost: about three to four evaluations of f, for any size
    of x. Further arguments of f are passed on and not differentiated.

    Parameters
    ----------
    f : callable
        A function with a scalar value, written with NumPy, operators or an array-API namespace.

    Returns
    -------
    callable
        Takes the arguments of f and returns the gradient with the structure of x.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> slope = th.autodiff.gradient(lambda theta, y: np.mean((y - theta["mean"]) ** 2))
    >>> slope({"mean": np.float64(0.0)}, np.array([1.0, 3.0]))
    {'mean': np.float64(-4.0)}
    """
    evaluate = value_and_gradient(f)
    return lambda x, *rest, **named: evaluate(x, *rest, **named)[1]


def layer_gradients(
    layers: Sequence[Callable[[Any, Any], Any]], parameters: Sequence[Any], x: Any
) -> tuple[Array, Any, list[Any]]:
    """The loss of a chain of layers, its gradient with respect to x and to each layer's parameters.

    Formula: x_{k+1} = f_k(x_k, θ_k) with a scalar x_{K+1} = L; backwards from u_{K+1} = 1,
    ∇_{θ_k}L = u_{k+1}ᵀ·∂f_k/∂θ_k and u_kᵀ = u_{k+1}ᵀ·∂f_k/∂x_k. Cost: about three to four
    evaluations of the chain, and memory for its intermediate results.

    Parameters
    ----------
    layers : sequence of callables
        The layers, as functions f_k(x, θ_k). The last one returns a scalar.
    parameters : sequence
        The parameters θ_k of each layer: an array, nested arrays, or None for a layer without
        parameters.
    x : array
        The input of the first layer.

    Returns
    -------
    loss, gradient, layer_gradients
        The loss L, its gradient ∇_x L, and the list of the gradients ∇_{θ_k} L.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> layers = [lambda x, W: W @ x, lambda x, y: 0.5 * np.sum((y - x) ** 2)]
    >>> loss, dx, (dW, dy) = th.autodiff.layer_gradients(
    ...     layers, [np.array([[2.0, 1.0]]), np.array([4.0])], np.array([1.0, 1.0])
    ... )
    >>> float(loss), dx, dW
    (0.5, array([-2., -1.]), array([[-1., -1.]]))
    """
    pullbacks = []
    for layer, theta in zip(layers, parameters, strict=True):
        x, pullback = vjp(partial(_apply, layer), (x, theta))
        pullbacks.append(pullback)
    _require_scalar(x)
    u: Any = 1.0
    gradients = []
    for pullback in reversed(pullbacks):
        u, found = pullback(u)
        gradients.append(found)
    return x, u, gradients[::-1]


def _apply(layer: Callable[[Any, Any], Any], pair: tuple[Any, Any]) -> Any:
    return layer(*pair)


def _require_scalar(value: Any) -> None:
    shape = getattr(value, "shape", () if isinstance(value, int | float) else None)
    if shape != ():
        raise ParameterError(
            f"A gradient requires a function that returns one number; this one returned "
            f"{'shape ' + str(tuple(shape)) if shape is not None else type(value).__name__}. "
            "Sum the values, or use th.autodiff.jacobian."
        )
