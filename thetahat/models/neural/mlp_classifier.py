"""The multilayer perceptron for classes: one output per class with a loss of classes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.data.arrays import as_array, namespace, to_host
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.source import Block, Source
from thetahat.data.views import sign_targets
from thetahat.estimator.batches import batch_after
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import check_ranges
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss, Subdifferentiable, Targets
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy
from thetahat.mathematics.losses.per_output import per_output
from thetahat.models.neural.network_model import Head
from thetahat.models.neural.placement import labels_like, on_host
from thetahat.models.neural.trained_network import TrainedNetwork, takes_batches

OF_PROBABILITIES = (Link.LOGIT, Link.SOFTMAX)


def _has_probabilities(model: MLPClassifier) -> bool:
    return named(model.loss).link in OF_PROBABILITIES


@with_parameters
class MLPClassifier(Classifier, TrainedNetwork):
    """A multilayer perceptron that predicts classes, with any loss of classes.

    Formula: scores f(x) = W_Lᵀx_L + b_L with x_0 = x and x_{l+1} = σ(W_lᵀx_l + b_l), fitted by
    Ŵ, b̂ = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ)))/(Σ wᵢ) + α/(2n)·Σ_l ‖W_l‖². With the log loss, two classes
    have one score with the logistic link, and more have one score each with the softmax link. Hinge
    losses give a support vector machine on features that the network learns: two classes have one
    score, more classes have one score each against the rest. The gradient is computed by
    backpropagation. The objective is not convex: a fit finds a local minimum that depends on the
    initial weights.

    Cost: O(n p) per epoch for n rows and p weights; memory for the weights, twice as much for the
    averages of "adam", and for the outputs of all layers of one batch.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        The loss of one row, as a function of its class and the outputs of the network (ℓ): a name
        such as "log_loss", "hinge", "squared_hinge", "multiclass_hinge" or "crammer_singer", or a
        value of ``th.losses``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in the order of the columns of `predict_proba`. If y has several columns of 0
        and 1, the numbers of these columns.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    >>> model = th.MLPClassifier((8,), "tanh", solver="lbfgs", random_state=0).fit(X, y)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    """

    _: KW_ONLY
    loss: Any = "log_loss"

    _smooth_loss = "squared_hinge"
    _everyday: ClassVar[str | None] = "small network"
    _multi_output = True
    _accepts_devices = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MLPClassifier:
        """Fit the network.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. Columns of similar size are learned faster.
        y : array-like of shape (n,) or (n, n_labels), optional
            Labels, or several columns of 0 and 1 for rows that may have several labels. Leave it
            out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. None gives every row
            weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_ranges(self)
        self._check_combinations()
        y, sample_weight = on_host(X, y, sample_weight, type(self).__name__)
        before = getattr(self, "classes_", None) if self.warm_start else None
        several = _has_several_labels(X, y, type(self).__name__)
        if before is not None:
            self._require_same_labels(several)
        if several:
            source = self._open_labels(X, y, sample_weight)
        else:
            source, self._several_labels = self._open_classes(X, y, sample_weight), False
        if before is not None and not np.array_equal(before, self.classes_):
            raise DataError(
                f"{type(self).__name__}: warm_start=True needs the classes of the last fit, "
                f"{before.tolist()}, but y has {self.classes_.tolist()}. Set warm_start=False."
            )
        self._train(*self._with_head(source), X, y)
        return self

    @available_if(takes_batches)
    @with_callbacks
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None
    ) -> MLPClassifier:
        """Run one epoch of steps on the given rows. Not available for "lbfgs".

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,) or (n, n_labels), optional
            Labels of these rows. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. None gives every row
            weight 1.
        classes : array-like of shape (n_classes,), optional
            All labels that may occur in any call. Required in the first call.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_combinations(resuming=True)
        y, sample_weight = on_host(X, y, sample_weight, type(self).__name__)
        known = getattr(self, "classes_", None)
        if known is not None and classes is not None:
            given = LabelEncoding.of(np.asarray(classes)).classes
            if not np.array_equal(given, known):
                raise DataError(
                    f"{type(self).__name__}.partial_fit: classes={given.tolist()} differ from "
                    f"those of the first call, {known.tolist()}. Leave them out."
                )
        several = _has_several_labels(X, y, type(self).__name__)
        if known is not None:
            self._require_same_labels(several)
        with batch_after(self, X, first=not self.__sklearn_is_fitted__()):
            if several:
                source = self._open_labels(X, y, sample_weight)
                if classes is not None and not np.array_equal(classes, self.classes_):
                    raise DataError(
                        f"{type(self).__name__}.partial_fit: the labels of several columns of 0 "
                        f"and 1 are the numbers of the columns, {self.classes_.tolist()}, but "
                        f"classes={np.asarray(classes).tolist()}. Leave classes out."
                    )
            else:
                source, _ = self._open_batch(X, y, classes, sample_weight)
                self._several_labels = False
        self._train(*self._with_head(source), X, y, resuming=True)
        return self

    def _require_same_labels(self, several: bool) -> None:
        """A fit that continues needs one label per row, or several, as the last fit."""
        if several != self._several_labels:
            were, are = ("several labels", "one label")[:: -1 if several else 1]
            raise DataError(
                f"{type(self).__name__}: the model was fitted to {were} per row, but y has {are} "
                "per row. Pass labels of the same form, or fit a new model."
            )

    def _open_labels(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Rows with several columns of 0 and 1 as their targets."""
        if not isinstance(X, Source):
            values = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
            _require_zeros_and_ones(values, type(self).__name__)
            y = values.astype(np.float64)
        if named(self.loss).targets is not Targets.BINARY:
            raise ParameterError(
                f"{type(self).__name__}: several labels per row need loss='log_loss', but "
                f"loss={self.loss!r}."
            )
        source = self._open(X, y, sample_weight)
        if isinstance(X, Source):
            for _ in source.map_blocks(partial(_require_labels_of_block, who=type(self).__name__)):
                pass
        self.classes_, self._several_labels = np.arange(source.n_outputs), True
        return source

    def _with_head(self, source: Source) -> tuple[Source, Head]:
        """The targets of the loss, and the outputs that it needs."""
        head = self._head()
        if named(self.loss).targets is Targets.SIGNS and not self._several_labels:
            source = sign_targets(source, len(self.classes_))
        return source, head

    def _head(self) -> Head:
        """The loss of these classes, and the outputs that it needs."""
        loss, who, count = named(self.loss), type(self).__name__, len(self.classes_)
        if loss.targets not in (Targets.BINARY, Targets.SIGNS, Targets.CLASSES):
            raise ParameterError(
                f"{who}: {type(loss).__name__} is a loss for numbers. Use MLPRegressor, or a loss "
                "of classes such as 'log_loss' or 'hinge'."
            )
        if not isinstance(loss, Subdifferentiable):
            raise CapabilityError(
                f"{who}: {type(loss).__name__} has no derivative, which training needs. Use "
                "'log_loss' or 'hinge'."
            )
        if self._several_labels:
            return Head(per_output(loss), count)
        if loss.targets is Targets.CLASSES:
            return Head(loss, count, stratify=True)
        if count == 2:
            return Head(loss, 0, stratify=True)
        if loss.targets is Targets.BINARY:
            return Head(SoftmaxCrossEntropy(), count, stratify=True)
        return Head(per_output(loss), count)

    def decision_function(self, X: Any) -> Array:
        """Compute the outputs of the network before the link. Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        scores : array of shape (n,) or (n, n_classes)
            For two classes one score, positive for ``classes_[1]``; else one for each class.
        """
        z = self._raw(X)
        return z[:, 1] - z[:, 0] if z.ndim == 2 and len(self.classes_) == 2 else z

    def predict(self, X: Any) -> Array:
        """Predict the class of each row. Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        y : array of shape (n,), or (n, n_labels) if rows may have several labels
            Predicted labels.
        """
        z = self._raw(X)
        codes = self._codes(np.asarray(to_host(z)))
        return labels_like(codes if self._several_labels else self.classes_[codes], z)

    def _codes(self, z: Array) -> Array:
        if z.ndim == 1 or self._several_labels:
            return (z > 0).astype(np.intp)
        return np.asarray(z.argmax(axis=1))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class; only for losses with such a link.

        Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        p : array of shape (n, n_classes)
            Probabilities, which sum to 1 in each row unless rows may have several labels.
        """
        z = self._raw(X)
        p = self.loss_function_.mean(z)
        if p.ndim == 1:
            return namespace(p).stack([1 - p, p], axis=1)
        if self._several_labels or self.loss_function_.link is Link.SOFTMAX:
            return p
        xp = namespace(p)  # one class against the rest
        total = xp.sum(p, axis=1, keepdims=True)
        return xp.where(total > 0, p / xp.where(total > 0, total, 1.0), 1.0 / p.shape[1])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the probabilities of the classes.

        Cost: O(n p) for p weights.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to classify.

        Returns
        -------
        log_p : array of shape (n, n_classes)
            Logarithms of `predict_proba`, finite also where these are too small for a number.
        """
        z = self._raw(X)
        xp, link = namespace(z), self.loss_function_.link
        if link is Link.SOFTMAX:
            z = z - xp.max(z, axis=1, keepdims=True)
            return z - xp.log(xp.sum(xp.exp(z), axis=1, keepdims=True))
        if z.ndim == 1:
            return xp.stack([_log_sigmoid(-z), _log_sigmoid(z)], axis=1)
        each = _log_sigmoid(z)
        if self._several_labels:  # probabilities that are rounded to 1 have equal logarithms
            large = self.loss_function_.mean(xp.where(z > 0, z, xp.zeros_like(z)))
            return xp.where(z > 0, xp.log(large), each)
        most = xp.max(each, axis=1, keepdims=True)
        return each - most - xp.log(xp.sum(xp.exp(each - most), axis=1, keepdims=True))

    def _held_out_score(self, loss: Loss, y: Array, z: Array, weight: Array | None) -> float:
        """The accuracy of the predictions."""
        if not np.isfinite(z).all():
            return float("nan")
        if self._several_labels:
            right = (self._codes(z) == y).all(axis=1)
        elif y.ndim == 2:
            right = z.argmax(axis=1) == y.argmax(axis=1)
        else:
            right = self._codes(z) == (y > 0 if z.ndim == 1 else y)
        return float(np.average(right, weights=weight))


