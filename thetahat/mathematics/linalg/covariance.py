"""Scatter, covariance and correlation matrices, with row weights, in memory or block by block.

All are computed from centred products summed in one pass (`thetahat.data.summaries.moments`), so no
digits are lost when means are large. A row of weight 2 counts as two rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.summaries.moments import Moments, moments
from thetahat.data.validation import as_source
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array


def scatter(X: Any, weight: Any = None) -> Array:
    """The scatter matrix: sums of products of deviations from the mean.

    Formula: S = Σ wᵢ (xᵢ − μ)(xᵢ − μ)ᵀ with μ = Σ wᵢxᵢ / Σ wᵢ. S is symmetric and positive
    semidefinite.

    Cost: O(n d²) time, O(d²) memory in addition to the data; rows may be read block by block.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The rows. A Source may contain row weights.
    weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two rows. By default all weights are 1.

    Returns
    -------
    array of shape (d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.scatter([[0.0, 1.0], [2.0, 5.0]]).tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """
    about = _moments(X, weight, "scatter")
    return _features(about, about.scatter * about.unit * about.unit[:, None])


def covariance(X: Any, weight: Any = None, *, unbiased: bool = False) -> Array:
    """The covariance matrix, by maximum likelihood (1/N) or unbiased (1/(N − 1)).

    Formula: Σ̂ = S / N with the `scatter` S and N = Σ wᵢ. For one column E σ̂² = (n − 1)/n · σ²;
    ``unbiased=True`` corrects this bias by S / (N − 1).

    Cost: O(n d²) time, O(d²) memory in addition to the data; rows may be read block by block.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The rows. A Source may contain row weights.
    weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two rows. By default all weights are 1.
    unbiased : bool, default=False
        Whether to divide by N − 1 instead of N.

    Returns
    -------
    array of shape (d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.covariance([[0.0, 1.0], [2.0, 5.0]]).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    about = _moments(X, weight, "covariance")
    _require_freedom(about, unbiased, "covariance")
    return _features(about, about.covariance(unbiased=unbiased))


def cross_covariance(X: Any, Y: Any = None, weight: Any = None, *, unbiased: bool = False) -> Array:
    """The covariances of the columns of X with the columns of Y.

    Formula: cov(x, y) = E[xy] − E[x]E[y], as (1/N) Σ wᵢ (xᵢ − x̄)(yᵢ − ȳ)ᵀ.

    Cost: O(n (d + k)²) time, O((d + k)²) memory in addition to the data; rows may be read block by
    block.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The rows. A Source may contain row weights, and its target is used as Y.
    Y : array-like or table of shape (n,) or (n, k), optional
        The second set of columns, with the same rows as X. Required unless X is a Source with a
        target.
    weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two rows. By default all weights are 1.
    unbiased : bool, default=False
        Whether to divide by N − 1 instead of N.

    Returns
    -------
    array of shape (d,) or (d, k)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.cross_covariance([[0.0], [2.0]], [1.0, 5.0]).tolist()
    [2.0]
    """
    source = as_source(X, Y, weight, who="cross_covariance", check_finite=False)
    if not source.has_target:
        raise DataError(
            "cross_covariance: two sets of columns are needed, and there is no Y. Pass Y, or open "
            "the source with th.scan(path, target=...)."
        )
    about = moments(source)
    _require_freedom(about, unbiased, "cross_covariance")
    between = about.covariance(unbiased=unbiased)[: about.n_features, about.n_features :]
    return between if source.n_outputs else between[:, 0]


def correlation(X: Any, weight: Any = None) -> Array:
    """The correlation matrix: the covariance of the standardised columns.

    Formula: ρ_jk = S_jk / √(S_jj S_kk), in [−1, 1], with the `scatter` S.

    Cost: O(n d²) time, O(d²) memory in addition to the data; rows may be read block by block.

    Parameters
    ----------
    X : array-like, table, sparse or Source of shape (n, d)
        The rows. No column may be constant. A Source may contain row weights.
    weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two rows. By default all weights are 1.

    Returns
    -------
    array of shape (d, d)

    Examples
    --------
    >>> import thetahat as th
    >>> th.linalg.correlation([[0.0, 5.0], [2.0, 1.0], [3.0, -1.0]]).round(12).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    source = as_source(X, None, weight, who="correlation", check_finite=False)
    about = moments(source)
    constant = np.flatnonzero(constant_columns(about))
    if constant.size:
        mean = about.x_mean[constant[0]]
        raise DataError(
            f"correlation: column {source.schema.label(int(constant[0]))} is constant ({mean:g} in "
            f"every row), so its correlation is 0/0. Drop it"
            + (f" and {constant.size - 1} more constant column" if constant.size > 1 else "")
            + ("s." if constant.size > 2 else ".")
        )
    size = np.sqrt(np.diagonal(about.scatter))
    rho = np.clip(_features(about, about.scatter / size / size[:, None]), -1.0, 1.0)
    np.fill_diagonal(rho, 1.0)
    return rho


def constant_columns(about: Moments) -> Array:
    """Which columns of X are constant, up to the rounding errors of their means."""
    d = about.n_features
    floor = EPSILON * np.abs(about.x_mean) / about.unit[:d]
    return np.diagonal(about.scatter)[:d] <= about.weight * floor**2


def _moments(X: Any, weight: Any, who: str) -> Moments:
    return moments(as_source(X, None, weight, who=who, check_finite=False))


def _features(about: Moments, matrix: Array) -> Array:
    """The part that belongs to X, made exactly symmetric: merging can round the halves apart."""
    part = matrix[: about.n_features, : about.n_features]
    return (part + part.T) / 2.0


def _require_freedom(about: Moments, unbiased: bool, who: str) -> None:
    if unbiased and not about.weight > 1:
        raise DataError(
            f"{who}: the unbiased estimate divides by N − 1, and N = {about.weight:g}. Pass more "
            "than one row (the sum of the weights counts as N), or use unbiased=False."
        )
