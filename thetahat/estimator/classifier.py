"""Shared by all classifiers: labels of any kind, coded internally as 0, 1, …, C−1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.data.arrays import as_array
from thetahat.data.class_weights import class_weighted
from thetahat.data.columns.labels import (
    LabelEncoding,
    plain_objects,
    without_extension_type,
    without_text_type,
)
from thetahat.data.source import Source
from thetahat.data.validation import require_dense_target, require_real_labels
from thetahat.data.views import View, as_given, relabelled, with_one_target
from thetahat.estimator.base import Estimator
from thetahat.estimator.source_scores import ScoredClassifier
from thetahat.estimator.stored_parts import require_fitting_classes
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


class LabelledEstimator(Estimator):
    """Opens data whose targets are labels; keeps ``classes_``, the labels in order of their codes.

    A classifier derives from `Classifier`; a model that is a classifier for some of its losses
    derives from this class and declares its kind itself.
    """

    classes_: Array

    def _check_stored_classes(self) -> None:
        require_fitting_classes(self)

    def _open_classes(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        class_weight: Any = None,
        check_finite: bool = True,
        least: int = 2,
        most: int | None = None,
        remedy: str = "keep two of them, or fit one model per class",
    ) -> Source:
        """As `_open`, with targets 0, …, C−1; sets ``classes_`` and applies the class weights."""
        if isinstance(X, Source) or y is None:
            source, encoding = self._open_coded(X, y, sample_weight)
        else:
            labels = self._labels(y)
            encoding = LabelEncoding.of(labels)
            source = self._open(
                X, encoding.encode(labels), sample_weight, check_finite=check_finite
            )
        if encoding.n_classes < least:
            raise DataError(
                f"{type(self).__name__}: y contains one class only, "
                f"{encoding.classes.tolist()[0]!r}, but at least two classes are needed. Add rows "
                "of another class."
            )
        if most is not None and encoding.n_classes > most:
            raise DataError(
                f"{type(self).__name__}: y contains {encoding.n_classes} classes. Only binary "
                f"classification is supported: {remedy}."
            )
        self.classes_ = encoding.classes
        return class_weighted(source, encoding.classes, class_weight, type(self).__name__)

    def _open_coded(
        self, X: Any, y: Any, sample_weight: Any, encoding: LabelEncoding | None = None
    ) -> tuple[Source, LabelEncoding]:
        """A source whose targets are codes, and their encoding."""
        if not isinstance(X, Source) or X.labels is None:
            opened = self._open(X, y, sample_weight)
            return relabelled(with_one_target(opened, type(self).__name__), encoding)
        codes = self._open(View.of(X, as_given, labels=None), y, sample_weight)
        return relabelled(replace(codes, labels=X.labels), encoding)

    def _open_batch(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        most: int | None = None,
    ) -> tuple[Source, bool]:
        """As `_open_classes` for ``partial_fit``, and whether this is its first call."""
        who = type(self).__name__
        fresh = not hasattr(self, "classes_")
        if fresh:
            if classes is None:
                raise ParameterError(
                    f"{who}.partial_fit: the first call needs classes=[...] with all labels, "
                    "because a batch may not contain all of them."
                )
            if np.ndim(classes) != 1 or isinstance(classes, str):
                raise ParameterError(
                    f"{who}.partial_fit: classes={classes!r:.80} must be a sequence of all labels. "
                    "Pass for example classes=[0, 1]."
                )
            encoding = LabelEncoding.of(np.asarray(classes))
            if encoding.n_classes < 2 or (most is not None and encoding.n_classes > most):
                raise DataError(
                    f"{who}: the number of labels in classes is {encoding.n_classes}; "
                    + ("give two." if most == 2 else "give at least two.")
                )
        else:
            require_same_classes(classes, self.classes_, who)
            encoding = LabelEncoding(self.classes_)
            shape = (X.n_rows, X.n_features) if isinstance(X, Source) else np.shape(X)
            width = shape[1] if len(shape) == 2 else 0
            if width and width != self.n_features_in_:
                raise DataError(
                    f"X has {width} features, but {who} is expecting {self.n_features_in_} "
                    "features as input. Every batch must have the columns of the first one."
                )
        if isinstance(X, Source) or y is None:
            source, _ = self._open_coded(X, y, sample_weight, encoding)
        else:
            source = self._open(X, encoding.encode(self._labels(y)), sample_weight)
        self.classes_ = encoding.classes
        return source, fresh

    def _labels(self, y: Any) -> Array:
        """y as a 1-D array of labels; continuous numbers are refused."""
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import column_or_1d

        require_dense_target(y, type(self).__name__)
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubfU":
            labels = y
        else:
            y = without_extension_type(y)
            if not hasattr(y, "shape"):
                y = as_array(y, "y", type(self).__name__)
            if isinstance(y, np.ndarray):
                y = without_text_type(y)
            require_real_labels(y, type(self).__name__)
            labels = column_or_1d(y, warn=True)
        if labels.size == 0:
            raise DataError(
                f"Found array with 0 sample(s) while a minimum of 1 is required by "
                f"{type(self).__name__}: y has no labels. Give at least one row of X with its "
                "label."
            )
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = int(np.argmin(np.isfinite(labels)))
            kind = "NaN" if np.isnan(labels[row]) else "infinity"
            raise DataError(
                f"Input y contains {kind} (first at row {row}); {type(self).__name__} needs a "
                "label for every row. Drop those rows, or give them a label."
            )
        if labels.dtype.kind == "O":
            LabelEncoding.of(labels)  # raises an error that names missing or mixed labels
            labels = plain_objects(labels, type(self).__name__)
        if labels.dtype.kind not in "iub":  # whole numbers are always accepted as labels
            check_classification_targets(labels)
        return labels


def require_same_classes(given: Any, known: Array, who: str) -> None:
    """Refuse `classes` of a later call of ``partial_fit`` that differ from those of the first."""
    if given is None:
        return
    found = np.asarray(given)
    if set(found.ravel().tolist()) != set(known.tolist()):
        raise DataError(
            f"{who}: `classes={found.tolist()!r:.80}` is not the same as on last call to "
            f"partial_fit, was: {known.tolist()!r:.80}. Pass all classes in the first call, and "
            "leave them out of later ones."
        )


class Classifier(ScoredClassifier, LabelledEstimator):
    """A classifier with fitted ``classes_``."""

    _generative = False
