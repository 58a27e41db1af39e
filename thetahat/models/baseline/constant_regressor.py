"""The best constant: θ̂ = argmin_c Σ wᵢ ℓ(yᵢ, c)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from thetahat.data.in_memory import InMemory
from thetahat.estimator.base import Estimator
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.targets import check_targets


class ConstantRegressor(RegressorMixin, Estimator):
    """Predicts the same for every row: the constant that any loss likes best.

    Formula: ĉ = argmin_c Σ wᵢ ℓ(yᵢ, c): the mean for squared loss, the median for absolute loss, a
    quantile for quantile loss. What every regressor has to beat.

    Cost: O(n) or O(n log n) by the loss; O(1) memory.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        Any loss of one raw prediction, such as "absolute" or ``th.losses.Quantile(0.9)``.

    Attributes
    ----------
    constant_ : float
        ĉ, in the units of y.
    n_features_in_, feature_names_in_
        Of X, which is only checked.

    Examples
    --------
    >>> import thetahat as th
    >>> th.ConstantRegressor("absolute").fit([[0], [0], [0]], [1.0, 2.0, 90.0]).constant_
    2.0
    """

    _everyday = "always the mean"
    _accepts_sparse = True
    _streams = False

    def __init__(self, loss: Any = "squared") -> None:
        self.loss = loss

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConstantRegressor:
        """Find ĉ; X is only checked.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open(X, y, sample_weight)
        assert isinstance(source, InMemory)
        assert source.y is not None
        loss = named(self.loss)
        check_targets(loss, source.y, who=type(self).__name__, start=0)
        best = loss.best_constant(source.y.astype(np.float64), source.weight)
        self.constant_ = float(loss.mean(np.asarray(best, dtype=np.float64)))
        return self

    def predict(self, X: Any) -> Array:
        """ĉ for every row. Cost: O(n)."""
        source = self._open_again(X)
        return np.full(source.n_rows, self.constant_, dtype=source.dtype)
