"""Shared by two-class classifiers with a narrow hypothesis class, such as boxes and disjunctions.

A row is predicted as ``classes_[1]`` if its score is positive. Accuracy is only guaranteed if some
hypothesis of the class labels the rows correctly.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.types import Array


class TwoClassLearner(Classifier):
    """A two-class classifier defined by the score of a block of rows."""

    _parametric = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    @abstractmethod
    def _score_block(self, block: Block) -> Array:
        """Scores in the dtype of the rows, positive for rows predicted as ``classes_[1]``."""

    def decision_function(self, X: Any) -> Array:
        """Compute the score of each row. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        scores : array of shape (n,)
            Scores, positive for ``classes_[1]``.
        """
        return self._open_again(X).map_rows(self._score_block)

    def predict(self, X: Any) -> Array:
        """Predict the class of each row. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (n,)
            Predicted labels, of the type of the labels given to `fit`.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]
