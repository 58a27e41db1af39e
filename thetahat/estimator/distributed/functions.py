"""Functions of rows that are not in memory: some read them, others refuse them with the remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import BoundArguments, Signature, signature
from typing import Any, TypeVar, cast

from thetahat.data.distributed.pieces import is_dask
from thetahat.data.source import Source
from thetahat.foundation.errors import CapabilityError

Function = TypeVar("Function", bound=Callable[..., Any])


def reads_sources(function: Function) -> Function:
    """A function of models, X, y and sample_weight that reads a source; Dask becomes one."""
    expected = signature(function)

    @wraps(function)
    def reading(*args: Any, **params: Any) -> Any:
        bound = _bound(expected, function.__name__, args, params)
        given = bound.arguments
        if is_dask(given.get("X")):
            from thetahat.data.distributed.from_dask import dask_rows

            models = next(iter(given.values()))
            given["X"] = dask_rows(
                given["X"],
                given.get("y"),
                given.get("sample_weight"),
                who=function.__name__,
                missing=_accept_missing(models),
            )
            given |= dict.fromkeys(given.keys() & {"y", "sample_weight"})
        return function(*bound.args, **bound.kwargs)

    return cast(Function, reading)


def needs_memory(function: Function) -> Function:
    """A function that needs its rows X in memory, which refuses others with the remedy."""
    expected, who = signature(function), function.__name__

    @wraps(function)
    def refusing(*args: Any, **params: Any) -> Any:
        X = _bound(expected, who, args, params).arguments.get("X")
        if isinstance(X, Source):
            raise CapabilityError(
                f"{who} needs its rows in memory, but X is a source that is read block by block. "
                "Load them with X, y, sample_weight = source.arrays()."
            )
        if is_dask(X):
            raise CapabilityError(
                f"{who} needs its rows in memory, but X is a Dask collection. Load them with "
                "X.compute() and y.compute(), or take a part that fits, such as X.partitions[0]."
            )
        return function(*args, **params)

    return cast(Function, refusing)


def _bound(expected: Signature, who: str, args: Any, params: Any) -> BoundArguments:
    """The arguments by name; an error that names the function and what it takes."""
    try:
        return expected.bind_partial(*args, **params)
    except TypeError as failure:
        raise TypeError(f"{who}() {failure}; it takes {', '.join(expected.parameters)}") from None


def _accept_missing(models: Any) -> bool:
    """Whether NaN in X marks a missing value for all of the models."""
    from sklearn.utils import get_tags

    every = list(models.values()) if isinstance(models, Mapping) else [models]
    return all(
        hasattr(each, "__sklearn_tags__") and get_tags(each).input_tags.allow_nan for each in every
    )
