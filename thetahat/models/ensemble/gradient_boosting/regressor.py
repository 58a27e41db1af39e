"""Parts shared by the gradient boosting regressors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.extremes import require_squares_of_target
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss, Subdifferentiable
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.ensemble.gradient_boosting.base import BaseBoosting
from thetahat.models.ensemble.gradient_boosting.rounds import Rows


def loss_of_numbers(given: Any, who: str) -> Subdifferentiable:
    """The loss, if it has gradients and takes one raw prediction per row."""
    loss = named(given)
    if not isinstance(loss, Subdifferentiable):
        raise CapabilityError(
            f"{who}: gradient boosting needs the slopes (gradients) of the loss, and "
            f"{type(loss).__name__} loss has none. Use 'squared_error' or 'absolute_error'."
        )
    if loss.columns != "one":
        raise CapabilityError(
            f"{who}: {type(loss).__name__} loss is a loss for class labels. Use a classifier, such "
            "as HistGradientBoostingClassifier."
        )
    return loss


@with_parameters
class BaseBoostingRegressor(ScoredRegressor, BaseBoosting):
    """Regressor by boosting; predicts the mean under the link of the loss.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Loss to minimise, given by name, as an object such as ``th.losses.Tukey()``, or as a
        function of your own through ``th.loss(...)``. Frequent names are "squared_error",
        "absolute_error", "huber", "poisson" and "quantile".
    """

    _: KW_ONLY
    loss: Any = "squared_error"

    n_trees_per_iteration_ = 1

    @abstractmethod
    def _loss(self) -> Loss:
        """The loss that the parameters specify."""

    def _open_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        source = self._open(X, y, sample_weight)
        who = type(self).__name__
        require_squares_of_target(source, who=who)
        rows = self._rows_that_count(source)
        self.loss_ = loss_of_numbers(self._loss(), who)
        check_targets(self.loss_, rows.y, who=who)
        if self.loss_.link is Link.LOG and not rows.y.any():
            raise DataError(
                f"{who}: loss={self.loss!r} requires non-negative y and sum(y) > 0. All "
                f"{len(rows.y)} targets are 0, and no finite raw prediction f gives exp(f) = 0. "
                "Add rows with positive targets, or use loss='squared_error'."
            )
        self.n_trees_per_iteration_ = 1
        return rows

    def predict(self, X: Any) -> Array:
        """Predict the target of each row. Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The raw prediction, or its exponential for losses with a log link such as Poisson.
        """
        return self._predicted(self._raw(X), X)

    def _predicted(self, raw: Array, X: Any) -> Array:
        return np.asarray(self.loss_.mean(raw[:, 0])).astype(self._dtype(X), copy=False)
