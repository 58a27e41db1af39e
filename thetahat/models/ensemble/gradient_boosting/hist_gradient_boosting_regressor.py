"""Histogram gradient boosting for regression."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, inner_fraction, none
from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.residual.pinball import Quantile
from thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_base import (
    BaseHistGradientBoosting,
)
from thetahat.models.ensemble.gradient_boosting.regressor import BaseBoostingRegressor


@with_parameters
class HistGradientBoostingRegressor(BaseHistGradientBoosting, BaseBoostingRegressor):
    """Gradient boosting of regression trees on binned columns, for any loss.

    Columns are grouped into bins before training, so that each split only compares a few hundred
    candidates. This makes the estimator fast on large data sets. Missing values and categories are
    handled without preprocessing.

    Formula: f_m = f_{m−1} + η·tree_m. A split has the gain G_L²/(H_L+λ) + G_R²/(H_R+λ) − G²/(H+λ),
    where G and H are the sums of ∂ℓ/∂f and ∂²ℓ/∂f² over its rows. A leaf has the value argmin_c Σ
    ℓ(y, f + c): −G/(H+λ) for smooth losses, a quantile for pinball losses.

    Cost: O(n·d) bytes for the binned rows and O(iterations · n · d · log leaves) time. Sparse rows
    stay sparse: the number of their entries takes the place of n·d, unless columns are categorical.

    Parameters
    ----------
    quantile : float or None, default=None
        Quantile level to predict, between 0 and 1. Required with ``loss="quantile"`` and ignored
        otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 6, 400).reshape(-1, 1)
    >>> model = th.HistGradientBoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
    True
    """

    loss: Any = "squared_error"
    _: KW_ONLY
    quantile: float | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        **BaseHistGradientBoosting._ranges,
        "quantile": inner_fraction | none,
    }

    def _loss(self) -> Loss:
        if self.loss == "quantile":
            if self.quantile is None:
                raise ParameterError(
                    "HistGradientBoostingRegressor: loss='quantile' needs a quantile level, but "
                    "quantile=None. Set quantile=0.5 for the median."
                )
            return Quantile(level=self.quantile)
        return named(self.loss)
