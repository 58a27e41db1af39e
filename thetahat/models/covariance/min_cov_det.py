"""Minimum covariance determinant: a covariance that outliers cannot change much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.randomness import RandomState
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import root_of
from thetahat.mathematics.linalg.square import as_symmetric
from thetahat.models.covariance.empirical_covariance import empirical_covariance
from thetahat.models.covariance.robust import RobustCovariance


@with_parameters
class MinCovDet(RobustCovariance):
    """Robust location and covariance by the minimum covariance determinant (MCD).

    Formula: among all sets of h rows, the one whose covariance has the smallest determinant gives
    the raw estimate; a factor makes it consistent for Gaussian rows. Rows beyond the 97.5% quantile
    of χ²_d are left out, and the mean and corrected covariance of the others are the result. Up to
    about n − h outliers that lie far from the other rows have little influence. Outliers in a tight
    cluster are harder: rows of the cluster make the determinant small, so that a large cluster near
    the other rows can be taken for a part of them. Compare several values of ``support_fraction``.

    Cost: about 100 passes over the rows of O(n d²) each, and O(500·300·d²) for the starts; O(n d)
    memory. The search (FastMCD) is random and finds a local minimum; pass ``random_state`` for the
    same result on every call. Row weights are not supported.

    References
    ----------
    P. J. Rousseeuw and K. Van Driessen, "A fast algorithm for the minimum covariance determinant
    estimator", Technometrics 41 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> X[:40] += 10.0
    >>> th.EmpiricalCovariance().fit(X).location_.round(1).tolist()
    [1.9, 2.0]
    >>> bool(abs(th.MinCovDet(random_state=0).fit(X).location_).max() < 0.2)
    True
    """

    def fit(self, X: Any, y: Any = None) -> MinCovDet:  # type: ignore[override]
        """Search the rows with the smallest determinant, correct and reweight.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows with finite numbers, at least 2.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit_robust(X)
        return self


def fast_mcd(
    X: Any,
    support_fraction: float | None = None,
    cov_computation_method: Callable[[Array], Any] = empirical_covariance,
    random_state: RandomState = None,
) -> tuple[Array, Array, Array, Array]:
    """Search the rows whose covariance has the smallest determinant (FastMCD).

    The result is the raw estimate: neither corrected for consistency nor reweighted. `MinCovDet`
    does both. Cost: about 100 passes over the rows of O(n d²) each; O(n d) memory.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows with finite numbers, at least 2.
    support_fraction : float or None, default=None
        Share of the rows that are searched (h/n), more than 0 and at most 1. Smaller values resist
        more outliers. None means (n + d + 1)/(2n).
    cov_computation_method : callable, default=th.empirical_covariance
        Takes the rows that were found, of shape (h, d), and returns their covariance. The search
        itself uses the empirical covariance.
    random_state : int, Generator or None, default=None
        Seed for the random starts of the search. Pass an int for the same result on every call.

    Returns
    -------
    location : ndarray of shape (d,)
        Mean of the rows that were found.
    covariance : ndarray of shape (d, d)
        Covariance of the rows that were found.
    support : ndarray of shape (n,)
        Whether each row is one of the rows that were found.
    dist : ndarray of shape (n,)
        Squared Mahalanobis distances of all rows from the location.

    Examples
    --------
    >>> import thetahat as th
    >>> rows = [[0.0], [1.0], [2.0], [3.0], [90.0]]
    >>> location, covariance, support, dist = th.fast_mcd(rows, 0.8, random_state=0)
    >>> location.tolist(), covariance.tolist(), support.tolist()
    ([1.5], [[1.25]], [True, True, True, True, False])
    """
    model = MinCovDet(support_fraction=support_fraction, random_state=random_state).fit(X)
    rows = cast(InMemory, model._open_again(X))
    location, found = model.raw_location_, np.flatnonzero(model.raw_support_)
    covariance = as_symmetric(cov_computation_method(rows.take(found).X), who="fast_mcd")
    root = root_of(covariance, "fast_mcd")
    dist = root.squared_distances(rows, location, support=False)
    return location, covariance, model.raw_support_, dist
