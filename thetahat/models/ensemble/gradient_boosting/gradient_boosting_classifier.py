"""Gradient boosting for classification, with the parameters of scikit-learn."""

from __future__ import annotations

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.gradient_boosting_base import BaseGradientBoosting


@with_parameters
class GradientBoostingClassifier(BaseGradientBoosting, BaseBoostingClassifier):
    """Gradient boosting for classification, with small trees or any regressor, for any loss.

    Each iteration fits a tree to the negative gradients of the loss and adds it to the model.
    ``max_depth=1`` boosts decision stumps. Prefer `HistGradientBoostingClassifier` for large data
    sets.

    Formula: f₀ = argmin_c Σ ℓ(y, c) and r = −∂ℓ/∂f. A tree is fitted to r by least squares, its
    leaf values are set to argmin_c Σ ℓ(y, f + c), and f ← f + η·tree. Splits are found on at most
    255 bins per column. Another base estimator h is fitted to r in the same way: f ← f + η·α·h with
    α = argmin Σ ℓ(y, f + α·h).

    Cost: O(iterations · n · d · depth) time, or that of fitting the base estimators.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] % 20 < 10, "low", "high")
    >>> model = th.GradientBoostingClassifier(max_depth=2).fit(X, y)
    >>> model.predict([[4.0], [16.0]]).tolist()
    ['low', 'high']
    """
