"""The elastic net: ½ mean (y − Xβ − b)² + α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²)."""

from __future__ import annotations

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import fraction
from thetahat.models.linear.sparse.l1_regressor import L1Regressor, L1Share


@with_parameters
class ElasticNet(L1Regressor, L1Share):
    """Linear least squares with combined L1 and L2 penalties.

    Formula: β̂, b̂ = argmin (Σ wᵢ(yᵢ − xᵢᵀβ − b)²)/(2Σ wᵢ) + α·(l1_ratio·‖β‖₁ + (1 −
    l1_ratio)/2·‖β‖²), with β ≥ 0 if `positive`.

    Like the lasso it sets coefficients exactly to zero, but strongly correlated columns receive
    similar coefficients instead of only one of them being chosen. The solver is that of `Lasso`.
    Without an L1 part (``l1_ratio=0`` or ``alpha=0``) the problem is ridge regression or least
    squares and is solved directly.

    Cost: that of `Lasso`.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0]
    >>> th.ElasticNet(alpha=0.1, tol=1e-10).fit(X, y).coef_.round(4).tolist()
    [0.4458, 0.4458]
    """

    _search_space = L1Regressor._search_space | {"l1_ratio": (0.1, 0.5, 0.9)}
    _ranges = L1Regressor._ranges | {"l1_ratio": fraction}
