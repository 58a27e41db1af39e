"""k-nearest-neighbour classification: f(x) = argmax_c Σ_{i ∈ N_k(x)} w_i·1[y_i = c]."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.queries import SPACE_OF_NEIGHBORS, KNearest
from thetahat.models.neighbors.targets import NeighborsClassifier
from thetahat.models.neighbors.weights import neighbor_weights


@with_parameters
class KNeighborsClassifier(NeighborsClassifier, KNearest):
    """Classification by a vote of the k nearest training rows.

    With k = 1 the class of the nearest row is predicted: the training rows divide the space into
    Voronoi cells, and the training error is 0 if no two rows are equal. The error tends to the
    Bayes error if k grows with the number of rows and k/n tends to 0, such as k = log n.

    Formula: P(y = c | x) = Σ_{i ∈ N_k(x)} w_i·1[y_i = c]/Σ_{i ∈ N_k(x)} w_i; the label is the class
    with the largest share, and the first one in ``classes_`` in case of ties.

    Cost: a kd-tree takes O(n log n · d) to build and O(log n) per prediction on average for few
    columns; brute force takes O(n d) per prediction. Memory: two copies of the rows.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.KNeighborsClassifier(n_neighbors=3)
    >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.predict([[1.1]]).tolist(), model.predict_proba([[0.9]]).round(3).tolist()
    (['a'], [[0.667, 0.333]])
    """

    _ranges: ClassVar[dict[str, Range]] = {**KNearest._ranges, **NeighborsClassifier._ranges}
    _everyday = "nearest neighbours"
    _search_space = SPACE_OF_NEIGHBORS
    _predicts_most_probable: ClassVar[bool] = True

    n_neighbors: int = 5
    _: KW_ONLY
    weights: Any = "uniform"

    def predict_proba(self, X: Any) -> Any:
        """Compute the shares of the classes among the neighbours. Cost: that of `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), or None
            Rows to predict, with the same columns as in `fit`. None predicts the training rows, of
            which none counts as its own neighbour.

        Returns
        -------
        probabilities : array of shape (m, n_classes), or list of such arrays
            Probabilities in the order of ``classes_``; one array per column of labels if there are
            several.
        """
        votes, dtype = self._map_votes(X)
        found = [
            (each / each.sum(axis=1, keepdims=True)).astype(dtype, copy=False) for each in votes
        ]
        return found if self.outputs_2d_ else found[0]

    def predict(self, X: Any) -> Array:
        """Predict the class with the most votes. Cost: that of `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), or None
            Rows to predict, with the same columns as in `fit`. None predicts the training rows, of
            which none counts as its own neighbour.

        Returns
        -------
        labels : array of shape (m,) or (m, n_outputs)
            The predicted class labels.
        """
        return self._first_labels(self._map_votes(X)[0])

    def _votes(self, rows: Matrix | None) -> list[Array]:
        """The weight of each class among the neighbours, (m, n_classes), per column of labels."""
        found = self._nearest(rows)
        weight = neighbor_weights(found.distance, self.weights, type(self).__name__)
        m = found.row.shape[0]
        return self._votes_of(np.arange(m)[:, None], found.row, weight, m)
