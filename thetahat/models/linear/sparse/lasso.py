"""The lasso: β̂ = argmin ½ mean (y − Xβ − b)² + α‖β‖₁, with β ≥ 0 if ``positive=True``."""

from __future__ import annotations

from thetahat.estimator.declaration import with_parameters
from thetahat.models.linear.sparse.l1_regressor import L1Regressor


@with_parameters
class Lasso(L1Regressor):
    """Linear least squares with an L1 penalty, which sets coefficients exactly to zero.

    Formula: β̂, b̂ = argmin (Σ wᵢ(yᵢ − xᵢᵀβ − b)²)/(2Σ wᵢ) + α‖β‖₁, with β ≥ 0 if `positive`. For
    orthonormal columns, β̂ is the soft threshold sign(z)·max(|z| − nα, 0) of z = Xᵀy. An objective
    written as RSS + τ‖β‖₁ corresponds to α = τ/(2n).

    The solver is coordinate descent on working sets of columns with gap-safe screening. It stops
    when the duality gap is at most ``tol``·‖y‖²/n.

    Cost: O(n d) for each of a few passes over all columns, and O(s²) per iteration on a working set
    of s columns. With many rows and few columns, O(n d²) for one Gram matrix, in memory or block by
    block.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.Lasso(alpha=0.1).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(2).tolist(), round(float(model.intercept_), 2)
    ([0.85, 0.0], 0.15)
    >>> model.solution_.gap_kind
    'duality gap'
    """

    l1_ratio = 1.0
