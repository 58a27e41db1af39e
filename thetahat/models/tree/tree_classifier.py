"""Parts shared by classifiers based on trees: labels of one or several outputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.data.arrays import as_array
from thetahat.data.class_weights import require_counted_row, weights_of_classes
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.in_memory import InMemory
from thetahat.data.validation import require_dense_target
from thetahat.estimator.classifier import Classifier
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.tree.learner import TreeLearner


class TreeClassifierLearner(TreeLearner, Classifier):
    """Sets ``classes_``, ``n_classes_`` and ``n_outputs_``; lists for several outputs.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or list of such arrays
        The class labels, in sorted order; a list of arrays for several outputs.
    n_classes_ : int, or list or array of int
        Number of classes; for several outputs an array in a tree, and a list in a forest.
    """

    _multi_output = True
    classes_: Any
    n_classes_: Any
    n_outputs_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _open_labels(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, class_weight: Any = None
    ) -> InMemory:
        """Like `_open_columns`, with the codes 0, …, C−1 of the labels as targets, (n,) or (n, k).

        The weight of a row is multiplied by the weights of its classes, one per output.
        """
        require_dense_target(y, type(self).__name__)
        y = y if y is None else as_array(y, "y", type(self).__name__)
        if y is None or y.ndim != 2 or y.shape[1] == 1:
            y = y if y is None or y.ndim != 2 else y[:, 0]
            source: Any = self._open_classes(
                X, y, sample_weight, class_weight=class_weight, least=1
            )
            self.n_outputs_, self.n_classes_ = 1, len(self.classes_)
            return source
        labels = [self._labels(column) for column in y.T]
        encodings = [LabelEncoding.of(column) for column in labels]
        codes = [encoding.encode(of) for encoding, of in zip(encodings, labels, strict=True)]
        source = self._open(X, np.column_stack(codes), sample_weight)
        self.n_outputs_ = len(encodings)
        self.classes_ = [encoding.classes for encoding in encodings]
        self.n_classes_ = [encoding.n_classes for encoding in encodings]
        return self._weighted(source, class_weight)

    @abstractmethod
    def _shares(self, X: Any) -> Array:
        """Class proportions of each row, (n, outputs, classes)."""

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities: the class proportions in the leaf of each row.

        Forests average them over the trees. Cost: O(n · depth) per tree.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
            Probabilities in the order of ``classes_``.
        """
        shares = self._shares(X)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, k, :n_classes] for k, n_classes in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithms of the class probabilities; −∞ where a probability is 0.

        Cost: as `predict_proba`.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
            Log-probabilities in the order of ``classes_``.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def _weighted(self, source: InMemory, class_weight: Any) -> InMemory:
        """The rows with their weights multiplied by the weights of their classes."""
        if class_weight is None:
            return source
        who = type(self).__name__
        if isinstance(class_weight, Mapping) or (
            not isinstance(class_weight, str) and len(class_weight) != self.n_outputs_
        ):
            raise ParameterError(
                f"{who}: class_weight={class_weight!r} with {self.n_outputs_} outputs must be "
                "'balanced' or a list of dictionaries, one per output."
            )
        total = source.row_weights
        for k, classes in enumerate(self.classes_):
            of_output = class_weight if isinstance(class_weight, str) else class_weight[k]
            codes = np.asarray(source.y)[:, k]
            alone = replace(source, y=codes, n_outputs=0)
            total = total * weights_of_classes(alone, classes, of_output, who)[codes.astype(int)]
        require_counted_row(bool(total.any()), who)
        return replace(source, weight=total, has_weight=True)
