"""How many principal components to keep: by explained variance, or by Bayesian evidence."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array


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
