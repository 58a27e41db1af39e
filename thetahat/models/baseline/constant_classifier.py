"""The shares of the classes, whatever the row: P(y = c | x) = N_c / N."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.summaries.counts import counts
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.types import Array


class ConstantClassifier(Classifier):
    """Predicts the most frequent class, with the shares of the classes as probabilities.

    Formula: P(y = c | x) = N_c/N for every x; the label is argmax_c N_c, the smaller one of equals.
    Among constants, these probabilities have the least log-loss, and the label the fewest errors.
    What every classifier has to beat.

    Cost: O(n log n); O(classes) memory.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    class_prior_ : array of shape (n_classes,)
        N_c/N.
    n_features_in_, feature_names_in_
        Of X, which is only checked.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.ConstantClassifier().fit([[0], [0], [0]], ["no", "yes", "no"])
    >>> model.predict([[9]]).tolist(), model.predict_proba([[9]]).round(3).tolist()
    (['no'], [[0.667, 0.333]])
    """

    _everyday = "always the most frequent"
    _accepts_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConstantClassifier:
        """Count the classes; X is only checked.

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
        source = self._open_classes(X, y, sample_weight, least=1)
        found = counts(source)
        self.class_prior_ = np.zeros(len(self.classes_))
        self.class_prior_[found.values.astype(np.intp)] = found.shares
        return self

    def predict_proba(self, X: Any) -> Array:
        """The shares of the classes for every row. Cost: O(n · classes)."""
        source = self._open_again(X)
        return np.tile(self.class_prior_.astype(source.dtype), (source.n_rows, 1))

    def predict(self, X: Any) -> Array:
        """The most frequent class for every row. Cost: O(n)."""
        source = self._open_again(X)
        return np.full(source.n_rows, self.classes_[self.class_prior_.argmax()])
