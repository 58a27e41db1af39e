"""Dask collections given to estimators: a fit reads them as a source, a prediction stays lazy."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from thetahat.data.distributed.pieces import is_dask
from thetahat.data.source import Source
from thetahat.data.validation import require_source_alone
from thetahat.estimator.distributed.by_blocks import by_blocks, is_read_by_blocks
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
_LOADED = "X, y, sample_weight = source.arrays()"
"""The remedy of fits that need their rows in memory, if these are a source."""
_THEN = {"fit_transform": "transform", "fit_predict": "predict"}


Class = TypeVar("Class", bound=type)


def on_dask(cls: Class) -> Class:
    """Let the predictions and the score that a class defines itself take Dask collections.

    Every `Estimator` is decorated so; a mixin that comes before it has to be decorated itself.
    """
    for name, method in list(vars(cls).items()):
        if not isinstance(method, FunctionType):
            if name in ROWWISE and hasattr(method, "fn"):  # of `available_if`
                method.fn = lazy_on_dask(method.fn, cls)
        elif name == "score":
            setattr(cls, name, source_for_dask(method))
        elif name in ROWWISE:
            setattr(cls, name, lazy_on_dask(method, cls))
    return cls


def replace_method(cls: type, name: str, wrap: Callable[..., Any]) -> None:
    """Wrap a method that a class defines itself, also one that `available_if` offers."""
    method: Any = vars(cls).get(name)
    if isinstance(method, FunctionType):
        setattr(cls, name, wrap(method))
    elif isinstance(getattr(method, "fn", None), FunctionType):
        method.fn = wrap(method.fn)


def lazy_on_dask(method: Callable[..., Any], owner: type) -> Callable[..., Any]:
    """The method of a class, which gives a lazy Dask array for a Dask collection.

    A model that needs its rows in memory predicts those of a source block by block.
    """
    name = method.__name__

    @wraps(method)
    def routed(self: Any, *args: Any, **params: Any) -> Any:
        X = args[0] if args else params.get("X")
        if type(X) is not np.ndarray and is_dask(X):
            from sklearn.utils.validation import check_is_fitted

            from thetahat.data.distributed.lazy_rows import lazy_rows

            check_is_fitted(self)
            return lazy_rows(self, owner, name, *args, **params)
        if len(args) + len(params) == 1 and is_read_by_blocks(self, X):
            return by_blocks(method, self, X)
        return method(self, *args, **params)

    return routed


def source_for_dask(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method (a fit or a score), which reads a Dask collection as a source.

    A source of rows in place of y or of the weights is refused, whatever the estimator does first,
    and so are targets and weights beside a source.
    """

    @wraps(method)
    def routed(self: Any, *args: Any, **params: Any) -> Any:
        X = args[0] if args else params.get("X")
        if type(X) is not np.ndarray and is_dask(X):
            return _by_source(method, self, args, params)
        if isinstance(X, Source):
            _require_alone(method, self, args, params)
        else:
            for other in (*args[1:], *params.values()):
                if type(other) is not np.ndarray and isinstance(other, Source):
                    raise _source_beside_rows(method, self, other, args, params)
        return method(self, *args, **params)

    return routed


def _require_alone(method: Callable[..., Any], model: Any, args: Any, params: Any) -> None:
    """Refuse targets and weights beside a source, except a y that the method ignores anyway."""
    if len(args) > 1 or params:
        given = _by_role(method, model, args, params)
        y = None if _ignores_target(method, model) else given.get("y")
        require_source_alone(y, given.get("sample_weight"), type(model).__name__)


def _by_role(method: Callable[..., Any], model: Any, args: Any, params: Any) -> dict[str, Any]:
    """The arguments of a call by their names, without the model."""
    given = dict(list(_bound(method, model, args, params).items())[1:])
    others = given.pop("params", {}) | given.pop("fit_params", {})
    return given | others


def _bound(method: Callable[..., Any], model: Any, args: Any, params: Any) -> dict[str, Any]:
    """The arguments of a call by their names; one that the method does not take is an error."""
    expected = signature(method)
    try:
        return expected.bind(model, *args, **params).arguments
    except TypeError as failure:
        raise TypeError(
            f"{type(model).__name__}.{method.__name__}: {failure}. Its arguments: "
            f"{', '.join(list(expected.parameters)[1:])}."
        ) from None


def _ignores_target(method: Callable[..., Any], model: Any) -> bool:
    target, tags = signature(method).parameters.get("y"), model.__sklearn_tags__()
    if target is None or target.default is not None or tags.target_tags.required:
        return False
    # The score of an outlier detector compares its labels with y, which its fit ignores.
    return method.__name__ != "score" or tags.estimator_type != "outlier_detector"


def _source_beside_rows(
    method: Callable[..., Any], model: Any, source: Source, args: Any, params: Any
) -> DataError:
    given = _bound(method, model, args, params)
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
    given = _by_role(method, model, args, params)
    rows = {role: given.pop(role, None) for role in ("X", "y", "sample_weight")}
    if _ignores_target(method, model):
        rows["y"] = None  # as the fit of an array, which ignores it
    accepts_missing = model.__sklearn_tags__().input_tags.allow_nan or model._leaves_out_missing
    source = dask_rows(
        *rows.values(),
        who=who,
        missing=bool(accepts_missing),
        infinite=model._accepts_infinity,
    )
    try:
        return method(model, source, **given)
    except CapabilityError as refusal:
        compute = "X.compute()" if rows["y"] is None else "X.compute() and y.compute()"
        refusal.args = (str(refusal).replace(_LOADED, compute),)
        raise
