"""Parts shared by classifiers that learn one row at a time."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.two_class_learner import TwoClassLearner
from thetahat.foundation.types import Array
from thetahat.models.online.single_row import single_row


class OnlineClassifier(TwoClassLearner):
    """A classifier of two classes that learns its rows one by one, in order.

    A subclass codes the rows and defines their scores and the update.

    Attributes
    ----------
    mistakes_, n_rounds_ : int
        Number of wrong predictions before the update, and number of rows seen.
    classes_ : array of shape (2,)
        The class labels, in sorted order; the second one is the positive class, which means "true".
    """

    _ignores_weights = True
    _visits_rows_in_order = True
    _usual_labels: ClassVar[tuple[Any, Any]] = (False, True)
    """The labels if the first row comes from `learn_one` or `predict_one`."""

    @abstractmethod
    def _start(self, width: int) -> None:
        """Set the state before the first row with this many entries."""

    @abstractmethod
    def _coded(self, rows: Array) -> Array:
        """The rows in the form that is learned."""

    @abstractmethod
    def _score(self, coded: Array) -> Array:
        """Positive for rows that are predicted as ``classes_[1]``."""

    @abstractmethod
    def _learn(self, coded: Array, positive: Array) -> None:
        """Learn rows in order; `positive` marks those of ``classes_[1]``."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Start from the beginning and learn the rows once, in order. Cost: one update per row.

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Training rows with finite numbers. Learners of Boolean rows take an entry as true if it
            is larger than ½.
        y : array-like of shape (n,), optional
            Labels of two classes; the second one in sorted order is positive. None if X is a
            `Source` with targets.

        Returns
        -------
        self
            The fitted learner.
        """
        source = self._open_classes(X, y, most=2)
        self._start(source.n_features)
        return self._learn_all(source)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn further rows, in order. Cost: one update per row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows with finite numbers. Learners of Boolean rows take an entry as true if it
            is larger than ½.
        y : array-like of shape (n,)
            Class label of each training row.
        classes : array-like of shape (2,), optional
            Both labels. Required in the first call.

        Returns
        -------
        self
            The fitted learner.
        """
        source, fresh = self._open_batch(X, y, classes, most=2)
        if fresh:
            self._start(source.n_features)
        return self._learn_all(source)

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one row; works before any row was learned. Cost: one score.

        Parameters
        ----------
        x : array-like of shape (d,)
            One row to predict.

        Returns
        -------
        label
            The predicted label: the usual one of the learner (True or False; −1 or +1 for the
            perceptron), unless `fit` has seen other labels.
        """
        coded = self._one(x)
        return self.classes_.tolist()[int(self._score(coded)[0] > 0)]

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one row. Cost: one update.

        Parameters
        ----------
        x : array-like of shape (d,)
            One row to learn.
        y : label
            Its label: True or False (−1 or +1 for the perceptron), unless `fit` has seen other
            labels.

        Returns
        -------
        self
            The updated learner.
        """
        coded = self._one(x)
        self._learn(coded, np.array([self._is_positive(y)]))
        return self

    def _learn_all(self, source: Source) -> Self:
        for block in source.blocks():
            assert block.y is not None
            self._learn(self._coded(dense_rows(block)), block.y > 0.5)
        return self

    def _score_block(self, block: Block) -> Array:
        rows = dense_rows(block)
        return self._score(self._coded(rows)).astype(rows.dtype)

    def _is_positive(self, y: Any) -> bool:
        return bool(LabelEncoding(self.classes_).encode([y])[0] > 0)

    def _one(self, x: Any) -> Array:
        """One coded row, of shape (1, size); begins with the usual labels if it is the first."""
        row = single_row(self, x)
        if not hasattr(self, "classes_"):
            self.n_features_in_ = row.size
            self.classes_ = np.array(self._usual_labels)
            self._start(row.size)
        return self._coded(row[None, :])
