"""The lasso by least angles: an exact path, whose last node is the model."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import at_least, boolean, whole
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.sparse.least_angle import LEAST_ANGLE_RANGES, LeastAngleRegressor
from thetahat.objective.lasso.least_angle import LeastAnglePath, PathRules


@with_parameters
class LassoLars(LeastAngleRegressor):
    """Lasso computed by least angle regression, with its whole path.

    Formula: β̂, b̂ = argmin (Σ wᵢ(yᵢ − xᵢᵀβ − b)²)/(2Σ wᵢ) + α‖β‖₁, with β ≥ 0 if `positive`. As α
    falls from α_max, β̂(α) is linear between nodes at which a column joins or leaves. The path is
    followed node by node down to `alpha`, to rounding accuracy. `Lasso` has the same minimum and is
    faster for a single penalty.

    Cost: O(n d²) for the Gram matrix, or O(n d) per step for many columns; O(d s) more per step
    with s columns in use. Memory O(d²), or O(n d).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty (α) at which the path ends, relative to the mean squared error. 0
        gives ordinary least squares.
    max_iter : int, default=500
        Maximum number of steps of the path. Raise it if the fit warns that it did not reach
        `alpha`.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LassoLars(alpha=0.01)
    >>> model.fit([[-1, 1], [0, 0], [1, 1]], [-1, 0, -1]).coef_.round(4).tolist()
    [0.0, -0.955]
    >>> model.alphas_.round(4).tolist()
    [0.2222, 0.01]
    """

    alpha: float = 1.0
    _: KW_ONLY
    max_iter: int = 500
    positive: bool = False

    method = "lasso"
    _ranges = LEAST_ANGLE_RANGES | {
        "alpha": at_least(0),
        "max_iter": whole(1),
        "positive": boolean,
    }

    def _rules(self) -> PathRules:
        return PathRules(
            lasso=True,
            positive=self.positive,
            max_iter=self.max_iter,
            alpha_min=self.alpha,
            keep_path=self.fit_path,
        )

    def _solution(self, path: LeastAnglePath) -> Solution:
        found = super()._solution(path)
        if found.outcome is Outcome.EXACT:
            return found
        return replace(
            found,
            message=(
                f"the path ended after {path.steps} steps at alpha = {path.alphas[-1]:.3g}, before "
                f"alpha={self.alpha:g}. Raise max_iter, or use Lasso"
            ),
        )
