"""Rows on a device, checked for a fit or against a fitted model."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from thetahat.data.arrays import is_device_array, like, require_plain_tensor, to_host
from thetahat.data.columns.schema import Schema
from thetahat.data.finite import require_finite_block
from thetahat.data.validation import as_device_features, as_target, as_weight
from thetahat.estimator.parameters import check_ranges
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.memory import row_blocks


def rows_to_fit(model: Any, X: Any) -> Array:
    """X as finite float32 or float64 rows; parameters are checked, and the columns are counted."""
    check_ranges(model)
    who = type(model).__name__
    require_plain_tensor(X, "X", who, negated=False)
    X = _finite_rows(X, who)
    model.n_features_in_ = int(X.shape[1])
    vars(model).pop("feature_names_in_", None)
    return X


def rows_of_model(model: Any, X: Any, like_this: Array) -> Array:
    """X with the columns, the dtype and the device of a fitted model."""
    who = type(model).__name__
    require_plain_tensor(X, "X", who)
    if device(X) != device(like_this):
        raise DataError(
            f"{who}: the model is on {device(like_this)}, but X is on {device(X)}. Move one of "
            f"them: X.to({str(device(like_this))!r}), or th.to_device(model, {str(device(X))!r})."
        )
    X = _finite_rows(X, who)
    if int(X.shape[1]) != model.n_features_in_:
        raise DataError(
            f"X has {int(X.shape[1])} features, but {who} is expecting {model.n_features_in_} "
            "features as input."
        )
    return array_namespace(X).astype(X, like_this.dtype, copy=False)


def _finite_rows(X: Any, who: str) -> Array:
    xp = array_namespace(X)
    if xp.isdtype(X.dtype, "complex floating"):
        raise DataError(
            f"{who}: Complex data not supported: X is {X.dtype}. "
            "Give real and imaginary parts as two columns."
        )
    X = as_device_features(X.detach() if hasattr(X, "detach") else X, who)
    for rows in row_blocks(X, 16 * int(X.shape[1])):
        require_finite_block(X[rows, :], rows.start, Schema())
    return X


def require_beside(values: Any, X: Array, role: str, who: str) -> None:
    """Refuse targets and weights that are not dense tensors, or on another device than X."""
    require_plain_tensor(values, role, who, negated=False)
    if is_device_array(values) and device(values) != device(X):
        raise DataError(
            f"{who}: X is on {device(X)}, but {role} is on {device(values)}. Move them to one "
            f"device: {role}.to(X.device)."
        )


def weights_to_fit(model: Any, sample_weight: Any, X: Array) -> Array | None:
    """The row weights on the device of X, in its dtype; None if all are 1."""
    if sample_weight is None:
        return None
    who = type(model).__name__
    require_beside(sample_weight, X, "sample_weight", who)
    return like(as_weight(to_host(sample_weight), int(X.shape[0]), who), X)


def targets_to_fit(model: Any, y: Any, X: Array) -> Array:
    """Numbers to predict on the device of X, in its dtype, of shape (n,) or (n, k)."""
    who = type(model).__name__
    if y is None:
        raise DataError(
            f"{who} requires y to be passed, but the target y is None. Pass one target per row."
        )
    require_beside(y, X, "y", who)
    dtype = str(X.dtype).rpartition(".")[2]
    return like(as_target(to_host(y), int(X.shape[0]), dtype, who, model._multi_output), X)
