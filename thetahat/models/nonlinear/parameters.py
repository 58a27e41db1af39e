"""Rows, and initial values, names and bounds of the parameters θ, as given by the user."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from numbers import Real
from types import FunctionType
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def named_arguments(model: Any) -> list[str]:
    """The parameters of model(x, a, b, …) by name; none of model(X, theta).

    Arguments with a default value keep it: they are constants, not parameters.
    """
    if type(model) is FunctionType and not model.__dict__:  # not wrapped: its code knows them
        code, constants = model.__code__, len(model.__defaults__ or ())
        names = [*code.co_varnames[1 : code.co_argcount - constants]]
        return names if len(names) > 1 else []
    try:
        arguments = list(inspect.signature(model).parameters.values())[1:]
    except (TypeError, ValueError, OverflowError):  # a compiled function without a signature
        return []
    free = [each for each in arguments if each.default is each.empty and each.kind in POSITIONAL]
    return [each.name for each in free] if len(free) > 1 else []


def read_start(
    start: Any, model: Any, n_features: int, who: str, arguments: list[str] | None = None
) -> tuple[Array, list[str]]:
    """Initial θ and the names of its entries; `arguments` are those of `named_arguments`."""
    arguments = named_arguments(model) if arguments is None else arguments
    if arguments and isinstance(start, Mapping):
        if set(start) != set(arguments):
            raise ParameterError(
                f"{who}: start has the names {', '.join(map(str, start))}, but the parameters of "
                f"the model are {', '.join(arguments)}."
            )
        start = {name: start[name] for name in arguments}
    if start is None:
        if model is not None:
            raise ParameterError(
                f"{who}: start=None, but a model needs initial values of its parameters. Pass "
                'start=[...] or start={"name": value, ...} with a rough guess of each.'
            )
        start = np.zeros(n_features + 1)
    names = [str(name) for name in start] if isinstance(start, Mapping) else None
    values = list(start.values()) if isinstance(start, Mapping) else start
    try:
        theta = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        theta = np.empty(0)
    if theta.ndim != 1 or not theta.size or not np.isfinite(theta).all():
        raise ParameterError(
            f"{who}: start={start!r} must be a list of finite numbers, one per parameter, or a "
            "dict from names to numbers."
        )
    if arguments and len(theta) != len(arguments):
        raise ParameterError(
            f"{who}: start has length {len(theta)}, but the model has {len(arguments)} "
            f"parameters: {', '.join(arguments)}."
        )
    if model is None and len(theta) != n_features + 1:
        raise ParameterError(
            f"{who}: start has {len(theta)} numbers, but the linear function of {n_features} "
            f"features has {n_features + 1} parameters: one slope per feature, then the intercept."
        )
    return theta, names or arguments or [f"b{j}" for j in range(1, len(theta) + 1)]


def read_bounds(bounds: Any, start: Array, names: list[str], who: str) -> tuple[Array, Array]:
    """Lower and upper bounds of every parameter, with the start between them."""
    low, high = np.full(len(start), -np.inf), np.full(len(start), np.inf)
    if bounds is None:
        return low, high
    if isinstance(bounds, Mapping):
        for name, pair in bounds.items():
            if name not in names:
                raise ParameterError(
                    f"{who}: bounds contain {name!r}, but the parameters are {', '.join(names)}."
                )
            low[names.index(name)], high[names.index(name)] = pair
    else:
        try:
            given_low, given_high = bounds
            low[:], high[:] = given_low, given_high
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"{who}: bounds={bounds!r} must be a pair (low, high) of numbers or of lists with "
                f"one number for each of {len(start)} parameters, or a dict {{name: (low, high)}}."
            ) from None
    wrong = np.flatnonzero(~(low < high) | ~(low <= start) | ~(start <= high))
    if wrong.size:
        j = int(wrong[0])
        raise ParameterError(
            f"{who}: {names[j]} starts at {start[j]:g} with bounds {low[j]:g} and {high[j]:g}; "
            "the lower bound must be less than the upper, and the start between them."
        )
    return low, high


def is_vector(X: Any) -> bool:
    """Whether X is one column, given as a vector."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(each, Real) for each in X)
    return getattr(X, "ndim", 2) == 1


def as_table(x: Any) -> Array:
    """A vector as a table of one column."""
    return np.asarray(x)[:, np.newaxis]


def as_rows(X: Array) -> Array:
    """Rows in double precision."""
    return np.asarray(X, dtype=np.float64)
