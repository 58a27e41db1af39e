"""Classification by the nearest of few labelled rows: f(x) = y_j, j = argmin_j d(x, p_j)."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Distance
from thetahat.models.neighbors.search.index import NeighborIndex, suits_tree

LEAF_SIZE = 30


class NearestPrototype(Classifier):
    """A classifier that keeps few labelled rows and takes the label of the nearest.

    Attributes
    ----------
    prototypes_ : array of shape (n_prototypes, d)
        The rows that are kept, to which new rows are compared.
    prototype_labels_ : array of shape (n_prototypes,)
        The class label of each kept row.
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _parametric = False
    _streams = False

    prototypes_: Array
    prototype_labels_: Array
    _indices: list[NeighborIndex | None]

    def _keep(self, prototypes: Array, codes: Array, distance: Distance) -> None:
        """Keep the rows, with an index for each class that has any."""
        labels = self.classes_[codes]
        indices: list[NeighborIndex | None] = []
        for code in range(self.classes_.shape[0]):
            rows = np.ascontiguousarray(prototypes[codes == code])
            if not rows.shape[0]:  # each row of the class equals an earlier one of another class
                indices.append(None)
                continue
            algorithm = "kd_tree" if _has_tree(distance) and suits_tree(*rows.shape) else "brute"
            indices.append(NeighborIndex(rows, distance, algorithm, LEAF_SIZE))
        # At once, so that fits in several threads do not leave parts of two models.
        self.__dict__.update(prototypes_=prototypes, prototype_labels_=labels, _indices=indices)

    def decision_function(self, X: Any) -> Array:
        """Compute how near the kept rows of each class are. Cost: O(n_prototypes · d) per row.

        Parameters
        ----------
        X : array-like or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        scores : array of shape (m,) or (m, n_classes)
            The negative distance to the nearest kept row of each class. For two classes, the
            distance to the first class minus that to the second, which is positive for rows of the
            second class.
        """
        source = self._open_again(X)
        distance = self._distances(source)
        if distance.shape[1] == 2:
            is_tie = distance[:, 1] == distance[:, 0]  # the difference of infinities is no number
            distance = np.where(is_tie, 0.0, distance[:, 1]) - np.where(is_tie, 0.0, distance[:, 0])
        elif distance.shape[1] == 1:
            distance = distance[:, 0]
        return np.asarray(-distance).astype(source.dtype, copy=False)

    def predict(self, X: Any) -> Array:
        """Predict the class of the nearest kept row. Cost: O(n_prototypes · d) per row.

        Parameters
        ----------
        X : array-like or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (m,)
            The predicted class labels; of two classes at the same distance, the first one in
            ``classes_``.
        """
        nearest = np.argmin(self._distances(self._open_again(X)), axis=1)
        return self.classes_[nearest]

    def _distances(self, source: Any) -> Array:
        """The distance to the nearest kept row of each class, (m, n_classes)."""

        def of_rows(rows: Matrix) -> Array:
            parts = np.full((rows.shape[0], len(self._indices)), np.inf)
            for code, index in enumerate(self._indices):
                if index is not None:
                    parts[:, code] = index.nearest(rows, 1).distance[:, 0]
            return parts

        def of_block(block: Block) -> Array:
            return of_rows(block.X)

        return of_rows(source.X) if isinstance(source, InMemory) else source.map_rows(of_block)


def _has_tree(distance: Distance) -> bool:
    return getattr(distance, "order", None) is not None
