"""Routing of metadata from `fit` and `predict` to the members, with scikit-learn's rules."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

from thetahat.data.resampling import take_rows
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


def routing_enabled() -> bool:
    """Whether metadata routing is enabled in scikit-learn."""
    return bool(get_config().get("enable_metadata_routing", False))


def routed(owner: Any, method: str, params: dict[str, Any]) -> Any:
    """Arguments for the methods of each member, as ``found[name][callee]``."""
    if params and not routing_enabled():
        raise ParameterError(
            f"{type(owner).__name__}.{method} got {', '.join(map(repr, sorted(params)))}, which "
            "can be passed to the members only with "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    return process_routing(owner, method, **params)


def takes_weights(member: Any) -> bool:
    """Whether weights passed to `fit` would reach this model."""
    if routing_enabled():
        request = get_routing_for_object(member)
        return "sample_weight" in request.consumes("fit", ("sample_weight",))
    return bool(has_fit_parameter(member, "sample_weight"))


def rows_of_params(params: dict[str, Any], rows: Array, n_rows: int) -> dict[str, Any]:
    """Arguments restricted to some rows, if they have one entry per row."""
    return {
        name: take_rows(value, rows) if _is_per_row(value, n_rows) else value
        for name, value in params.items()
    }


def _is_per_row(value: Any, n_rows: int) -> bool:
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and value.shape[0] == n_rows
    return isinstance(value, list | tuple) and len(value) == n_rows
