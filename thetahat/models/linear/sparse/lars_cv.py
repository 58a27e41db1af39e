"""Paths of least angles, with and without columns that leave, ended by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import boolean
from thetahat.models.linear.sparse.least_angle_cv import LeastAngleCV
from thetahat.objective.lasso.least_angle import PathRules


@with_parameters
class LarsCV(LeastAngleCV):
    """Least angle regression that chooses the end of its path by cross-validation.

    Formula: α̂ = argmin over α of the mean squared error on the held-out rows, averaged over the
    folds. All nodes of all folds are compared; between two nodes the coefficients are linear. The
    final model is the point α̂ of the path of `Lars` for all rows.

    Cost: one pass over the rows and O(d³) per fold if d ≤ 500 < n; otherwise one path per fold.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.LarsCV(cv=4).fit(data.X, data.y)
    >>> model.mse_path_.shape[1], bool(model.alpha_ in model.cv_alphas_)
    (4, True)
    """

    method = "lar"

    def _rules(self, alpha_min: float = 0.0) -> PathRules:
        return PathRules(max_iter=self.max_iter, alpha_min=alpha_min)


@with_parameters
class LassoLarsCV(LeastAngleCV):
    """Lasso computed by least angle regression that chooses its penalty by cross-validation.

    Formula: α̂ = argmin over α of the mean squared error on the held-out rows, averaged over the
    folds. The penalties that are compared are the nodes of the exact paths of all folds, so that no
    grid has to be chosen; `LassoCV` compares a grid and is faster for many columns. The final model
    is a `LassoLars` with α̂ fitted to all rows.

    Cost: one pass over the rows and O(d³) per fold if d ≤ 500 < n; otherwise one path per fold.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.LassoLarsCV(cv=4).fit(data.X, data.y)
    >>> model.mse_path_.shape[1], bool(model.alpha_ in model.cv_alphas_)
    (4, True)
    """

    _: KW_ONLY
    positive: bool = False

    _ranges = LeastAngleCV._ranges | {"positive": boolean}
    method = "lasso"

    def _rules(self, alpha_min: float = 0.0) -> PathRules:
        return PathRules(True, self.positive, self.max_iter, alpha_min)
