"""What all linear classifiers share: scores z = xᵀβ + b, and the label with the largest.

Two classes have one score, the second class's against the first's; more have one each. Labels may
be text, numbers or Booleans; inside, they are the codes 0, 1, …, C−1 of ``classes_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from thetahat.data.class_weights import class_weighted
from thetahat.data.labels import LabelEncoding
from thetahat.data.relabelled import relabelled
from thetahat.data.source import Source
from thetahat.estimator.linear import Linear
from thetahat.foundation.errors import DataError
from thetahat.objective.empirical_risk import EmpiricalRisk

Array = Any


class LinearClassifier(ClassifierMixin, Linear):
    """Fitted ``classes_``, ``coef_`` of shape (1 or C, d) and ``intercept_`` of shape (1 or C,)."""

    classes_: Array

    def decision_function(self, X: Any) -> Array:
        """The scores z = Xβ + b. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,) for two classes, positive for ``classes_[1]``; else (n, C)
        """
        z = self._raw(X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict(self, X: Any) -> Array:
        """The label of the largest score. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,), of the type of the labels given to `fit`
        """
        z = self._raw(X)
        codes = (z[:, 0] > 0).view(np.int8) if z.shape[1] == 1 else z.argmax(axis=1)
        return self.classes_[codes]

    def _open_classes(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        class_weight: Any = None,
        check_finite: bool = True,
        least: int = 2,
    ) -> Source:
        """As `_open`, with targets 0, …, C−1; keeps ``classes_`` and weighs them as asked."""
        if isinstance(X, Source) or y is None:
            source, encoding = relabelled(self._open(X, y, sample_weight))
        else:
            labels = self._labels(y)
            encoding = LabelEncoding.of(labels)
            source = self._open(
                X, encoding.encode(labels), sample_weight, check_finite=check_finite
            )
        if encoding.n_classes < least:
            raise DataError(
                f"{type(self).__name__}: y holds one class only, {encoding.classes.tolist()[0]!r}; "
                "telling classes apart takes at least two. Give rows of another class too."
            )
        self.classes_ = encoding.classes
        return class_weighted(source, encoding.classes, class_weight, type(self).__name__)

    def _labels(self, y: Any) -> Array:
        """y as a 1-D array of labels; numbers that are no labels are refused."""
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import column_or_1d

        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = int(np.argmin(np.isfinite(labels)))
            kind = "NaN" if np.isnan(labels[row]) else "infinity"
            raise DataError(
                f"Input y contains {kind} (first at row {row}); {type(self).__name__} needs a "
                "label for every row. Drop those rows, or name a class for them."
            )
        check_classification_targets(labels)
        return labels

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        found = super()._attributes(theta, risk)
        return {
            "coef_": np.atleast_2d(found["coef_"]),
            "intercept_": np.atleast_1d(found["intercept_"]),
        }
