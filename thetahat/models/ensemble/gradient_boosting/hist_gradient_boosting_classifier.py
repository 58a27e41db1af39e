"""Histogram gradient boosting for classification."""

from __future__ import annotations

from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_base import (
    BaseHistGradientBoosting,
)


@with_parameters
class HistGradientBoostingClassifier(BaseHistGradientBoosting, BaseBoostingClassifier):
    """Gradient boosting of classification trees on binned columns, for any loss.

    Columns are grouped into bins before training, so that each split only compares a few hundred
    candidates. This makes the estimator fast on large data sets. Missing values and categories are
    handled without preprocessing.

    Formula: f_m = f_{m−1} + η·tree_m. A split has the gain G_L²/(H_L+λ) + G_R²/(H_R+λ) − G²/(H+λ),
    and a leaf the value −G/(H+λ), where G and H are the sums of ∂ℓ/∂f and ∂²ℓ/∂f² over its rows.

    For K ≥ 3 classes there is one tree per class and iteration, and three rules differ from
    scikit-learn's, so that probabilities are less overconfident:

    - H is multiplied by K/(K−1), because the scores of all classes change at once.
    - 1/K is added to λ. This is the curvature of one row with equal class probabilities, so a leaf
      whose rows are almost certain of their class does not take an unlimited step.
    - `min_samples_leaf` counts each row by its curvature, divided by the mean curvature of the
      node, and rounds the sum. Rows whose class is almost certain count less, and rows whose class
      is uncertain may form a leaf of fewer rows. LightGBM counts in the same way.

    Cost: O(n·d) bytes for the binned rows and O(iterations · n · d · log leaves) time. Sparse rows
    stay sparse: the number of their entries takes the place of n·d, unless columns are categorical.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] % 100 < 50, "low", "high")
    >>> th.HistGradientBoostingClassifier().fit(X, y).predict([[20.0], [70.0]]).tolist()
    ['low', 'high']
    """

    loss: Any = "log_loss"
