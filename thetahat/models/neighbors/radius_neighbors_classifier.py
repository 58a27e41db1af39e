"""Radius classification: f(x) = argmax_c Σ_{d(x, x_i) ≤ r} w_i·1[y_i = c]."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.base import flat_weights
from thetahat.models.neighbors.queries import InRadius
from thetahat.models.neighbors.targets import NeighborsClassifier


@with_parameters
class RadiusNeighborsClassifier(NeighborsClassifier, InRadius):
    """Classification by a vote of all training rows within a radius.

    Formula: P(y = c | x) = Σ w_i·1[y_i = c]/Σ w_i over the rows with d(x, x_i) ≤ r; the label is
    the class with the largest share, and the first one in ``classes_`` in case of ties.

    Cost: O(log n + neighbours) per prediction with a kd-tree on average for few columns, else
    O(n d). Memory: two copies of the rows, and all neighbours of the predicted rows.

    Parameters
    ----------
    outlier_label : label, "most_frequent" or None, default=None
        Label of rows without a neighbour within the radius. "most_frequent" is the most frequent
        class of the training rows. None raises an error for such rows.

    Attributes
    ----------
    outlier_label_ : label or None
        Label of rows without neighbours, or None if such rows are an error.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.RadiusNeighborsClassifier(radius=1.0, outlier_label="far")
    >>> model = model.fit([[0.0], [0.5], [3.0]], ["a", "a", "b"])
    >>> model.predict([[0.2], [3.5], [9.0]]).tolist()
    ['a', 'b', 'far']
    """

    _ranges: ClassVar[dict[str, Range]] = {**InRadius._ranges, **NeighborsClassifier._ranges}

    radius: float = 1.0
    _: KW_ONLY
    weights: Any = "uniform"
    outlier_label: Any = None

    @classmethod
    def _example(cls) -> RadiusNeighborsClassifier:
        return cls(outlier_label="most_frequent")

    def fit(self, X: Any, y: Any = None) -> RadiusNeighborsClassifier:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree."""
        super().fit(X, y)
        self.outlier_label_ = self._label_of_outliers()
        return self

    def _label_of_outliers(self) -> Any:
        label, classes = self.outlier_label, self.classes_
        if label is None:
            return None
        if isinstance(label, str) and label == "most_frequent" and label not in classes.tolist():
            return classes[np.bincount(self._codes).argmax()]
        if np.ndim(label) or isinstance(label, str) != (classes.dtype.kind in "USOT"):
            raise ParameterError(
                f"RadiusNeighborsClassifier: outlier_label={label!r} must be one label of the kind "
                f"in y, such as {classes.tolist()[0]!r}, or 'most_frequent'."
            )
        return label

    def predict_proba(self, X: Any) -> Array:
        """Compute the shares of the classes among the neighbours. Cost: as `radius_neighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (m, n_classes)
            Probabilities in the order of ``classes_``. Rows without neighbours have probability 1
            for ``outlier_label_``, or zeros if it is not one of the classes.
        """
        source = self._queries(X)
        votes = self._map_queries(source, self._votes)
        total = votes.sum(axis=1, keepdims=True)
        alone = total[:, 0] == 0
        if alone.any():
            known = np.flatnonzero(self.classes_ == self.outlier_label_)
            if known.size:
                votes[alone, known[0]] = 1.0
            else:
                warn(
                    f"RadiusNeighborsClassifier: outlier_label={self.outlier_label_!r} is not in "
                    f"training classes. {np.count_nonzero(alone)} rows without neighbours get the "
                    "probability 0 for every class.",
                    UserWarning,
                )
            total = np.where(alone[:, None], 1.0, total)
        return (votes / total).astype(source.dtype, copy=False)

    def predict(self, X: Any) -> Array:
        """Predict the class with the most votes. Cost: that of `radius_neighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (m,)
            The predicted class labels, ``outlier_label_`` for rows without neighbours.
        """
        votes = self._map_queries(self._queries(X), self._votes)
        labels = self.classes_[votes.argmax(axis=1)]
        alone = ~votes.any(axis=1)
        if alone.any():
            labels = labels.astype(np.result_type(labels, np.asarray(self.outlier_label_)))
            labels[alone] = self.outlier_label_
        return labels

    def _votes(self, rows: Matrix) -> Array:
        """The weight of each class among the neighbours, (m, n_classes); zeros without any."""
        found = self._within(rows)
        alone = np.flatnonzero(found.counts == 0)
        if alone.size and self.outlier_label_ is None:
            raise DataError(
                f"RadiusNeighborsClassifier: No neighbors found for {alone.size} of "
                f"{found.counts.shape[0]} rows (first at row {alone[0]}) within the radius "
                f"{self.radius:g}. Use a larger radius, or set outlier_label."
            )
        m, n_classes = found.counts.shape[0], self.classes_.shape[0]
        place = np.repeat(np.arange(m), found.counts) * n_classes + self._codes[found.row]
        weight = flat_weights(found, self.weights, type(self).__name__)
        votes = np.bincount(place, weight, minlength=m * n_classes).reshape(m, n_classes)
        return votes.astype(np.float64, copy=False)