def _log_sigmoid(z: Array) -> Array:
    """log(1/(1 + e^(−z))) without overflow."""
    xp = namespace(z)
    return xp.where(z < 0, z, xp.zeros_like(z)) - xp.log1p(xp.exp(-xp.abs(z)))


def _has_several_labels(X: Any, y: Any, who: str) -> bool:
    if isinstance(X, Source):
        return X.n_outputs > 1
    given = as_array(y, "y", who) if isinstance(y, list | tuple) else y
    # A data frame of polars has no ndim.
    shape: tuple[int, ...] = () if isinstance(y, type) else getattr(given, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def _require_labels_of_block(block: Block, who: str) -> None:
    _require_zeros_and_ones(np.asarray(block.targets), who, block.start)


def _require_zeros_and_ones(values: Array, who: str, start: int = 0) -> None:
    """Each column holds whether a row has a label; `start` is the number of the first row."""
    before = f"{who}: y has {values.shape[1]} columns, so that each must hold 0 or 1 only"
    remedy = "Pass one column of labels, or fit one model per column."
    if values.dtype.kind not in "biuf":
        raise DataError(f"{before}, but its dtype is {values.dtype}. {remedy}")
    others = np.argwhere((values != 0) & (values != 1))
    if others.size:
        row, column = others[0]
        raise DataError(
            f"{before}, but column {column} holds {values[row, column]:g} at row {start + row}. "
            f"{remedy}"
        )
