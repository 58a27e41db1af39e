"""What covariance estimators share: parameters, and warnings of singular covariances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import IllConditionedWarning
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.covariance_root import root_of
from thetahat.models.covariance.gaussian_model import GaussianModel


@with_parameters
class CovarianceModel(GaussianModel):
    """A Gaussian N(location_, covariance_); subclasses estimate the two.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to store the inverse of the covariance as ``precision_``. If False, `get_precision`
        computes it on each call.

    Attributes
    ----------
    precision_ : ndarray of shape (d, d) or None
        The inverse of the covariance, or its pseudo-inverse if it is singular. None if
        ``store_precision=False``.
    """

    _remedy: ClassVar[str] = "shrink the covariance with th.LedoitWolf"
    """What else helps if the covariance is singular."""
    _ranges: ClassVar[dict[str, Range]] = GaussianModel._ranges | {"store_precision": boolean}

    _: KW_ONLY
    store_precision: bool = True
    assume_centered: bool = False

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Estimate location and covariance.

        Parameters
        ----------
        X : array-like, sparse matrix or Source of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """

    def _keep(self, location: Array, covariance: Array, n_rows: int, dtype: Any) -> None:
        """Store the estimates and a root of the covariance."""
        who = type(self).__name__
        self._root = root_of(covariance, who)
        self.location_, self.covariance_ = location, covariance
        self.precision_ = self._root.precision if self.store_precision else None
        self._dtype = dtype
        if n_rows == 1:
            warn(
                f"{who}: Only one sample available. You may want to reshape your data array: one "
                "row has no spread."
            )
        elif self._root.is_singular:
            warn(
                f"{who}: the covariance is singular: its rank is {self._root.rank}, with "
                f"{len(location)} columns and {n_rows} rows. The density lies on a plane, and "
                "precision_ is a pseudo-inverse. Drop constant and linearly dependent columns, use "
                f"more rows, or {self._remedy}.",
                IllConditionedWarning,
            )
