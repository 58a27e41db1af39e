"""What learners of Boolean rows share: rows of truth values, two labels, one row at a time."""

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
    """A classifier of rows of truth values that learns from one row after another.

    ``fit`` passes over the rows once, in their order; `partial_fit` goes on with more. An entry is
    true where it is above ½. ``mistakes_`` counts the rows that were answered wrongly before they
    were learned; ``consistent_`` tells whether some hypothesis of the class agrees with all rows.
    """

    _visits_rows_in_order = True

    n_rounds_: int
    mistakes_: int
    consistent_: bool

    _agreement: Agreement | None = None
    """None before the first row, and in a model from a file that kept none."""

    @property
    @abstractmethod
    def mistake_bound_(self) -> float | None:
        """The most mistakes on any sequence that a hypothesis of the class labels."""

    @abstractmethod
    def _begin(self, width: int) -> None:
        """The state before the first row of this many truth values."""

    @abstractmethod
    def _score(self, truth: Array) -> Array:
        """Positive for rows that are called true: truth values of shape (n, d)."""

    @abstractmethod
    def _update(self, truth: Array, label: bool, answer: bool) -> None:
        """Learn from one row."""

    def _literals(self, truth: Array) -> Array:
        """Which literals of the class are true in a row; here, the variables themselves."""
        return truth

    def fit(self, X: Any, y: Any = None) -> Any:
        """Forget everything, and learn the rows in their order. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Rows of truth values.
        y : array-like of shape (n,), optional
            Labels of two kinds; the second in order is "true".

        Returns
        -------
        self
        """
        source = self._open_classes(X, y, most=2)
        self._start(source.n_features)
        for block in source.blocks():
            assert block.y is not None
            self._learn(_truth(dense_rows(block)), block.y > 0.5)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Learn more rows. Cost: O(n d).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of truth values.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (2,), optional
            Both labels; needed at the first call.

        Returns
        -------
        self
        """
        source, fresh = self._open_batch(X, y, classes, most=2)
        if fresh:
            self._start(source.n_features)
        for block in source.blocks():
            assert block.y is not None
            self._learn(_truth(dense_rows(block)), block.y > 0.5)
        return self

    def predict_one(self, x: Any) -> Any:
        """The answer for one row, before anything is learned as well. Cost: O(d)."""
        truth = self._one(x)
        return self.classes_.tolist()[int(self._score(truth[None, :])[0] > 0)]

    def learn_one(self, x: Any, y: Any) -> Any:
        """Learn one row; labels are True and False unless `fit` has seen others. Cost: O(d)."""
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
        """Whether any hypothesis can have given all labels; once none can, none ever will."""
        if self._agreement is None:
            self._agreement = Agreement.of_no_rows(literals.size)
        self._agreement.learn(literals, label)
        bound = self.mistake_bound_
        too_many = bound is not None and self.mistakes_ > bound
        self.consistent_ = self.consistent_ and self._agreement.exists and not too_many


def _truth(rows: Array) -> Array:
    return rows > 0.5
