"""The elastic net with its penalty and its share of the L1 norm chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, check_value, fraction
from thetahat.estimator.watching import with_callbacks
from thetahat.models.linear.sparse.l1_cv import CV_RANGES, L1RegressorCV
from thetahat.models.linear.sparse.l1_regressor import L1Share
from thetahat.models.linear.sparse.lasso_path import enet_path

shares = fraction | Range(
    lambda value: (
        isinstance(value, list | tuple | np.ndarray)
        and np.ndim(value) == 1
        and len(value) > 0
        and all(fraction.holds(each) for each in value)
    ),
    "a list of such numbers",
)


@with_parameters
class ElasticNetCV(L1RegressorCV, L1Share):
    """Elastic net that chooses its penalty and its L1 share by cross-validation.

    Formula: (α̂, l̂) = argmin over α and l1_ratio of the mean squared error on the held-out rows,
    averaged over the folds. The final model is an `ElasticNet` with both values fitted to all rows.

    Cost: that of `LassoCV`. The passes over the rows are shared by all values of l1_ratio.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Share of the L1 norm in the penalty, between 0 and 1: 1 is the lasso penalty, 0 the ridge
        penalty. If a list is given, the best value is chosen by cross-validation. Put more values
        close to 1 than to 0, such as ``[.1, .5, .7, .9, .95, .99, 1]``.

    Attributes
    ----------
    l1_ratio_ : float
        The share of the L1 norm chosen by cross-validation.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The penalties that were tried for each value of l1_ratio, largest first.
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared error on the held-out rows, for each penalty and fold. NaN for folds that were
        not finished within ``th.config(max_time=...)``.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.ElasticNetCV(l1_ratio=[0.5, 0.9], cv=3).fit(data.X, data.y)
    >>> model.mse_path_.shape, model.l1_ratio_ in (0.5, 0.9)
    ((2, 100, 3), True)
    """

    _: KW_ONLY
    l1_ratio: Any = 0.5
    verbose: Any = 0

    path = staticmethod(enet_path)
    _ranges = CV_RANGES | {"l1_ratio": shares}

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> ElasticNetCV:
        """Choose the penalty by cross-validation and fit the elastic net to all rows."""
        check_value(self.l1_ratio, type(self)._ranges["l1_ratio"], "l1_ratio", type(self).__name__)
        shares = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        self.l1_ratio_ = self._fit_by_folds(X, y, sample_weight, shares, params)
        return self
