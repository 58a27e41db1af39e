"""The elastic net: ½ mean (y − Xβ − b)² + α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²)."""

from __future__ import annotations

from typing import Any

from sklearn.callback import with_callbacks

from thetahat.estimator.parameters import at_least, boolean, fraction
from thetahat.models.linear.sparse.l1_regressor import SOLVER_RANGES, L1Regressor
from thetahat.models.linear.sparse.lasso_path import enet_path


class ElasticNet(L1Regressor):
    """Least squares with L1 and L2 penalties: sparse, and correlated columns share their weight.

    Formula: β̂, b̂ = argmin (Σ wᵢ(yᵢ − xᵢᵀβ − b)²)/(2Σ wᵢ) + α·(l1_ratio·‖β‖₁ +
    (1 − l1_ratio)/2·‖β‖²), with β ≥ 0 if `positive`. Solved as `Lasso` is; without an L1 part
    (``l1_ratio=0`` or ``alpha=0``) directly, as ridge or least squares.

    Cost: that of `Lasso`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, on the *mean* squared error.
    l1_ratio : float, default=0.5
        Share of the L1 norm, between 0 (ridge) and 1 (lasso).
    fit_intercept, precompute, max_iter, copy_X, tol, warm_start, positive, random_state, selection
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, solution_
        As in `Lasso`.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0]
    >>> th.ElasticNet(alpha=0.1, tol=1e-10).fit(X, y).coef_.round(4).tolist()
    [0.4458, 0.4458]
    """

    path = staticmethod(enet_path)
    _ranges = SOLVER_RANGES | {"alpha": at_least(0), "l1_ratio": fraction, "warm_start": boolean}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ElasticNet:
        """Fit; parameters as in `Lasso.fit`."""
        self._fit(X, y, sample_weight, l1_ratio=self.l1_ratio)
        return self
