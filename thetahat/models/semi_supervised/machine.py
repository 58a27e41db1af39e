"""Shared by kernel classifiers that also learn from rows without labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.utils import ClassifierTags

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.in_memory import InMemory
from thetahat.estimator.any_loss import OF_CLASSES
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.models.kernel.machine import KernelMachine
from thetahat.models.kernel.parameters import in_memory
from thetahat.models.semi_supervised.partial_labels import PartlyLabelled


@dataclass(frozen=True)
class PartlyLabelledRows:
    """All rows of positive weight, and those among them that have labels."""

    everything: InMemory
    """The rows without targets."""
    labelled: InMemory
    """The labelled rows with targets of the loss."""
    known: Array
    """The numbers of the labelled rows among all."""
    unknown: Array
    """The numbers of the other rows."""
    used: Array
    """Mask of the rows of positive weight among the training rows."""
    n_scores: int
    """Columns of z; 0 if it is 1-D."""


class PartlyLabelledMachine(Classifier, KernelMachine, PartlyLabelled):
    """A kernel classifier; the label −1 marks rows without a label.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels in sorted order, without the value −1 (unlabelled).
    transduction_ : array of shape (n,)
        The labels of the training rows: as given, or as predicted for rows without a label.
    """

    _minus_one_is_no_label = True

    transduction_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        several = named_loss(self.loss).targets is Targets.CLASSES
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=several)
        tags.regressor_tags = None
        return tags

    def _partly_labelled(self, X: Any, y: Any, sample_weight: Any) -> PartlyLabelledRows:
        """Read the rows and labels; sets ``classes_`` and ``loss_``."""
        self.loss_ = self._loss_of_classes()
        several = self.loss_.targets is Targets.CLASSES
        source = in_memory(
            self._open(X, None, sample_weight, supervised=False), type(self).__name__
        )
        labels, known = self._partial_labels(source.y if y is None else y, source.n_rows)
        encoding = LabelEncoding.of(labels[known])
        self._require_classes(encoding, several)
        self.classes_ = encoding.classes
        codes = np.zeros(source.n_rows)
        codes[known] = encoding.encode(labels[known])
        used = source.row_weights > 0
        whole = replace(source, y=codes, has_target=True)
        require_two_weighted_classes(
            whole.take(np.flatnonzero(known)), self.classes_, type(self).__name__
        )
        # Rows of weight 0 play no part; they only get a label at the end.
        self.transduction_ = labels.astype(self.classes_.dtype, copy=True)
        kept = whole.take(np.flatnonzero(used))
        if self.loss_.targets not in (Targets.BINARY, Targets.CLASSES):
            kept = replace(kept, y=2.0 * np.asarray(kept.y) - 1.0)
        inside = known[used]
        return PartlyLabelledRows(
            everything=replace(kept, y=None, has_target=False),
            labelled=kept.take(np.flatnonzero(inside)),
            known=np.flatnonzero(inside),
            unknown=np.flatnonzero(~inside),
            used=used,
            n_scores=len(self.classes_) if several else 0,
        )

    def _loss_of_classes(self) -> Loss:
        loss = named_loss(self.loss)
        if loss.targets not in OF_CLASSES and not loss.quadratic:
            raise ParameterError(
                f"{type(self).__name__}: loss={self.loss!r} is a loss of numbers, but the model "
                'learns labels. Use "hinge", "logistic", "squared" or another loss of classes.'
            )
        return loss

    def _require_classes(self, encoding: LabelEncoding, several: bool) -> None:
        if encoding.n_classes < 2:
            raise DataError(
                f"{type(self).__name__}: the labels of y contain one class only, "
                f"{encoding.classes.tolist()[0]!r} (−1 marks rows without a label), but at least "
                "two classes are needed. If −1 is a class, recode it as 0, for example with "
                "np.where(y == -1, 0, y). Otherwise label rows of another class."
            )
        if encoding.n_classes > 2 and not several:
            raise DataError(
                f"{type(self).__name__}: y contains {encoding.n_classes} classes. Only binary "
                f"classification is supported with loss={self.loss!r}: "
                f"{self._for_several_classes}."
            )

    _for_several_classes = 'use loss="softmax_cross_entropy", or keep two of them'

    def _label_rest(self, X: Any, y: Any) -> None:
        """Fill the labels that are missing in ``transduction_`` with predictions."""
        _, known = self._partial_labels(y, len(self.transduction_))
        if not known.all():
            source = cast(InMemory, self._open_again(X))
            rest = source.take(np.flatnonzero(~known))
            self.transduction_[~known] = self.predict(rest)

    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes. Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,), positive for ``classes_[1]``, or (n, n_classes)
        """
        z = self.raw_prediction(X)
        return z[:, 1] - z[:, 0] if z.ndim == 2 and z.shape[1] == 2 else z

    def predict(self, X: Any) -> Array:
        """Predict the label of each row. Cost: that of `raw_prediction`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            The predicted labels.
        """
        z = self.decision_function(X)
        return self.classes_[z.argmax(axis=1) if z.ndim == 2 else (z > 0).astype(np.intp)]
