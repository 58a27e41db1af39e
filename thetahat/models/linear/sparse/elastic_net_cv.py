"""The elastic net with its penalty and its share of the L1 norm chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, fraction
from thetahat.models.linear.sparse.l1_cv import CV_RANGES, L1RegressorCV
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
class ElasticNetCV(L1RegressorCV):
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
    eps : float, default=1e-3
        Ratio of the smallest to the largest penalty on the path. Smaller values make the path
        longer. Only used if `alphas` is an int.
    alphas : int or array-like, default=100
        Number of penalties along the path, or the values themselves. An int gives a geometric
        sequence from the smallest penalty at which all coefficients are zero down to `eps` times
        that value.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    precompute : bool, "auto" or array of shape (d, d), default="auto"
        Whether to form the Gram matrix XᵀX. True always forms it. An array is used as the Gram
        matrix after it has been checked against X; with an intercept it must be that of the centred
        columns. False and "auto" choose the faster way by the size of X.
    max_iter : int, default=1000
        Maximum number of iterations for each penalty. One iteration updates every coefficient of
        the working set once. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the duality gap is at most ``tol * ‖y‖² / n``.
        Smaller values give a more exact solution and take longer.
    cv : int, splitter, iterable or None, default=None
        Folds for the cross-validation. An int is the number of folds; a splitter of scikit-learn or
        an iterable of (train, test) row numbers is used as given. None means 5 folds.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    verbose : bool or int, default=0
        Has no effect. Accepted for compatibility with scikit-learn.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    positive : bool, default=False
        Whether to force all coefficients to be non-negative (β ≥ 0). The intercept is not
        constrained.
    random_state : int, RandomState or None, default=None
        Has no effect, because the solver uses no random numbers. Accepted for compatibility with
        scikit-learn.
    selection : {"cyclic", "random"}, default="cyclic"
        Has no effect. Accepted for compatibility with scikit-learn; the coefficients are updated in
        cyclic order, which leads to the same optimum.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen by cross-validation.
    l1_ratio_ : float
        The share of the L1 norm chosen by cross-validation.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The penalties that were tried for each value of l1_ratio, largest first.
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared error on the held-out rows, for each penalty and fold. NaN for folds that were
        not finished within ``th.config(max_time=...)``.
    coef_ : array of shape (d,)
        Estimated coefficients (β̂), one per column.
    intercept_ : float
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse array of shape (1, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float
        Duality gap of the final fit: its objective is at most this much above its minimum.
    n_iter_ : int
        Number of iterations of the final fit.
    solution_ : Solution
        Report of the solver for the final fit: how it stopped, the number of iterations and the
        remaining optimality gap.

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
    eps: float = 1e-3
    alphas: Any = 100
    fit_intercept: bool = True
    precompute: Any = "auto"
    max_iter: int = 1000
    tol: float = 1e-4
    cv: Any = None
    copy_X: bool = True
    verbose: Any = 0
    n_jobs: int | None = None
    positive: bool = False
    random_state: Any = None
    selection: str = "cyclic"

    path = staticmethod(enet_path)
    _ranges = CV_RANGES | {"l1_ratio": shares}

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> ElasticNetCV:
        """Choose the penalty by cross-validation and fit the elastic net to all rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n,)
            Target values, one per row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        **params : dict
            Metadata for the splitter `cv`, such as ``groups``. Needs scikit-learn's metadata
            routing: ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        shares = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        self.l1_ratio_ = self._fit_by_folds(X, y, sample_weight, shares, params)
        return self
