"""Predictions of AdaBoost classifiers: scores, labels, probabilities, margins and their stages."""

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
    """Sums the votes of the learners to one score, or to one score per class."""

    n_classes_: int
    algorithm: str

    @abstractmethod
    def _judge(self, codes: Array) -> Judge:
        """Rule that computes errors and votes for rows of these classes."""

    @abstractmethod
    def _answer(self, learner: Any, rows: Array) -> Array:
        """Predictions of a learner: class codes, or class probabilities."""

    @abstractmethod
    def _scores(self, answer: Array, vote: float) -> Array:
        """Contribution of predictions to the scores, (n,) for two classes, else (n, K)."""

    def decision_function(self, X: Any) -> Array:
        """Compute the decision scores. Cost: that of the predictions of the learners.

        Formula: 2Σα·sign/Σα for two classes, Σα(1[G = k] − 1[G ≠ k]/(K − 1))/Σα for more. With
        ``algorithm="real"``, the log-odds 2Σf, or Σf_k.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,), or (n, K) for more than two classes
            For two classes, positive scores mean ``classes_[1]``; otherwise the largest score wins.
        """
        rows = self._rows(X)
        if self._walk is None:
            scores: Any = sum(self._contributions(rows))
        else:
            scores = self._walk.sum(rows)
            scores = scores[:, 0] if self.n_classes_ == 2 else scores
        return self._decision(scores, float(self._votes.sum()), rows.dtype)

    def predict(self, X: Any) -> Array:
        """Predict class labels. Cost: that of the predictions of the learners.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted class labels.
        """
        return self._labels_of(self.decision_function(X))

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities. Cost: as `predict`.

        Formula: the softmax of the scores divided by K − 1.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, K)
            Probabilities in the order of ``classes_``.
        """
        return self._probability(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the class probabilities. Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, K)
            Log-probabilities in the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Compute the decision scores after each iteration. Cost: as `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n,) or (n, K)
            Scores of the model with one more learner.
        """
        rows = self._rows(X)
        scores: Any = 0.0
        totals = np.cumsum(self._votes)
        for total, contribution in zip(totals, self._contributions(rows), strict=True):
            scores = scores + contribution
            yield self._decision(scores, float(total), rows.dtype)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predict class labels after each iteration. Cost: as `predict`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n,)
            Labels predicted by the model with one more learner.
        """
        return map(self._labels_of, self.staged_decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Predict class probabilities after each iteration. Cost: as `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n, K)
            Probabilities of the model with one more learner.
        """
        return map(self._probability, self.staged_decision_function(X))

    def _score_of(self, y: Any, predicted: Array, sample_weight: Any) -> float:
        return float(np.average(predicted == np.asarray(y), weights=sample_weight))

    def margins(self, X: Any, y: Any) -> Array:
        """Compute the margin of each row: positive if it is classified correctly.

        Formula: the fraction of votes for the true class minus the largest fraction for another
        class, in [−1, 1]; for two classes y·Σα·sign/Σα. With ``algorithm="real"``, y·Σf, or (f_y −
        largest other)/2. Larger margins mean clearer decisions. Cost: as `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        y : array-like of shape (n,)
            True label of each row.

        Returns
        -------
        array of shape (n,)
            The margins of the rows.
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
        """Recompute the row weights with which each learner was fitted. Cost: as `predict`.

        Formula: w·e^{−m}, scaled so that the sum is Σw.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows that were passed to `fit`.
        y : array-like of shape (n,)
            The labels that were passed to `fit`.
        sample_weight : array-like of shape (n,), optional
            The row weights that were passed to `fit`.

        Yields
        ------
        array of shape (n,)
            Row weights of the next learner.
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
