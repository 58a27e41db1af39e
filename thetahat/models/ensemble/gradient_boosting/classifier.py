"""Parts shared by the gradient boosting classifiers: labels, losses and probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.data.columns.labels import LabelEncoding
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Subdifferentiable, Targets
from thetahat.mathematics.losses.links import Link, link, sigmoid
from thetahat.models.ensemble.gradient_boosting.base import BaseBoosting
from thetahat.models.ensemble.gradient_boosting.rounds import Rows


def loss_of_labels(given: Any, n_classes: int, who: str) -> Subdifferentiable:
    """The loss for this number of classes: log loss becomes the softmax cross-entropy above two."""
    loss = named(given)
    if not isinstance(loss, Subdifferentiable):
        raise CapabilityError(
            f"{who}: gradient boosting needs the slopes (gradients) of the loss, and "
            f"{type(loss).__name__} loss has none. Use 'log_loss', or 'hinge' for margins."
        )
    if n_classes > 2 and isinstance(several := loss.multiclass(), Subdifferentiable):
        return several
    if n_classes > 2 and loss.columns == "one":
        raise CapabilityError(
            f"{who}: y has {n_classes} classes, but {type(loss).__name__} loss is suited for 2 "
            "classes only. Use 'log_loss' or 'multiclass_hinge'."
        )
    return loss


def _has_probabilities(self: Any) -> bool:
    loss = getattr(self, "loss_", None)
    if loss is None:
        return True
    return loss.half_logit or loss.link in (Link.LOGIT, Link.SOFTMAX)


@with_parameters
class BaseBoostingClassifier(BaseBoosting, Classifier):
    """Classifier by boosting; the loss decides whether probabilities are available.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        Loss to minimise. "log_loss" also handles more than two classes; "exponential" and "hinge"
        need two classes, "multiclass_hinge" takes any number. ``th.loss(...)`` makes a loss from a
        function of your own.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    """

    _: KW_ONLY
    loss: Any = "log_loss"
    class_weight: Any = None

    def _open_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        source: Any = self._open_classes(X, y, sample_weight, class_weight=self.class_weight)
        rows = self._rows_that_count(source)
        if np.all(rows.y == rows.y[0]):
            raise DataError(
                f"{type(self).__name__}: y contains 1 class after the rows of weight zero are left "
                f"out, {self.classes_.tolist()[int(rows.y[0])]!r}, but at least two classes are "
                "needed. Give rows of another class a positive weight."
            )
        n_classes = len(self.classes_)
        self.loss_ = loss_of_labels(self.loss, n_classes, type(self).__name__)
        self.n_classes_ = n_classes
        self.n_trees_per_iteration_ = 1 if self.loss_.columns == "one" else n_classes
        return replace(rows, y=self._as_targets(rows.y))

    def _as_targets(self, codes: Array) -> Array:
        """Codes of classes in the form that the loss takes: −1 and +1 for losses of margins."""
        signs = self.loss_.targets in (Targets.SIGNS, Targets.REAL)
        return 2.0 * codes - 1.0 if signs else codes

    def _further_targets(self, y: Any) -> Any:
        return self._as_targets(LabelEncoding(self.classes_).encode(self._labels(y)).astype(float))

    def _held_out(self, rows: Rows) -> tuple[Rows, Rows | None]:
        fitted, held = super()._held_out(rows)
        missing = np.setdiff1d(rows.y, fitted.y)
        if missing.size:
            labels = self.classes_[np.maximum(missing, 0).astype(np.intp)]
            lost = ", ".join(f"{each!r}" for each in labels.tolist())
            raise DataError(
                f"{type(self).__name__}: The training data after the early stopping split have no "
                f"row of class {lost}: validation_fraction={self.validation_fraction!r} holds out "
                "all of them. Reduce validation_fraction, or add rows of this class."
            )
        return fitted, held

    def decision_function(self, X: Any) -> Array:
        """Compute the raw scores. Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,) for two classes, else (n, n_classes)
            Sums of the values of all trees, before they are turned into probabilities.
        """
        return self._shaped(self._raw(X), X)

    def predict(self, X: Any) -> Array:
        """Predict the class label of each row. Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            Labels, of the type of the labels passed to `fit`.
        """
        return self._predicted(self._raw(X), X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities. Cost: O(n · trees · depth).

        Available only for losses with probabilities, such as log loss and the exponential loss.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return self._probable(self._raw(X)).astype(self._dtype(X), copy=False)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the class probabilities. Cost: as `predict_proba`.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Compute the raw scores after each iteration. Cost: as `decision_function`.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n,) for two classes, else (n, n_classes)
        """
        for raw in self._staged_raw(X):
            yield np.array(self._shaped(raw, X))

    @available_if(_has_probabilities)
    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Predict class probabilities after each iteration. Cost: as `predict_proba`.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Yields
        ------
        array of shape (n, n_classes)
        """
        for raw in self._staged_raw(X):
            yield self._probable(raw)

    def _shaped(self, raw: Array, X: Any) -> Array:
        scores = raw[:, 1] - raw[:, 0] if raw.shape[1] == 2 else raw
        scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
        return scores.astype(self._dtype(X), copy=False)

    def _predicted(self, raw: Array, X: Any) -> Array:
        if raw.shape[1] == 1:
            return self.classes_[(raw[:, 0] > 0).astype(np.intp)]
        return self.classes_[raw.argmax(axis=1)]

    def _probable(self, raw: Array) -> Array:
        if raw.shape[1] > 1:
            return np.asarray(self.loss_.mean(raw))
        z = 2.0 * raw[:, 0] if self.loss_.half_logit else raw[:, 0]
        return np.column_stack([sigmoid(-z), sigmoid(z)])

    def _raw_from_probabilities(self, shares: Array) -> Array:
        """Raw scores that correspond to given probabilities, for an initial model."""
        shares = np.clip(shares, 1e-7, 1.0)
        shares = shares / shares.sum(axis=1, keepdims=True)
        if self.n_trees_per_iteration_ > 1:
            return np.asarray(link(Link.SOFTMAX, shares))
        odds = np.asarray(link(Link.LOGIT, shares[:, 1:]))
        return odds / 2 if self.loss_.half_logit else odds
