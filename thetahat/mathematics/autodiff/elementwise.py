"""The elementwise primitives and their partial derivatives.

Where a derivative does not exist: |x|′ is 0 at 0, and when the arguments of `maximum` or `minimum`
are equal, each gets half of the derivative. `expit`, `log_expit`, `xlogy` and `erf` are SciPy's.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from importlib import import_module

from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.primitives import define, elementwise, indicator, library, op


def _special(name: str) -> Callable[..., Array]:
    return lambda *args: getattr(import_module("scipy.special"), name)(*args)


# Arithmetic.

elementwise("add", 1, 1)
elementwise("subtract", 1, -1)
elementwise("multiply", lambda out, x, y: y, lambda out, x, y: x)
elementwise("divide", lambda out, x, y: 1 / y, lambda out, x, y: -out / y, domain=(0.5, 2.0))
elementwise("negative", -1)
elementwise("positive", 1)
elementwise("remainder", 1, lambda out, x, y: -op.floor(x / y), domain=(0.5, 2.0))
elementwise("floor_divide", 0, 0, domain=(0.5, 2.0))
elementwise("reciprocal", lambda out, x: -out * out, run=lambda x: 1 / x, domain=(0.5, 2.0))
elementwise("square", lambda out, x: 2 * x)
elementwise("sqrt", lambda out, x: 0.5 / out, domain=(0.5, 2.0))


def _share(x: Array, whole: Array) -> Array:
    """x/whole, and 0 (not 0/0) where x = 0."""
    nothing = x == 0
    return op.where(nothing, 0.0, x / op.where(nothing, 1.0, whole))


elementwise("hypot", lambda out, x, y: _share(x, out), lambda out, x, y: _share(y, out))


def _power_base(out: Array, x: Array, y: Array) -> Array:
    """y·x^(y−1), and 0 (not 0·∞) where y = 0."""
    if isinstance(y, int | float):
        return y * x ** (y - 1) if y else 0 * x
    return y * x ** op.where(y == 0, 1, y - 1)


def _power_exponent(out: Array, x: Array, y: Array) -> Array:
    """x^y·log x, and 0 (not 0·∞) where x = 0."""
    if isinstance(x, int | float):
        return out * math.log(x) if x else 0 * out
    return out * op.log(op.where(x == 0, 1, x))


elementwise("pow", _power_base, _power_exponent, run=operator.pow, domain=(0.5, 2.0))

# Exponentials, logarithms.

elementwise("exp", lambda out, x: out)
elementwise("expm1", lambda out, x: out + 1)
elementwise("log", lambda out, x: 1 / x, domain=(0.5, 2.0))
elementwise("log1p", lambda out, x: 1 / (1 + x), domain=(-0.5, 2.0))
elementwise("log2", lambda out, x: 1 / (x * math.log(2)), domain=(0.5, 2.0))
elementwise("log10", lambda out, x: 1 / (x * math.log(10)), domain=(0.5, 2.0))
elementwise("logaddexp", lambda out, x, y: op.exp(x - out), lambda out, x, y: op.exp(y - out))
elementwise("expit", lambda out, x: out * (1 - out), run=_special("expit"))
elementwise("log_expit", lambda out, x: op.expit(-x), run=_special("log_expit"))
elementwise(
    "xlogy",
    lambda out, x, y: op.log(y),
    lambda out, x, y: _share(x, y),
    run=_special("xlogy"),
    domain=(0.5, 2.0),
)
elementwise("erf", lambda out, x: 2 / math.sqrt(math.pi) * op.exp(-x * x), run=_special("erf"))

# Trigonometry.

elementwise("sin", lambda out, x: op.cos(x))
elementwise("cos", lambda out, x: -op.sin(x))
elementwise("tan", lambda out, x: 1 + out * out, domain=(-1.0, 1.0))
elementwise("sinh", lambda out, x: op.cosh(x))
elementwise("cosh", lambda out, x: op.sinh(x))
elementwise("tanh", lambda out, x: 1 - out * out)
elementwise("asin", lambda out, x: 1 / op.sqrt(1 - x * x), domain=(-0.9, 0.9))
elementwise("acos", lambda out, x: -1 / op.sqrt(1 - x * x), domain=(-0.9, 0.9))
elementwise("atan", lambda out, x: 1 / (1 + x * x))
elementwise("asinh", lambda out, x: 1 / op.sqrt(x * x + 1))
elementwise("acosh", lambda out, x: 1 / op.sqrt(x * x - 1), domain=(1.5, 3.0))
elementwise("atanh", lambda out, x: 1 / (1 - x * x), domain=(-0.9, 0.9))
elementwise(
    "atan2",
    lambda out, y, x: x / (x * x + y * y),
    lambda out, y, x: -y / (x * x + y * y),
    domain=(0.5, 2.0),
)

# Piecewise functions.

elementwise("abs", lambda out, x: op.sign(x))
elementwise("sign", 0)
elementwise("floor", 0)
elementwise("ceil", 0)
elementwise("trunc", 0)
elementwise("round", 0)


def _larger(out: Array, x: Array, y: Array) -> Array:
    return indicator(x > y, out) + indicator(x == y, out) / 2


def _smaller(out: Array, x: Array, y: Array) -> Array:
    return _larger(out, y, x)


elementwise("maximum", _larger, lambda out, x, y: _larger(out, y, x))
elementwise("minimum", _smaller, lambda out, x, y: _smaller(out, y, x))


def _where_forward(
    tangents: list[Array], out: Array, condition: Array, x: Array, y: Array
) -> Array:
    return op.where(condition, *(0.0 if t is None else t for t in tangents[1:]))


def _where_reverse(position: int, u: Array, out: Array, condition: Array, *args: Array) -> Array:
    return op.where(condition, u, 0.0) if position == 1 else op.where(condition, 0.0, u)


define(
    "where",
    library("where"),
    forward=_where_forward,
    reverse=_where_reverse,
    inert=(0,),
    by_entry=True,
)
