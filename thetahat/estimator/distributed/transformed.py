"""What `transform` gives for rows that are not in memory: a source, or a lazy Dask array.

scikit-learn puts the results of `transform` and `fit_transform` into tables where ``set_output`` or
``transform_output`` asks for them; these results stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.base import TransformerMixin
from sklearn.utils import _set_output

from thetahat.data.columns.schema import Column, Kind, Schema
from thetahat.data.distributed.pieces import is_dask
from thetahat.data.in_memory import InMemory
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Block, Source
from thetahat.data.views import View
from thetahat.foundation.types import Array

Class = TypeVar("Class", bound=type)
FIT_TRANSFORM = """Fit the model and transform the training rows. Cost: that of both methods.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            The training rows, as they are passed to `fit`.
        y : array-like of shape (n,), optional
            The target, if `fit` takes one. Leave it out if X is a `Source`.
        **fit_params : dict
            Further arguments of `fit`, such as row weights.

        Returns
        -------
        array or Source of shape (n, n_features_out)
            The transformed rows, as `transform` returns them.
        """


def is_transformed_later(X: Any) -> bool:
    """Whether X is read block by block in a fit, so that each pass transforms its blocks."""
    return isinstance(X, Source) and X.has_target and not isinstance(X, InMemory | OnDevice)


def transformed(
    model: Any, source: Source, function: Callable[[Block], Array], n_features: int
) -> Any:
    """``function(block)`` for all blocks: a source if it is read in a later fit, or an array.

    The columns of a source have names if those of a table would have them.
    """
    if not is_transformed_later(source):
        return source.map_rows(function)
    asked = getattr(model, "_sklearn_output_config", {}).get("transform")
    in_tables = (asked or get_config()["transform_output"]) != "default"
    names = model.get_feature_names_out() if in_tables else ()
    return View.of(
        source,
        partial(_with_rows, function=function),
        n_features=n_features,
        schema=Schema(tuple(Column(name, Kind.NUMERIC) for name in names)),
    )


def kept_out_of_tables(cls: Class) -> Class:
    """Let the results of a transformer stay as they are if they are sources or Dask arrays.

    Every estimator is decorated so; a base class whose `transform` is called by others as well.
    """
    for name in ("transform", "fit_transform"):
        method = getattr(cls, name, None)
        if method is None or method.__globals__["__name__"] == __name__:
            continue
        plain = method
        while plain is not None and plain.__globals__["__name__"] != _set_output.__name__:
            plain = getattr(plain, "__wrapped__", None)
        if plain is not None:
            setattr(cls, name, _out_of_tables(method, plain.__wrapped__))
    return cls


def _out_of_tables(in_tables: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(in_tables)
    def method(self: Any, X: Any, *args: Any, **params: Any) -> Any:
        elsewhere = type(X) is not np.ndarray and (is_transformed_later(X) or is_dask(X))
        return (plain if elsewhere else in_tables)(self, X, *args, **params)

    if plain is TransformerMixin.fit_transform.__wrapped__:
        method.__doc__ = FIT_TRANSFORM
    return method


def _with_rows(block: Block, function: Callable[[Block], Array]) -> Block:
    return replace(block, X=function(block))
