"""A region that contains most rows: the support of a distribution, by a support vector machine."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import OutlierDetector
from thetahat.estimator.parameters import positive_fraction
from thetahat.foundation.types import Array
from thetahat.models.kernel.support.regressor import OneFunction
from thetahat.models.kernel.support.start import filled
from thetahat.objective.kernel.support_dual import BoxDual


@with_parameters
class OneClassSVM(OutlierDetector, OneFunction):
    """Outlier detection by a region that contains most training rows.

    Formula: min ½‖f‖² − νρ·Σw + Σ wᵢ [ρ − f(xᵢ)]₊ over kernel functions f and ρ; rows with
    f(x) < ρ are outliers. At most the share ν of the training rows are outliers, and at least the
    share ν are support vectors.

    Cost: as for `SVC`.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of training rows that are outliers, and lower bound of the share
        of support vectors (ν). Larger values give a smaller region. Must be more than 0 and at
        most 1.

    Attributes
    ----------
    offset_ : array of shape (1,)
        The level ρ: the decision function is f(x) − ρ.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [0.44], [0.45], [0.46], [1.0]]
    >>> th.OneClassSVM(gamma="auto").fit(X).predict([[0.45], [5.0]]).tolist()
    [1, -1]
    """

    _has_free_intercept = False

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: Any = 3
    gamma: Any = "scale"
    coef0: Any = 0.0
    tol: float = 1e-3
    nu: float = 0.5
    shrinking: bool = True
    cache_size: Any = 200
    verbose: Any = False
    max_iter: int = -1

    _ranges = OneFunction._ranges | {"nu": positive_fraction}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Find the region. Cost: between O(n²d) and O(n³).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n).
        y : object, optional
            Not used; accepted for pipelines.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        rows, used, weight = self._begin(source)
        zero = np.zeros(len(used))
        start = filled(weight, self.nu * float(weight.sum()))
        which = used if len(used) < rows.n_rows else None
        found = self._solve(
            self._training_rows(rows), which, BoxDual(zero, zero, weight, start=start)
        )
        self.offset_ = -np.array(found.offsets)
        self._keep_function(rows, used, found.beta, found.offsets[0], found)
        return self

    def decision_function(self, X: Any) -> Array:
        """Compute f(x) − ρ, which is negative for outliers. Cost: O(n m d).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to score.

        Returns
        -------
        array of shape (n,)
        """
        return self._scores(X)[:, 0]

    def score_samples(self, X: Any) -> Array:
        """Compute f(x) = decision_function(x) + ρ. Cost: O(n m d).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to score.

        Returns
        -------
        array of shape (n,)
        """
        scores = self.decision_function(X)
        return scores + np.asarray(self.offset_, dtype=scores.dtype)
