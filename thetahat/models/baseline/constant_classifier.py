"""Class frequencies as predictions for every row: P(y = c | x) = N_c / N."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.summaries.counts import counts
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.types import Array


class ConstantClassifier(Classifier):
    """Baseline classifier that always predicts the most frequent class.

    Use it to check whether another classifier has learned anything. X is validated but not used.

    Formula: P(y = c | x) = N_c/N for every x; the label is argmax_c N_c, and the first class in
    case of ties. Among constant predictions, these probabilities have the smallest log loss, and
    this label has the fewest errors.

    Cost: O(n log n) time and O(classes) memory.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    class_prior_ : array of shape (n_classes,)
        Relative frequency of each class (N_c/N).
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.ConstantClassifier().fit([[0], [0], [0]], ["no", "yes", "no"])
    >>> model.predict([[9]]).tolist(), model.predict_proba([[9]]).round(3).tolist()
    (['no'], [[0.667, 0.333]])
    """

    _parametric = True
    _everyday = "always the most frequent"
    _accepts_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConstantClassifier:
        """Count the classes. Cost: O(n log n).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows. They are validated but not used.
        y : array-like of shape (n,)
            Class label of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open_classes(X, y, sample_weight, least=1)
        found = counts(source)
        self.class_prior_ = np.zeros(len(self.classes_))
        self.class_prior_[found.values.astype(np.intp)] = found.shares
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the class frequencies for every row. Cost: O(n · classes).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        source = self._open_again(X)
        return np.tile(self.class_prior_.astype(source.dtype), (source.n_rows, 1))

    def predict(self, X: Any) -> Array:
        """Return the most frequent class for every row. Cost: O(n).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted class labels, all equal.
        """
        source = self._open_again(X)
        return np.full(source.n_rows, self.classes_[self.class_prior_.argmax()])
