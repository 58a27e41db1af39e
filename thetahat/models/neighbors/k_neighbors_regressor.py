"""k-nearest-neighbour regression: f(x) = Σ_{i ∈ N_k(x)} w_i y_i/Σ_{i ∈ N_k(x)} w_i."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.queries import SPACE_OF_NEIGHBORS, KNearest
from thetahat.models.neighbors.targets import NeighborsRegressor
from thetahat.models.neighbors.weights import neighbor_weights, summable_targets


@with_parameters
class KNeighborsRegressor(NeighborsRegressor, KNearest):
    """Regression by the average of the k nearest training rows.

    Formula: ŷ(x) = Σ_{i ∈ N_k(x)} w_i y_i/Σ_{i ∈ N_k(x)} w_i, over the k nearest rows.

    Cost: a kd-tree takes O(n log n · d) to build and O(log n) per prediction on average for few
    columns; brute force takes O(n d) per prediction. Memory: two copies of the rows.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.KNeighborsRegressor(n_neighbors=2)
    >>> model.fit([[0.0], [1.0], [2.0]], [0.0, 10.0, 40.0]).predict([[1.8]])
    array([25.])
    """

    _ranges: ClassVar[dict[str, Range]] = {**KNearest._ranges, **NeighborsRegressor._ranges}
    _everyday = "nearest neighbours"
    _search_space = SPACE_OF_NEIGHBORS

    n_neighbors: int = 5
    _: KW_ONLY
    weights: Any = "uniform"

    def predict(self, X: Any) -> Array:
        """Predict the average target of the neighbours. Cost: that of `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), or None
            Rows to predict, with the same columns as in `fit`. None predicts the training rows, of
            which none counts as its own neighbour.

        Returns
        -------
        y : array of shape (m,) or (m, n_targets)
            Predicted values.
        """
        averages, dtype = self._map_queries(X, self._averages)
        return np.asarray(averages).astype(dtype, copy=False)

    def _averages(self, rows: Matrix | None) -> Array:
        found = self._nearest(rows)
        weight = neighbor_weights(found.distance, self.weights, type(self).__name__)
        targets, unit = summable_targets(self._targets[found.row])
        if weight is None:
            return np.asarray(unit * targets.mean(axis=1))
        total = weight.sum(axis=1)
        if targets.ndim == 2:
            return np.asarray(unit * ((weight * targets).sum(axis=1) / total))
        return np.asarray(unit * ((weight[:, :, None] * targets).sum(axis=1) / total[:, None]))
