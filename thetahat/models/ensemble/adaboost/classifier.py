"""What a boosted classifier is asked: scores, labels, probabilities, margins, and their stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.validation import as_weight
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import softmax
from thetahat.models.ensemble.adaboost.base import WeightBoosting
from thetahat.models.ensemble.adaboost.rounds import Judge, pull


class WeightBoostedClassifier(WeightBoosting, Classifier):
    """Sums what the learners say of each row, to one score or to one per class."""

    n_classes_: int
    algorithm: str

    @abstractmethod
    def _judge(self, codes: Array) -> Judge:
        """How learners are judged on rows of these classes."""

    @abstractmethod
    def _answer(self, learner: Any, rows: Array) -> Array:
        """What a learner says of rows: codes of classes, or their probabilities."""

    @abstractmethod
    def _scores(self, answer: Array, vote: float) -> Array:
        """What an answer adds to the scores, (n,) for two classes, else (n, K)."""

    def decision_function(self, X: Any) -> Array:
        """The score of each row; positive for ``classes_[1]``, or largest for its class.

        Formula: 2Σα·sign/Σα with two classes, Σα(1[G = k] − 1[G ≠ k]/(K − 1))/Σα with more; of the
        real form the log-odds 2Σf, or Σf_k. Cost: that of the learners.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) with more than two classes
        """
        rows = self._rows(X)
        if self._walk is None:
            scores: Any = sum(self._contributions(rows))
        else:
            scores = self._walk.sum(rows)
            scores = scores[:, 0] if self.n_classes_ == 2 else scores
        return self._decision(scores, float(self._votes.sum()), rows.dtype)

    def predict(self, X: Any) -> Array:
        """The label of each row. Cost: that of the learners.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        return self._labels_of(self.decision_function(X))

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes: softmax of the scores/(K − 1). Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
        """
        return self._probability(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`. Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
        """
        return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """The scores after each round, one after the other. Cost: as `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,) or (n, K)
        """
        rows = self._rows(X)
        scores: Any = 0.0
        totals = np.cumsum(self._votes)
        for total, contribution in zip(totals, self._contributions(rows), strict=True):
            scores = scores + contribution
            yield self._decision(scores, float(total), rows.dtype)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The labels after each round, one after the other. Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
        """
        return map(self._labels_of, self.staged_decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """The probabilities after each round, one after the other. Cost: as `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n, K)
        """
        return map(self._probability, self.staged_decision_function(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The share of rows labelled right after each round. Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Yields
        ------
        float
        """
        for labels in self.staged_predict(X):
            yield float(np.average(labels == np.asarray(y), weights=sample_weight))

    def margins(self, X: Any, y: Any) -> Array:
        """How clearly each row is labelled right: above 0 it is, below 0 it is not.

        Formula: the share of votes for its class less the largest share for another, in [−1, 1];
        with two classes y·Σα·sign/Σα. Of the real form y·Σf, or (f_y − largest other)/2. Cost: as
        `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        array of shape (n,)
        """
        scores = self.decision_function(X)
        if self.n_classes_ == 2:
            scores = np.column_stack([-scores, scores]) / 2
        codes = LabelEncoding(self.classes_).encode(y)
        own = np.arange(codes.size), codes
        others = scores.copy()
        others[own] = -np.inf
        apart = scores[own] - others.max(axis=1)
        if self.algorithm == "real":
            return apart / 2
        return apart * ((self.n_classes_ - 1) / self.n_classes_)

    def staged_sample_weight(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Array]:
        """The weights with which each learner was fitted, given the training rows again.

        Formula: w·e^{−m}, scaled to sum up to Σw. Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows of `fit`.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            The weights of `fit`.

        Yields
        ------
        array of shape (n,)
        """
        rows = self._rows(X)
        judge = self._judge(LabelEncoding(self.classes_).encode(y))
        weight, margin = np.ones(rows.shape[0]), np.zeros(rows.shape[0])
        if sample_weight is not None:
            weight = as_weight(sample_weight, rows.shape[0], type(self).__name__)
        for learner, vote in zip(self.estimators_, self._votes, strict=True):
            pulled, _ = pull(weight, margin)
            yield pulled * (weight.sum() / pulled.sum())
            margin = margin + judge.gain(self._answer(learner, rows), float(vote))

    def _contributions(self, rows: Array) -> Iterator[Array]:
        for learner, vote in zip(self.estimators_, self._votes, strict=True):
            yield self._scores(self._answer(learner, rows), float(vote))

    def _decision(self, scores: Array, votes: float, dtype: Any) -> Array:
        scale = 2.0 if self.n_classes_ == 2 else 1.0
        if self.algorithm != "real":
            scale /= votes
        return (scale * scores).astype(dtype, copy=False)

    def _labels_of(self, decision: Array) -> Array:
        codes = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes.astype(np.intp)]

    def _probability(self, decision: Array) -> Array:
        if decision.ndim == 1:
            return softmax(np.column_stack([-decision, decision]) / 2)
        return softmax(decision / max(1, self.n_classes_ - 1))
