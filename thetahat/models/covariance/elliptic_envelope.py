"""Outlier detection by a robust ellipse around the rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.row_subset import target_arrays
from thetahat.data.source import Source
from thetahat.data.validation import as_weight
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import OutlierDetector
from thetahat.estimator.parameters import Range, more_than
from thetahat.estimator.source_scores import accuracy_of_source
from thetahat.foundation.types import Array
from thetahat.models.covariance.robust import RobustCovariance


@with_parameters
class EllipticEnvelope(OutlierDetector, RobustCovariance):
    """Outlier detection by the robust Mahalanobis distance: rows outside an ellipse are outliers.

    Formula: x is an outlier if (x − μ)ᵀΣ⁻¹(x − μ) > t, with the location and the covariance of
    `MinCovDet`, and t such that the share ``contamination`` of the training rows are outliers.

    Cost: as for `MinCovDet`; O(d²) per row to predict.

    Parameters
    ----------
    contamination : float, default=0.1
        Share of the training rows that are outliers, more than 0 and at most 0.5.

    Attributes
    ----------
    offset_ : float
        Threshold of `score_samples` below which a row is an outlier (−t).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> th.EllipticEnvelope(random_state=0).fit(X).predict([[0.0, 0.0], [4.0, -4.0]]).tolist()
    [1, -1]
    """

    _: KW_ONLY
    store_precision: bool = True
    assume_centered: bool = False
    support_fraction: float | None = None
    contamination: float = 0.1
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = RobustCovariance._ranges | {
        "contamination": more_than(0, 0.5),
    }

    def fit(self, X: Any, y: Any = None) -> EllipticEnvelope:  # type: ignore[override]
        """Fit the robust location and covariance, and the threshold.

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
        self.offset_ = float(np.percentile(-self.dist_, 100.0 * self.contamination))
        return self

    def score_samples(self, X: Any) -> Array:
        """Compute the negative squared Mahalanobis distance of each row. Cost: O(d²) per row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        scores : ndarray of shape (n,)
            Smaller scores are farther from the centre. The log-density is `log_density`.
        """
        return -self.mahalanobis(X)

    def decision_function(self, X: Any) -> Array:
        """Compute `score_samples` minus the threshold: negative for outliers. Cost: O(d²) per row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        decision : ndarray of shape (n,)
            The signed score of every row.
        """
        scores = self.score_samples(X)
        return scores - self.offset_

    def score(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> float:
        """Compute the share of rows whose label is predicted correctly.

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`. A `Source` contains the labels and
            the weights.
        y : array-like of shape (n,)
            True labels, 1 or −1. None counts every row as 1.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        accuracy : float
            Share of correct labels, from 0 to 1.
        """
        if isinstance(X, Source):
            if X.has_target:
                return accuracy_of_source(self, X)
            sample_weight = target_arrays(X)[1]
        labels = self.predict(X)
        right = labels == (1 if y is None else np.asarray(y))
        n = len(labels)
        weight = np.ones(n) if sample_weight is None else as_weight(sample_weight, n, "score")
        return float(np.average(right, weights=weight))
