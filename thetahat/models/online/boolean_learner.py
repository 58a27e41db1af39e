"""Parts shared by online learners of Boolean rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.source import Block
from thetahat.data.summaries.moments import dense_rows
from thetahat.estimator.two_class_learner import TwoClassLearner
from thetahat.foundation.types import Array
from thetahat.models.online.agreement import Agreement
from thetahat.models.online.single_row import single_row


class BooleanLearner(TwoClassLearner):
    """An online classifier of Boolean rows.

    ``fit`` passes over the rows once, in order; `partial_fit` continues with more rows. An entry is
    true if it is larger than ½. ``mistakes_`` counts the rows that were predicted wrongly before
    the update; ``consistent_`` states whether some hypothesis of the class agrees with all rows.
    """

    _visits_rows_in_order = True

    n_rounds_: int
    mistakes_: int
    consistent_: bool

    _agreement: Agreement | None = None
    """None before the first row, and in models saved by earlier versions."""

    @property
    @abstractmethod
    def mistake_bound_(self) -> float | None:
        """Maximum number of mistakes on any sequence that a hypothesis of the class labels."""

    @abstractmethod
    def _begin(self, width: int) -> None:
        """Set the state before the first row with this many entries."""

    @abstractmethod
    def _score(self, truth: Array) -> Array:
        """Positive for rows that are predicted as true, for Boolean rows of shape (n, d)."""

    @abstractmethod
    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        """Update with one row."""

    def _literals(self, truth: Array) -> Array:
        """Literals of the class that are true in a row; here, the variables themselves."""
        return truth

    def fit(self, X: Any, y: Any = None) -> Any:
        """Start from the beginning and learn the rows once, in order. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Boolean rows; an entry is true if it is larger than ½.
        y : array-like of shape (n,), optional
            Labels of two classes; the second one in sorted order is "true". None if X is a `Source`
            with targets.

        Returns
        -------
        self
            The fitted learner.
        """
        source = self._open_classes(X, y, most=2)
        self._start(source.n_features)
        for block in source.blocks():
            assert block.y is not None
            self._learn(_truth(dense_rows(block)), block.y > 0.5)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Learn further rows, in order. Cost: O(n d).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Boolean rows; an entry is true if it is larger than ½.
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
        for block in source.blocks():
            assert block.y is not None
            self._learn(_truth(dense_rows(block)), block.y > 0.5)
        return self

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one row; works before any row was learned. Cost: O(d).

        Parameters
        ----------
        x : array-like of shape (d,)
            One Boolean row to predict.

        Returns
        -------
        label
            The predicted label.
        """
        truth = self._one(x)
        return self.classes_.tolist()[int(self._score(truth[None, :])[0] > 0)]

    def learn_one(self, x: Any, y: Any) -> Any:
        """Learn one row. Cost: O(d).

        Parameters
        ----------
        x : array-like of shape (d,)
            One Boolean row to learn.
        y : label
            Its label: True or False, unless `fit` has seen other labels.

        Returns
        -------
        self
            The updated learner.
        """
        truth = self._one(x)
        label = LabelEncoding(self.classes_).encode([y])[0] > 0
        self._learn(truth[None, :], np.array([label]))
        return self

    def _score_block(self, block: Block) -> Array:
        rows = dense_rows(block)
        return self._score(_truth(rows)).astype(rows.dtype)

    def _one(self, x: Any) -> Array:
        truth = _truth(single_row(self, x))
        if not hasattr(self, "classes_"):
            self.n_features_in_ = truth.size
            self.classes_ = np.array([False, True])
            self._start(truth.size)
        return truth

    def _start(self, width: int) -> None:
        self.n_rounds_, self.mistakes_, self.consistent_ = 0, 0, True
        self._agreement = None
        self._begin(width)

    def _learn(self, rows: Array, labels: Array) -> None:
        for truth, label in zip(rows, labels, strict=True):
            answer = bool(self._score(truth[None, :])[0] > 0)
            self.n_rounds_ += 1
            self.mistakes_ += answer != bool(label)
            self._update(truth, bool(label), answer)
            self._check(self._literals(truth), bool(label))

    def _check(self, literals: Array, label: bool) -> None:
        """Update ``consistent_``; once no hypothesis agrees with all rows, it stays False."""
        if self._agreement is None:
            self._agreement = Agreement.of_no_rows(literals.size)
        self._agreement.learn(literals, label)
        bound = self.mistake_bound_
        too_many = bound is not None and self.mistakes_ > bound
        self.consistent_ = self.consistent_ and self._agreement.exists and not too_many


def _truth(rows: Array) -> Array:
    return rows > 0.5
