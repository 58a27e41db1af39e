"""The lasso with its penalty chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.watching import with_callbacks
from thetahat.models.linear.sparse.l1_cv import L1RegressorCV
from thetahat.models.linear.sparse.lasso_path import lasso_path


@with_parameters
class LassoCV(L1RegressorCV):
    """Lasso that chooses its penalty by cross-validation.

    Formula: α̂ = argmin over α of the mean squared error on the held-out rows, averaged over the
    folds. The final model is a `Lasso` with α̂ fitted to all rows.

    With many rows and few columns, one pass over the rows serves all folds: each fold is fitted
    from the merged moments of the other folds and evaluated with its own moments.

    Cost: about one Gram matrix, O(n d²), if d ≤ 500 < n; otherwise one `lasso_path` per fold.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.LassoCV(cv=4).fit(data.X, data.y)
    >>> model.mse_path_.shape
    (100, 4)
    """

    _everyday = "lasso"
    path = staticmethod(lasso_path)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> LassoCV:
        """Choose the penalty by cross-validation and fit the lasso to all rows."""
        self._fit_by_folds(X, y, sample_weight, np.ones(1), params)
        return self
