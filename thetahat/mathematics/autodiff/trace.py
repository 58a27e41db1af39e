"""Tracing: recording the operations of an ordinary function of arrays while it runs.

A `Traced` replaces an array inside one differentiation. It implements NumPy's protocols, the
operators and the array API, so that ``np.exp(x)``, ``x @ W``, ``x[mask]`` or ``xp.where(...)`` call
a `Primitive`. The primitive computes the value, and the trace records what its mode needs: the
tangent in forward mode, an entry on a tape in reverse mode.

Differentiations can be nested. Each has a level, and the innermost has the highest. A primitive
unwraps only the arguments of the highest level and treats all others as constants, so that the
derivatives of inner and outer functions are kept apart.
"""

from __future__ import annotations

import functools
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""All functions that can be differentiated, by their NumPy and array-API names."""

VALUE_ONLY = frozenset(
    """
    equal not_equal less less_equal greater greater_equal isnan isinf isfinite isclose allclose
    array_equal logical_and logical_or logical_not logical_xor signbit any all count_nonzero nonzero
    flatnonzero argwhere argmax argmin argsort searchsorted digitize shape ndim size result_type
    can_cast isdtype finfo iscomplexobj isrealobj zeros_like ones_like empty_like
    """.split()
)
"""Functions of the value (or only the shape) whose result is locally constant: a plain array."""

_levels = count(1)


class Trace(ABC):
    """One running differentiation."""

    abstract = False
    """Whether operations are only recorded, so that no values are known."""

    def __init__(self) -> None:
        self.level = next(_levels)

    @abstractmethod
    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Any:
        """out = primitive(*values) as an array of this trace; `args` are the traced `values`."""

    def look(self) -> None:  # noqa: B027  # values may be looked at, except while recording
        """Called when the value of a traced array is used for something else than an operation."""


class Constant(Trace):
    """The level below every differentiation: arrays with the interface of traced ones."""

    def __init__(self) -> None:
        self.level = 0

    def lift(
        self, primitive: Primitive, out: Array, args: list[Any], values: list[Any], options: Any
    ) -> Any:
        return constant(out)


CONSTANT = Constant()


@dataclass(frozen=True)
class Primitive:
    """One differentiable operation: its value and its rule for each mode.

    Arrays are positional arguments, everything else is a keyword option. The rules are written with
    operations that can be traced, which makes derivatives of any order possible.
    """

    name: str
    run: Callable[..., Array]
    """run(*args, **options) on plain arrays."""
    forward: Callable[..., Array]
    """forward(tangents, out, *args, **options): J·t; a tangent is None where it is zero."""
    reverse: Callable[..., Array]
    """reverse(position, u, out, *args, **options): uᵀ·∂out/∂args[position]."""
    inert: tuple[int, ...] = ()
    """Positions whose derivative is zero everywhere."""
    domain: tuple[float, float] = (-2.0, 2.0)
    """An interval of arguments on which the operation is defined."""
    by_entry: bool = False
    """Whether an entry of the result depends only on the entries at its place."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        operands: list[Any] = list(args)
        trace: Trace = CONSTANT
        nested = False
        for k, arg in enumerate(args):
            if isinstance(arg, Traced):
                nested = True
                if arg.owner.level > trace.level:
                    trace = arg.owner
            elif isinstance(arg, list | tuple):
                operands[k] = np.asarray(arg)
        if not nested:
            return self.run(*operands, **options)
        values = [
            arg.value
            if isinstance(arg, Traced) and (arg.owner is trace or arg.owner is CONSTANT)
            else arg
            for arg in operands
        ]
        out: Any = None if trace.abstract else self(*values, **options)
        return trace.lift(self, out, operands, values, options)


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The operator x ∘ y and its reflection y ∘ x."""
    return lambda x, y: FUNCTIONS[name](x, y), lambda x, y: FUNCTIONS[name](y, x)


def _no_rule(*args: Any, **options: Any) -> Any:
    raise AssertionError("a comparison has no derivative")


def _unary(name: str) -> Callable[..., Any]:
    return lambda x: FUNCTIONS[name](x)


def _comparison(name: str) -> Callable[..., Any]:
    """A comparison is locally constant, so it returns a plain array, for ``if`` and masks.

    A recording contains it, because it has another result for other values.
    """

    def compare(x: Any, y: Any) -> Any:
        x, y = _without_derivatives(x), _without_derivatives(y)
        if isinstance(x, Traced) or isinstance(y, Traced):
            return COMPARISONS[name](x, y)
        return getattr(x, f"__{name}__")(y)

    return compare


COMPARISONS = {
    name: Primitive(name, run, _no_rule, _no_rule, inert=(0, 1), by_entry=True)
    for name, run in {
        "lt": np.less,
        "le": np.less_equal,
        "eq": np.equal,
        "gt": np.greater,
        "ge": np.greater_equal,
        "ne": np.not_equal,
    }.items()
}
"""Comparisons inside a recording."""


class Traced:
    """An array inside a differentiation: its value, and the record of its trace."""

    __slots__ = ("owner", "record", "value")

    def __init__(self, value: Array, trace: Trace, record: Any = None) -> None:
        self.value, self.owner, self.record = value, trace, record

    def __repr__(self) -> str:
        return f"Traced({self.value!r}, level {self.owner.level})"

    # Properties that need no computation.

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    dtype = property(lambda self: self.value.dtype)
    size = property(lambda self: math.prod(self.shape))
    device = property(lambda self: device_of(_array_inside(self)))

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(plain(self))

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    # Methods (x.sum(), x.reshape(...)) and attributes that compute (x.T).

    def __getattr__(self, name: str) -> Any:
        if name in FUNCTIONS:
            return functools.partial(_apply, name, self)
        if name in VALUE_ONLY:
            return getattr(plain(self), name)
        if name in ("item", "tolist"):
            return functools.partial(_leave, self, f"x.{name}()")
        raise AttributeError(
            f"x.{name} cannot be differentiated; th.autodiff.operations() lists what can be."
        )

    T = property(lambda self: FUNCTIONS["transpose"](self))
    mT = property(lambda self: FUNCTIONS["matrix_transpose"](self))

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __pow__, __rpow__ = _binary("pow")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("remainder")
    __matmul__, __rmatmul__ = _binary("matmul")
    __neg__, __pos__, __abs__ = _unary("negative"), _unary("positive"), _unary("abs")
    __lt__, __le__, __eq__ = _comparison("lt"), _comparison("le"), _comparison("eq")
    __gt__, __ge__, __ne__ = _comparison("gt"), _comparison("ge"), _comparison("ne")
    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, key: Any) -> Any:
        return FUNCTIONS["getitem"](self, key=plain(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise _in_place("x[...] = value")

    # Protocols.

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return _namespace(array_namespace(_array_inside(self), api_version=api_version))

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if options.pop("out", None) is not None:
            raise _in_place(f"np.{name}(..., out=...) or an operator such as +=")
        if method == "reduce" and name in REDUCTIONS:
            return FUNCTIONS[REDUCTIONS[name]](*args, **{"axis": 0, **options})
        if method != "__call__" or options:
            form = f"np.{name}" + (f".{method}" if method != "__call__" else "")
            raise _unknown(form + (f" with {', '.join(options)}=" if options else ""))
        return _apply(name, *args) if name in FUNCTIONS else call(name, ufunc, *args)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if options.pop("out", None) is not None:
            raise _in_place(f"np.{function.__name__}(..., out=...)")
        return call(function.__name__, function, *args, **options)

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.asarray(_leave(self, "np.array(x), np.asarray(x) or a[...] = x"))

    def __float__(self) -> float:
        return float(_leave(self, "float(x)"))

    def __int__(self) -> int:
        return int(_leave(self, "int(x)"))

    def __index__(self) -> int:
        return int(_leave(self, "an index made from x"))


REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logaddexp": "logsumexp",
}
"""The names under which ``np.<ufunc>.reduce`` is known."""


class Namespace:
    """An array-API namespace whose functions accept traced arrays as well as its own."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        # array_namespace compares names; with this one, traced and plain arrays can be mixed.
        self.__name__ = xp.__name__

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._xp, name)
        if isinstance(original, ModuleType):
            return _namespace(original)
        if isinstance(original, type) or not callable(original):
            return original
        return functools.partial(call, name, original)


