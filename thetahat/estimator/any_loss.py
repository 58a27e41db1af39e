"""A model that takes any loss: a regressor for numbers, a classifier for labels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from thetahat.data.source import Source
from thetahat.data.views import sign_targets
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.source_scores import (
    accuracy_of_source,
    r2_of_source,
    require_no_target_beside,
)
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.targets import check_source_targets

OF_CLASSES = (Targets.BINARY, Targets.SIGNS, Targets.CLASSES)
"""Targets that are labels: a model with such a loss is a classifier."""
OF_PROBABILITIES = (Link.LOGIT, Link.SOFTMAX)
"""Links under which a raw prediction is a probability."""


def _loss(model: AnyLoss) -> Loss:
    """The loss of the fit; before a fit, the requested one."""
    return model.loss_ if model.__sklearn_is_fitted__() else named_loss(model.loss)


def _classifies(model: AnyLoss) -> bool:
    return _loss(model).targets in OF_CLASSES


def _has_probabilities(model: AnyLoss) -> bool:
    return _classifies(model) and _loss(model).link in OF_PROBABILITIES


class AnyLoss(LabelledEstimator):
    """What the raw prediction z means under the loss: values, rates, labels or probabilities.

    A subclass fits a function class to ``self._rows(...)`` and computes `raw_prediction`.
    """

    loss: Any
    loss_: Loss

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Whether the last fit was completed."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        targets = named_loss(self.loss).targets
        if targets in OF_CLASSES:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=targets is Targets.CLASSES)
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Source, int]:
        """The rows with targets of the loss, and the number of columns of z (0 if it is 1-D)."""
        kind, who = self.loss_.targets, type(self).__name__
        if kind not in OF_CLASSES:
            source = self._open(X, y, sample_weight)
            self.__dict__.pop("classes_", None)  # of an earlier fit with a loss of classes
            check_source_targets(self.loss_, source, who=who)
            return source, 0
        several = kind is Targets.CLASSES
        source = self._open_classes(
            X,
            y,
            sample_weight,
            most=None if several else 2,
            remedy='use loss="softmax_cross_entropy", or keep two of them',
        )
        require_two_weighted_classes(source, self.classes_, who)
        if kind is Targets.SIGNS:
            source = sign_targets(source, 2)
        return source, len(self.classes_) if several else 0

    @abstractmethod
    def raw_prediction(self, X: Any) -> Array:
        """Compute the raw prediction z of every row.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,), or (n, n_classes) for losses with one score per class
        """

    def predict(self, X: Any) -> Array:
        """Predict E[y | x] for numbers and counts, the label for classes.

        Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,)
        """
        z = self.raw_prediction(X)
        if self.loss_.targets not in OF_CLASSES:
            return self.loss_.mean(z)
        if z.ndim == 2:
            codes = z.argmax(axis=1)
        elif type(self.loss_).mean is Loss.mean:
            codes = (z > 0).astype(np.intp)
        else:  # the loss itself gives probabilities
            codes = (self.loss_.mean(z) > 0.5).astype(np.intp)
        return _labels_of(self, z)[codes]

    def predict_mean(self, X: Any) -> Array:
        """Predict E[y | x] under the link: a value, a rate, or probabilities.

        Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,), or (n, n_classes) for losses with one score per class
        """
        z = self.raw_prediction(X)
        return self.loss_.mean(z)

    @available_if(_classifies)
    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes; only for losses of classes.

        Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,), positive for ``classes_[1]``, or (n, n_classes)
        """
        return _one_score_for_two(self.raw_prediction(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class; only for losses with such a link.

        Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
        """
        found = self.predict_mean(X)
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy for losses of classes, and R² for all others.

        Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict. A `Source` is read block by block and contains the target and the
            weights.
        y : array-like of shape (n,), optional
            The true targets of these rows. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights; a row of weight 2 counts as two rows.

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score, r2_score

        require_no_target_beside(X, y, sample_weight, type(self).__name__)
        if isinstance(X, Source):
            return accuracy_of_source(self, X) if _classifies(self) else r2_of_source(self, X)
        metric = accuracy_score if _classifies(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))


def _labels_of(model: AnyLoss, z: Array) -> Array:
    """The labels; in models saved by earlier versions, the targets of the loss."""
    if hasattr(model, "classes_"):
        return model.classes_
    if model.loss_.targets is Targets.SIGNS:
        return np.array([-1, 1], dtype=z.dtype)
    return np.arange(z.shape[1] if z.ndim == 2 else 2, dtype=z.dtype)


def _one_score_for_two(z: Array) -> Array:
    """Two columns of scores as their difference, as scikit-learn expects for two classes."""
    return z[:, 1] - z[:, 0] if z.ndim == 2 and z.shape[1] == 2 else z
