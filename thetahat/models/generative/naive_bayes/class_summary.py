"""Classifiers that are fitted by one summary of the rows of every class.

The summary of all rows is the merged summary of their batches, so `partial_fit` on batches gives
the model of `fit` on all rows, up to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.source import Source
from thetahat.estimator.batches import batch_after
from thetahat.estimator.classifier import require_same_classes
from thetahat.estimator.generative_classifier import BayesRule
from thetahat.foundation.errors import DataError


class SummarisedClasses(BayesRule, ABC):
    """Fits from a mergeable summary of the classes; a subclass summarises and concludes."""

    @abstractmethod
    def _summarise(self, source: Source) -> Any:
        """The summary of the rows of a source whose targets are the codes of the classes."""

    @abstractmethod
    def _summary(self) -> Any:
        """The summary of all rows so far; None if no fit has succeeded."""

    @abstractmethod
    def _conclude(self, summary: Any) -> None:
        """Set the fitted attributes from the summary of all rows."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to all rows, in one pass over them.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows. A `Source` is read block by block and contains the labels and weights.
        y : array-like of shape (n,), optional
            Class label of each training row. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open_classes(X, y, sample_weight, least=1, check_finite=False)
        self._conclude(self._summarise(source))
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add a batch of rows to the model. The batches together give the model of one `fit`.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,), optional
            Class label of each row. Leave it out if X is a `Source`.
        classes : array-like of shape (n_classes,), optional
            All class labels that may occur in any call. Required in the first call, and can be left
            out in later ones.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        who = type(self).__name__
        resuming = hasattr(self, "classes_")
        if resuming:
            require_same_classes(classes, self.classes_, who)
            encoding = LabelEncoding(self.classes_)
        elif classes is None:
            raise DataError(
                f"{who}: classes must be passed on the first call to partial_fit. Pass "
                "classes=[...] with all labels, because later batches may contain other labels."
            )
        else:
            encoding = LabelEncoding.of(np.asarray(classes))
        with batch_after(self, X, first=not resuming):
            source = self._open_coded_batch(X, y, sample_weight, encoding)
        self.classes_ = encoding.classes
        summary = self._summarise(source)
        before = self._summary() if resuming else None
        self._conclude(summary if before is None else before.merge(summary))
        return self

    def _open_coded_batch(
        self, X: Any, y: Any, sample_weight: Any, encoding: LabelEncoding
    ) -> Source:
        """The rows of one batch, with their labels as codes of the known classes."""
        try:
            if isinstance(X, Source) or y is None:
                return self._open_coded(X, y, sample_weight, encoding)[0]
            codes = encoding.encode(self._labels(y))
            return self._open(X, codes, sample_weight, check_finite=False)
        except DataError as failure:
            if "belong to no class" not in str(failure):
                raise
            raise DataError(
                f"{type(self).__name__}: The target labels in y do not exist in the initial "
                f"classes: {failure} Pass all classes in the first call."
            ) from failure
