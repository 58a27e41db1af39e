"""What classifiers of two classes share whose class of hypotheses is narrow: boxes, disjunctions.

A row is called ``classes_[1]`` where its score is positive. No accuracy is promised on rows that no
hypothesis of the class labels.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.types import Array


class TwoClassLearner(Classifier):
    """A classifier given by the score of a block of rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    @abstractmethod
    def _score_block(self, block: Block) -> Array:
        """Positive for rows that are called ``classes_[1]``, in the precision of the rows."""

    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for ``classes_[1]``. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,)
        """
        return self._open_again(X).map_rows(self._score_block)

    def predict(self, X: Any) -> Array:
        """The label of each row. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,), of the type of the labels given to `fit`
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]
