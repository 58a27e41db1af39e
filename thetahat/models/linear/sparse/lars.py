"""Least angle regression: all columns in use keep the same correlation with the residual."""

from __future__ import annotations

from dataclasses import KW_ONLY

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import whole
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.linear.sparse.least_angle import (
    LEAST_ANGLE_RANGES,
    LeastAngleRegressor,
    ended_as_asked,
)
from thetahat.objective.lasso.least_angle import LeastAnglePath, PathRules


@with_parameters
class Lars(LeastAngleRegressor):
    """Least angle regression: columns join one by one, and none leaves.

    Formula: start with β = 0 and the column that is most correlated with y. Then move β_A along
    w = (X_AᵀX_A)⁻¹ sign(X_Aᵀr), which lowers the correlations |xⱼᵀr| of the columns A in use
    equally, until another column has the same correlation; it joins A. After d steps β is the
    least-squares fit.

    Cost: O(n d²) for the Gram matrix, or O(n d) per step for many columns; O(d s) more per step
    with s columns in use. Memory O(d²), or O(n d).

    Parameters
    ----------
    n_nonzero_coefs : int, default=500
        Number of columns to select, which is the number of steps. All columns are selected if it is
        larger than d.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.Lars(n_nonzero_coefs=1)
    >>> model.fit([[-1, 1], [0, 0], [1, 1]], [-1.1111, 0, -1.1111]).coef_.round(4).tolist()
    [0.0, -1.1111]
    >>> model.alphas_.round(4).tolist(), model.active_
    ([0.2469, 0.0], [1])
    """

    _: KW_ONLY
    n_nonzero_coefs: int = 500

    method = "lar"
    positive = False
    _why_no_errors = "they would be too small, because the same rows selected the columns"
    _ranges = LEAST_ANGLE_RANGES | {"n_nonzero_coefs": whole(1)}

    def _rules(self) -> PathRules:
        return PathRules(max_iter=self.n_nonzero_coefs, keep_path=self.fit_path)

    def _solution(self, path: LeastAnglePath) -> Solution:
        """A path that ends after the requested number of steps is complete."""
        return ended_as_asked(super()._solution(path))
