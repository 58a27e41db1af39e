"""Dask collections given to estimators: a fit reads them as a source, a prediction stays lazy."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from thetahat.data.distributed.pieces import is_dask
from thetahat.data.source import Source
from thetahat.foundation.errors import CapabilityError, DataError

ROWWISE = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "score_samples",
)
"""Methods whose results have one entry per row, each of which depends on its row alone."""
_THEN = {"fit_transform": "transform", "fit_predict": "predict"}


def lazy_on_dask(method: Callable[..., Any], owner: type) -> Callable[..., Any]:
    """The method of a class, which gives a lazy Dask array for a Dask collection."""
    name = method.__name__

    @wraps(method)
    def routed(self: Any, *args: Any, **params: Any) -> Any:
        X = args[0] if args else params.get("X")
        if type(X) is not np.ndarray and is_dask(X):
            from sklearn.utils.validation import check_is_fitted

            from thetahat.data.distributed.lazy_rows import lazy_rows

            check_is_fitted(self)
            return lazy_rows(self, owner, name, *args, **params)
        return method(self, *args, **params)

    return routed


def source_for_dask(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method (a fit or a score), which reads a Dask collection as a source.

    A source of rows in place of y or of the weights is refused, whatever the estimator does first.
    """

    @wraps(method)
    def routed(self: Any, *args: Any, **params: Any) -> Any:
        X = args[0] if args else params.get("X")
        if type(X) is not np.ndarray and is_dask(X):
            return _by_source(method, self, args, params)
        if not isinstance(X, Source):
            for other in (*args[1:], *params.values()):
                if type(other) is not np.ndarray and isinstance(other, Source):
                    raise _source_beside_rows(method, self, other, args, params)
        return method(self, *args, **params)

    return routed


def _source_beside_rows(
    method: Callable[..., Any], model: Any, source: Source, args: Any, params: Any
) -> DataError:
    given = signature(method).bind(model, *args, **params).arguments
    role = next((name for name, each in given.items() if each is source), "an argument")
    return DataError(
        f"{type(model).__name__}.{method.__name__}: {role} is a {type(source).__name__}, which is "
        f"a source of whole rows, but X is in memory. Give {role} as an array, or open the rows "
        "with their target: th.scan(path, target=...), and pass that source alone."
    )


def _by_source(method: Callable[..., Any], model: Any, args: Any, params: Any) -> Any:
    from thetahat.data.distributed.from_dask import dask_rows

    name, who = method.__name__, type(model).__name__
    if name == "partial_fit":
        raise CapabilityError(
            f"{who}.partial_fit takes one batch in memory, but X is a Dask collection. Use fit, or "
            "compute one partition at a time: X.partitions[i].compute()."
        )
    if name in _THEN:
        model.fit(*args, **params)
        return getattr(model, _THEN[name])(args[0] if args else params["X"])
    expected = signature(method)
    given = dict(list(expected.bind(model, *args, **params).arguments.items())[1:])
    others = given.pop("params", {}) | given.pop("fit_params", {})
    rows = {role: given.pop(role, None) for role in ("X", "y", "sample_weight")}
    if not model.__sklearn_tags__().target_tags.required and "y" in expected.parameters:
        if expected.parameters["y"].default is None:
            rows["y"] = None  # as the fit of an array, which ignores it
    accepts_missing = model.__sklearn_tags__().input_tags.allow_nan or model._leaves_out_missing
    source = dask_rows(
        *rows.values(),
        who=who,
        missing=bool(accepts_missing),
        infinite=model._accepts_infinity,
    )
    return method(model, source, **given, **others)