_namespace = functools.cache(Namespace)


def call(name: str, original: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call the traced form of a function of an array library, or raise an error if none exists."""
    traced = list(_traced_in((args, tuple(options.values()))))
    if traced and name in FUNCTIONS:
        return _apply(name, *args, **options)
    if any(is_live(x) for x in traced) and name not in VALUE_ONLY:
        raise _unknown(f"{name}()")
    return original(*plain(args), **{key: plain(value) for key, value in options.items()})


def _apply(name: str, *args: Any, **options: Any) -> Any:
    """Call a traced function; arguments that it does not take are refused by their names."""
    try:
        return FUNCTIONS[name](*args, **options)
    except TypeError as failure:
        try:
            known = inspect.signature(FUNCTIONS[name])
            known.bind(*args, **options)
        except TypeError:
            extra = [f"{option}=" for option in options if option not in known.parameters]
            which = ", ".join(extra) or f"{len(args)} arguments"
            raise _unknown(f"{name}() with {which}") from failure
        raise


def _traced_in(tree: Any) -> Iterator[Traced]:
    if isinstance(tree, Traced):
        yield tree
    elif isinstance(tree, list | tuple):
        for part in tree:
            yield from _traced_in(part)


def belongs(arg: Any, trace: Trace) -> bool:
    return isinstance(arg, Traced) and arg.owner is trace


def is_live(x: Any) -> bool:
    """Whether x is part of a running differentiation."""
    while isinstance(x, Traced):
        if x.owner is not CONSTANT:
            return True
        x = x.value
    return False


def plain(x: Any) -> Any:
    """The array without traces; lists and tuples are searched, other objects are unchanged."""
    while isinstance(x, Traced):
        x.owner.look()
        x = x.value
    if isinstance(x, list | tuple) and next(_traced_in(x), None) is not None:
        return type(x)(plain(part) for part in x)
    return x


def _array_inside(x: Any) -> Any:
    """The array without traces, of which only its library or device is asked."""
    while isinstance(x, Traced):
        x = x.value
    return x


def _without_derivatives(x: Any) -> Any:
    """The plain array, or its place in a recording."""
    while isinstance(x, Traced) and not x.owner.abstract:
        x = x.value
    return x if isinstance(x, Traced) else plain(x)


def constant(x: Any) -> Any:
    """x with the interface of a traced array of its namespace and derivative zero."""
    return x if isinstance(x, Traced | bool | int | float) else Traced(x, CONSTANT)


def bare(x: Any) -> Any:
    """x without the wrapper that `constant` may have added."""
    return x.value if belongs(x, CONSTANT) else x


def _leave(x: Traced, form: str) -> Any:
    if is_live(x):
        raise CapabilityError(
            f"{form} converts a traced array to a plain number, so its derivative would be lost. "
            "Keep it an array: use np.stack or np.concatenate instead of np.array, and x itself "
            "instead of float(x)."
        )
    return plain(x)


def _in_place(form: str) -> CapabilityError:
    return CapabilityError(
        f"{form} writes in place, which autodiff does not support. Build a new array: np.where for "
        "a mask, np.concatenate or np.stack for parts, x = x + y instead of x += y."
    )


def _unknown(form: str) -> CapabilityError:
    return CapabilityError(
        f"autodiff has no derivative for {form}. Use the functions that th.autodiff.operations() "
        "lists, or pass the derivative yourself (th.loss takes gradient= and curvature=)."
    )
