"""Gaussian mixtures of rows on a device: passes there, and parameters in float64 on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import like, to_host
from thetahat.data.in_memory import InMemory
from thetahat.data.on_device import OnDevice
from thetahat.estimator.devices.rows import rows_of_model, rows_to_fit, weights_to_fit
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.mixture import Terms, log_joint, log_sum
from thetahat.models.mixture.components import terms_of

SAMPLED_ROWS = 1 << 16
"""Number of rows from which starting values are computed, on the host."""
ARRAYS = ("weights_", "means_", "covariances_", "precisions_cholesky_", "precisions_")


def fit(model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, labels: Any = None) -> Any:
    """Estimate the components by expectation-maximisation. Cost: O(n k d²) per iteration."""
    who = type(model).__name__
    X = rows_to_fit(model, X)
    if labels is not None or model.method != "em":
        raise CapabilityError(
            f"{who}: labels and method={model.method!r} need NumPy arrays, but X is on "
            f"{device(X)}. Use method='em' without labels, or pass X.cpu().numpy()."
        )
    xp, weight = array_namespace(X), weights_to_fit(model, sample_weight, X)
    n = int(X.shape[0]) if weight is None else int(xp.sum(xp.astype(weight > 0, xp.int64)))
    if n < max(2, model.n_components):
        raise DataError(
            f"{who}: X has n_samples = {n} of positive weight, but at least 2 and at least "
            f"n_components = {model.n_components} are needed. Use fewer components or more rows."
        )
    source = OnDevice(
        X=X,
        weight=weight,
        n_features=int(X.shape[1]),
        dtype=np.dtype(str(X.dtype).rpartition(".")[2]),
        has_weight=weight is not None,
    )
    goes_on = model.warm_start and hasattr(model, "means_")
    for name in ARRAYS if goes_on else ():
        setattr(model, name, np.asarray(to_host(getattr(model, name))))
    model._fit_source(source, None, X, y)
    for name in ARRAYS:
        setattr(model, name, like(getattr(model, name), X))
    return model


def rows_to_start(source: OnDevice, rng: np.random.Generator) -> InMemory:
    """At most 65,536 random rows in memory, from which starting values are computed."""
    xp, X, weight, n = array_namespace(source.X), source.X, source.weight, source.n_rows
    if n > SAMPLED_ROWS:
        some = np.sort(rng.choice(n, SAMPLED_ROWS, replace=False))
        places = xp.asarray(some, device=device(X))
        X = xp.take(X, places, axis=0)
        weight = None if weight is None else xp.take(weight, places, axis=0)
    return InMemory(
        X=np.ascontiguousarray(to_host(X)),
        weight=None if weight is None else np.asarray(to_host(weight), dtype=np.float64),
        n_features=source.n_features,
        dtype=source.dtype,
        has_weight=weight is not None,
    )


def _parts(model: Any, X: Any) -> tuple[Any, list[Array]]:
    """log π_k N(x | μ_k, Σ_k) of blocks of rows, as (k, rows)."""
    X = rows_of_model(model, X, model.means_)
    terms: Terms = _host_terms(model)
    return array_namespace(X), [joint for _, _, joint in log_joint(X, terms)]


def _host_terms(model: Any) -> Terms:
    arrays = (model.weights_, model.means_, model.precisions_cholesky_)
    wide = (np.asarray(to_host(each), dtype=np.float64) for each in arrays)
    return terms_of(model.covariance_type, *wide)


def log_density(model: Any, X: Any) -> Array:
    """log p(x) of every row."""
    xp, parts = _parts(model, X)
    return xp.concat([log_sum(joint) for joint in parts])


def predict_proba(model: Any, X: Any) -> Array:
    """The probability of every component given a row, (n, k)."""
    xp, parts = _parts(model, X)
    return xp.concat([xp.exp(joint - log_sum(joint)[None, :]).T for joint in parts])


def predict(model: Any, X: Any) -> Array:
    """The number of the most probable component of every row."""
    xp, parts = _parts(model, X)
    return xp.concat([xp.argmax(joint, axis=0) for joint in parts])


def score(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """The mean log-likelihood per row."""
    logs = log_density(model, X)
    xp = array_namespace(logs)
    wide = xp.astype(logs, xp.float64)
    weight = weights_to_fit(model, sample_weight, logs)
    if weight is None:
        return float(xp.mean(wide))
    weight = xp.astype(weight, xp.float64)
    return float(xp.sum(wide * weight) / xp.sum(weight))
