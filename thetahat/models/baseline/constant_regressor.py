"""The best constant prediction: θ̂ = argmin_c Σ wᵢ ℓ(yᵢ, c)."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.targets import check_targets


@with_parameters
class ConstantRegressor(ScoredRegressor, Estimator):
    """Baseline regressor that predicts one constant, the best one for a given loss.

    Use it to check whether another regressor has learned anything. X is validated but not used.

    Formula: ĉ = argmin_c Σ wᵢ ℓ(yᵢ, c): the mean for the squared loss, the median for the absolute
    loss, a quantile for the quantile loss.

    Cost: O(n) or O(n log n) time, depending on the loss; O(1) memory.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        Loss that the constant minimises. Any loss with one raw prediction per row, such as
        "absolute" or ``th.losses.Quantile(0.9)``.

    Attributes
    ----------
    constant_ : float
        The predicted constant (ĉ), in the units of y.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import thetahat as th
    >>> th.ConstantRegressor("absolute").fit([[0], [0], [0]], [1.0, 2.0, 90.0]).constant_
    2.0
    """

    _generative = False
    _parametric = True

    loss: Any = "squared"

    _everyday = "always the mean"
    _accepts_sparse = True
    _streams = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConstantRegressor:
        """Compute the constant. Cost: O(n) or O(n log n), depending on the loss.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows. They are validated but not used.
        y : array-like of shape (n,)
            Target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
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
        """Return the constant for every row. Cost: O(n).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted targets, all equal.
        """
        source = self._open_again(X)
        return np.full(source.n_rows, self.constant_, dtype=source.dtype)
