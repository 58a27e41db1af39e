"""How many principal components to keep: by explained variance, or by Bayesian evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.estimator.parameters import whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

ITERATIVE = ("arpack", "randomized")
"""Solvers that compute the first components only."""


def count_for_share(variances: Array, total: float, share: float) -> int:
    """The smallest number of components that explains more than a share of the variance."""
    reached = np.cumsum(variances / total) if total > 0 else np.ones(len(variances))
    return min(int(np.searchsorted(reached, share, side="right")) + 1, len(variances))


def count_by_evidence(variances: Array, n_rows: int) -> int:
    """The number of components with the largest evidence (Minka 2000, Laplace's approximation).

    The evidence compares how well k directions and equal variances elsewhere explain the spectrum
    with the volume of the parameters that this needs.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [_log_evidence(variances, k, n_rows) for k in range(1, len(variances))]
    found = [-np.inf, *found]
    return int(np.argmax(found))


def _log_evidence(variances: Array, k: int, n: int) -> float:
    from scipy.special import gammaln

    d = len(variances)
    tiny = np.finfo(variances.dtype).eps * float(variances[0])
    if variances[k - 1] < tiny:
        return -np.inf
    places = np.arange(1, k + 1)
    prior = -k * np.log(2.0) + np.sum(
        gammaln((d - places + 1) / 2.0) - np.log(np.pi) * (d - places + 1) / 2.0
    )
    kept = -n / 2.0 * np.sum(np.log(variances[:k]))
    noise = max(tiny, float(np.sum(variances[k:])) / (d - k))
    rest = -np.log(noise) * n * (d - k) / 2.0
    freedom = d * k - k * (k + 1.0) / 2.0
    volume = np.log(2.0 * np.pi) * (freedom + k) / 2.0
    spectrum = variances.copy()
    spectrum[k:] = noise
    curvature = 0.0
    for i in range(k):
        apart = variances[i] - variances[i + 1 :]
        inverse = 1 / spectrum[i + 1 :] - 1 / spectrum[i]
        curvature += float(np.sum(np.log(apart * inverse) + np.log(n)))
    return float(prior + kept + rest + volume - curvature / 2.0 - k * np.log(n) / 2.0)


def require_rows(who: str, k: Any, source: Source, solver: str) -> None:
    """Refuse a number of components that these rows or this solver do not allow."""
    least = min(source.n_rows, source.n_features)
    if source.n_rows < 2:
        raise DataError(
            f"{who}: n_samples = {source.n_rows}, but a variance needs at least 2 rows. Add rows."
        )
    if k == "mle" and source.n_rows < source.n_features:
        raise ParameterError(
            f"{who}: n_components='mle' is only supported if n_samples >= n_features, but X "
            f"has {source.n_rows} rows of {source.n_features} columns. Give a number."
        )
    lowest = 1 if solver in ITERATIVE else 0
    if whole(0).holds(k) and not lowest <= k <= least:
        raise ParameterError(
            f"{who}: n_components={k} must be between {lowest} and "
            f"min(n_samples, n_features)={least} with svd_solver={solver!r}. Use another "
            "number, or None."
        )
    if solver in ITERATIVE and not (whole(1).holds(k) or k is None):
        kind = "a string" if isinstance(k, str) else "a share of the variance"
        raise ParameterError(
            f"{who}: n_components={k!r} cannot be {kind} with svd_solver={solver!r}, which "
            "needs the number of components before. Use svd_solver='full' or "
            "'covariance_eigh', or give a number."
        )
