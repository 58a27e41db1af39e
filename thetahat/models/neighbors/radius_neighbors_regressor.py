"""Radius regression: f(x) = Σ w_i y_i/Σ w_i over the rows with d(x, x_i) ≤ r."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.queries import InRadius
from thetahat.models.neighbors.search.found import Within
from thetahat.models.neighbors.targets import NeighborsRegressor
from thetahat.models.neighbors.weights import flat_weights, summable_targets


@with_parameters
class RadiusNeighborsRegressor(NeighborsRegressor, InRadius):
    """Regression by the average of all training rows within a radius.

    Formula: ŷ(x) = Σ w_i y_i/Σ w_i over the rows with d(x, x_i) ≤ r. Rows without a neighbour get
    NaN and a warning.

    Cost: O(log n + neighbours) per prediction with a kd-tree on average for few columns, else
    O(n d). Memory: two copies of the rows, and all neighbours of the predicted rows.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.RadiusNeighborsRegressor(radius=1.0)
    >>> model.fit([[0.0], [1.0], [4.0]], [0.0, 10.0, 40.0]).predict([[0.5], [4.5]])
    array([ 5., 40.])
    """

    _ranges: ClassVar[dict[str, Range]] = {**InRadius._ranges, **NeighborsRegressor._ranges}
    _for_few_rows = True

    radius: float = 1.0
    _: KW_ONLY
    weights: Any = "uniform"

    @classmethod
    def _example(cls) -> RadiusNeighborsRegressor:
        return cls(radius=4.0, weights="distance")

    def predict(self, X: Any) -> Array:
        """Predict the average target of the neighbours. Cost: that of `radius_neighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), or None
            Rows to predict, with the same columns as in `fit`. None predicts the training rows, of
            which none counts as its own neighbour.

        Returns
        -------
        y : array of shape (m,) or (m, n_targets)
            Predicted values; NaN for rows without a neighbour within the radius.
        """
        averages, dtype = self._map_queries(X, self._averages)
        predicted = np.asarray(averages)
        alone = np.isnan(predicted.reshape(predicted.shape[0], -1)[:, 0])
        if alone.any():
            warn(
                f"RadiusNeighborsRegressor: {np.count_nonzero(alone)} of {alone.shape[0]} rows "
                f"have no neighbors within the radius {self.radius:g} (first at row "
                f"{alone.argmax()}); predicting NaN as their prediction. Use a larger radius.",
                UserWarning,
            )
        return predicted.astype(dtype, copy=False)

    def _averages(self, rows: Matrix | None) -> Array:
        blocks = [
            self._averages_of(found, some.start) for some, found in self._within_by_blocks(rows)
        ]
        averages = np.concatenate(blocks)
        return averages[:, 0] if self._targets.ndim == 1 else averages

    def _averages_of(self, found: Within, first: int) -> Array:
        """The weighted means of the targets of the neighbours, (m, n_targets)."""
        m, query = found.counts.shape[0], np.repeat(np.arange(found.counts.shape[0]), found.counts)
        weight = flat_weights(found, self.weights, type(self).__name__, first)
        total = np.bincount(query, weight, minlength=m)
        targets = self._targets.reshape(self._targets.shape[0], -1)
        means = []
        for column in targets.T:
            values, unit = summable_targets(column[found.row])
            sums = np.bincount(query, values * (1.0 if weight is None else weight), minlength=m)
            with np.errstate(invalid="ignore"):
                means.append(unit * (sums / total))
        return np.stack(means, axis=1)
