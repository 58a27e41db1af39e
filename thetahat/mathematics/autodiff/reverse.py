"""Reverse mode: sensitivities carried backwards along a tape.

For a composition f = f_K ∘ … ∘ f_1 the row vector moves against the computation,
uᵀ ← uᵀ·J_{f_k}(x_k). One pass gives uᵀ·J; the gradient of a scalar costs one pass whatever the
number of inputs. With parameters per layer, x_{k+1} = f_k(x_k, θ_k), the same pass reads off
∇_{θ_k} = u_{k+1}ᵀ·∂f_k/∂θ_k on its way.

Operations enter the tape in the order they ran, so walking it backwards is a topological order:
no search, no recursion, any length.
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
    """One operation as it ran."""

    primitive: Primitive
    parents: list[tuple[int, int]]
    """(position among the arguments, place on the tape) of each traced argument."""
    out: Array
    values: list[Any]
    options: dict[str, Any]


class Reverse(Trace):
    """A traced array's record is its place on the tape."""

    def __init__(self) -> None:
        super().__init__()
        self.tape: list[Entry | None] = []

    def start(self, x: Array) -> Traced:
        """x as an input of the function."""
        self.tape.append(None)
        return Traced(x, self, len(self.tape) - 1)

    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Array:
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
        """From ∂L/∂(outputs) to ∂L/∂(inputs), both by place on the tape."""
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
    two to three evaluations of f per pullback; the tape keeps every intermediate result.

    Parameters
    ----------
    f : callable
        A function of arrays, written with NumPy, operators or an array-API namespace.
    x : array, or nested lists, tuples and dictionaries of arrays
        Where to differentiate.

    Returns
    -------
    value
        f(x).
    pullback : callable
        Takes u in the form of the value, returns uᵀ·J in the form of x; may be called many times.

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
        # times one: the caller gets arrays of its own, never views of ours
        return rebuild(
            [bare(found[k] * 1) if k in found else zeros_like(p) for k, p in enumerate(points)]
        )

    return value, pullback


def value_and_gradient(f: Callable[..., Any]) -> Callable[..., tuple[Array, Any]]:
    """The function x ↦ (f(x), ∇f(x)) of a scalar f.

    Formula: ∇f = 1·J(x), one reverse pass. Cost: about three to four evaluations of f, whatever the
    size of x. Further arguments of f are passed through and not differentiated.

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
    """The function x ↦ ∇f(x) of a scalar f, in the form of x.

    Formula: ∇f = 1·J(x), one reverse pass. Cost: about three to four evaluations of f, whatever the
    size of x. Further arguments of f are passed through and not differentiated.

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
    """The loss of a chain of layers, its gradient in x, and one gradient per layer.

    Formula: x_{k+1} = f_k(x_k, θ_k) with a scalar x_{K+1} = L; backwards from u_{K+1} = 1,
    ∇_{θ_k}L = u_{k+1}ᵀ·∂f_k/∂θ_k and u_kᵀ = u_{k+1}ᵀ·∂f_k/∂x_k. Cost: about three to four
    evaluations of the chain, and the memory of its intermediate results.

    Parameters
    ----------
    layers : sequence of callables
        f_k(x, θ_k); the last returns a scalar.
    parameters : sequence
        θ_k per layer: an array, nested arrays, or None for a layer without.
    x : array
        The input.

    Returns
    -------
    loss, gradient, layer_gradients
        L, ∇_x L and the list of ∇_{θ_k} L.

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
            f"A gradient needs a function with one number as its value; this one returned "
            f"{'shape ' + str(tuple(shape)) if shape is not None else type(value).__name__}. "
            "Sum it, or use th.autodiff.jacobian."
        )
