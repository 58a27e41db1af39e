"""Gradient boosting for regression, with the parameters of scikit-learn."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, inner_fraction
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.residual.pinball import Quantile
from thetahat.models.ensemble.gradient_boosting.gradient_boosting_base import BaseGradientBoosting
from thetahat.models.ensemble.gradient_boosting.regressor import BaseBoostingRegressor


@with_parameters
class GradientBoostingRegressor(BaseGradientBoosting, BaseBoostingRegressor):
    """Gradient boosting for regression, with small trees or any regressor, for any loss.

    Each iteration fits a tree to the negative gradients of the loss and adds it to the model.
    ``max_depth=1`` boosts decision stumps. Prefer `HistGradientBoostingRegressor` for large data
    sets.

    Formula: f₀ = argmin_c Σ ℓ(y, c) and r = −∂ℓ/∂f. A tree is fitted to r by least squares, its
    leaf values are set to argmin_c Σ ℓ(y, f + c) (medians for the absolute error), and f ← f +
    η·tree. Splits are found on at most 255 bins per column. Another base estimator h is fitted to r
    in the same way: f ← f + η·α·h with α = argmin Σ ℓ(y, f + α·h).

    Cost: O(iterations · n · d · depth) time, or that of fitting the base estimators.

    Parameters
    ----------
    alpha : float, default=0.9
        Quantile level, between 0 and 1. With ``loss="quantile"``, the level to predict. With
        ``loss="huber"``, the quantile of the absolute residuals above which the loss is linear; it
        is recomputed in every iteration. Ignored by other losses.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 6, 100).reshape(-1, 1)
    >>> model = th.GradientBoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(model.train_score_[-1] < 1e-3)
    True

    Boosting linear regressions with the absolute error approximates median regression:

    >>> lines = th.GradientBoostingRegressor(
    ...     loss="absolute_error", estimator=th.LinearRegression()
    ... ).fit(X, 2 * X[:, 0] + 1)
    >>> bool(abs(lines.predict([[3.0]])[0] - 7.0) < 1e-2)
    True
    """

    _: KW_ONLY
    alpha: float = 0.9

    _ranges: ClassVar[dict[str, Range]] = {
        **BaseGradientBoosting._ranges,
        "alpha": inner_fraction,
    }

    def apply(self, X: Any) -> Array:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to send through the trees, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_iterations)
            Number of the leaf within its tree.
        """
        return super().apply(X)[:, :, 0]

    def _loss(self) -> Loss:
        return Quantile(level=self.alpha) if self.loss == "quantile" else named(self.loss)

    @property
    def _huber_level(self) -> float | None:
        return float(self.alpha) if self.loss == "huber" else None
