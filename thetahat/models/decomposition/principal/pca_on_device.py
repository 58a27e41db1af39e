"""Principal component analysis of rows on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import like, to_host
from thetahat.data.on_device import OnDevice
from thetahat.estimator.devices.rows import rows_of_model, rows_to_fit, weights_to_fit
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.principal import principal_spectrum
from thetahat.models.decomposition.principal.dimension import require_rows
from thetahat.models.decomposition.principal.gaussian_view import scale_of_scores
from thetahat.models.decomposition.principal.spectrum import Spectrum

ARRAYS = (
    "components_",
    "mean_",
    "scale_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
)


def fit(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Compute the principal directions. Cost: O(n d·min(n, d))."""
    who = type(model).__name__
    X = rows_to_fit(model, X)
    weight = weights_to_fit(model, sample_weight, X)
    xp, (n, d) = array_namespace(X), (int(size) for size in X.shape)
    if model.svd_solver not in ("auto", "covariance_eigh", "full"):
        raise CapabilityError(
            f"{who}: svd_solver={model.svd_solver!r} needs NumPy arrays, but X is on {device(X)}. "
            "Use svd_solver='auto', or pass X.cpu().numpy()."
        )
    dtype = np.dtype(str(X.dtype).rpartition(".")[2])
    model.solver_ = "row_gram" if n < d else "covariance_eigh"
    source = OnDevice(X=X, n_features=d, dtype=dtype)
    require_rows(type(model).__name__, model.n_components, source, model.solver_)
    found = principal_spectrum(X, weight, centre=model.center, scaled=model.scale)
    used = n if weight is None else int(xp.sum(xp.astype(weight > 0, xp.int64)))
    total = float(n) if weight is None else float(xp.sum(xp.astype(weight, xp.float64)))
    spectrum = Spectrum(
        used,
        total,
        np.asarray(to_host(found.mean)),
        np.sqrt(found.squares),
        np.empty((len(found.squares), 0)),
        found.square,
    )
    model.__dict__.pop("_moments", None)
    model._keep(spectrum, dtype)
    model.scale_ = None if found.scale is None else xp.astype(found.scale, X.dtype)
    model.components_ = found.directions(model.n_components_)
    model.mean_ = xp.astype(found.mean, X.dtype)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(model, name, like(getattr(model, name), X))
    return model


def transform(model: Any, X: Any) -> Array:
    """The components z = V(x − μ) of every row. Cost: O(n d k)."""
    X = rows_of_model(model, X, model.components_)
    directions = model.components_ if model.scale_ is None else model.components_ / model.scale_
    found = (X - model.mean_ if model.center else X) @ directions.T
    return found / _deviation(model) if model.whiten else found


def inverse_transform(model: Any, X: Any) -> Array:
    """The rows x̂ = μ + Vᵀz with the given components. Cost: O(n d k)."""
    k = int(model.components_.shape[0])
    if X.ndim != 2 or int(X.shape[1]) != k:
        raise DataError(
            f"{type(model).__name__}.inverse_transform: X has the shape {tuple(X.shape)}, but "
            f"transform returns {k} columns. Pass the output of transform."
        )
    rows = (X * _deviation(model) if model.whiten else X) @ model.components_
    rows = rows if model.scale_ is None else rows * model.scale_
    return rows + model.mean_ if model.center else rows


def _deviation(model: Any) -> Array:
    """The standard deviations of the components, none of them 0."""
    xp = array_namespace(model.explained_variance_)
    return scale_of_scores(xp.sqrt(model.explained_variance_), xp)
