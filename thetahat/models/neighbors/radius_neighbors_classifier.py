"""Radius classification: f(x) = argmax_c Σ_{d(x, x_i) ≤ r} w_i·1[y_i = c]."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.queries import InRadius
from thetahat.models.neighbors.targets import NeighborsClassifier
from thetahat.models.neighbors.weights import flat_weights


@with_parameters
class RadiusNeighborsClassifier(NeighborsClassifier, InRadius):
    """Classification by a vote of all training rows within a radius.

    Formula: P(y = c | x) = Σ w_i·1[y_i = c]/Σ w_i over the rows with d(x, x_i) ≤ r; the label is
    the class with the largest share, and the first one in ``classes_`` in case of ties.

    Cost: O(log n + neighbours) per prediction with a kd-tree on average for few columns, else
    O(n d). Memory: two copies of the rows, and the neighbours of some rows at a time.

    Parameters
    ----------
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        Label of rows without a neighbour within the radius, or one for each column of labels.
        "most_frequent" is the most frequent class of the training rows. None raises an error for
        such rows.

    Attributes
    ----------
    outlier_label_ : list of labels or None
        Label of rows without neighbours for each column of labels, or None if such rows are an
        error.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.RadiusNeighborsClassifier(radius=1.0, outlier_label="b")
    >>> model = model.fit([[0.0], [0.5], [3.0]], ["a", "a", "b"])
    >>> model.predict([[0.2], [3.5], [9.0]]).tolist()
    ['a', 'b', 'b']
    """

    _ranges: ClassVar[dict[str, Range]] = {**InRadius._ranges, **NeighborsClassifier._ranges}

    radius: float = 1.0
    _: KW_ONLY
    weights: Any = "uniform"
    outlier_label: Any = None

    @classmethod
    def _example(cls) -> RadiusNeighborsClassifier:
        return cls(outlier_label="most_frequent")

    def fit(self, X: Any, y: Any = None) -> RadiusNeighborsClassifier:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree."""
        super().fit(X, y)
        self.outlier_label_ = self._label_of_outliers()
        return self

    def _label_of_outliers(self) -> Any:
        """One label per column of labels, or None."""
        label = self.outlier_label
        if label is None:
            return None
        outputs = self._outputs
        if isinstance(label, str) and label == "most_frequent":
            if not any(label in classes.tolist() for _, classes in outputs):
                return [classes[np.bincount(codes).argmax()] for codes, classes in outputs]
        labels = list(label) if np.ndim(label) else [label] * len(outputs)
        if len(labels) != len(outputs):
            raise DataError(
                f"RadiusNeighborsClassifier: the length of outlier_label: {label!r} is "
                f"inconsistent with the output length: {len(outputs)}. Give one label, or one for "
                "each column of y."
            )
        for place, (each, (_, classes)) in enumerate(zip(labels, outputs, strict=True)):
            if classes.dtype.kind in "iu" and isinstance(each, float | np.floating):
                if float(each).is_integer():
                    labels[place] = each = int(each)  # else all labels would become floats
            is_fraction = classes.dtype.kind in "iu" and isinstance(each, float | np.floating)
            if (
                is_fraction
                or np.ndim(each)
                or isinstance(each, str) != (classes.dtype.kind in "USOT")
            ):
                raise OutlierLabelError(
                    f"RadiusNeighborsClassifier: outlier_label={label!r} must be one label of the "
                    f"kind in y, such as {classes.tolist()[0]!r}, or 'most_frequent'."
                )
        return labels

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "_index" in vars(self):
            labels = vars(self).get("outlier_label_")
            check_rule(
                self,
                labels is None or not isinstance(labels, list) or len(labels) == len(self._outputs),
                "outlier_label_ must hold one label per column of labels",
            )

    def predict_proba(self, X: Any) -> Any:
        """Compute the shares of the classes among the neighbours. Cost: as `radius_neighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), or None
            Rows to predict, with the same columns as in `fit`. None predicts the training rows, of
            which none counts as its own neighbour.

        Returns
        -------
        probabilities : array of shape (m, n_classes), or list of such arrays
            Probabilities in the order of ``classes_``; one array per column of labels if there are
            several. Rows without neighbours have probability 1 for ``outlier_label_``, or zeros if
            it is not one of the classes.
        """
        votes, dtype = self._map_votes(X)
        found = []
        for each, label, (_, classes) in zip(
            votes, self._outlier_labels, self._outputs, strict=True
        ):
            total = each.sum(axis=1, keepdims=True)
            alone = total[:, 0] == 0
            if alone.any():
                known = np.flatnonzero(classes == label)
                if known.size:
                    each[alone, known[0]] = 1.0
                else:
                    self._warn_of_unknown(label, int(np.count_nonzero(alone)))
                total[alone] = 1.0
            found.append((each / total).astype(dtype, copy=False))
        return found if self.outputs_2d_ else found[0]

    def predict(self, X: Any) -> Array:
        """Predict the class with the most votes. Cost: that of `radius_neighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d), or None
            Rows to predict, with the same columns as in `fit`. None predicts the training rows, of
            which none counts as its own neighbour.

        Returns
        -------
        labels : array of shape (m,) or (m, n_outputs)
            The predicted class labels, ``outlier_label_`` for rows without neighbours.
        """
        votes = self._map_votes(X)[0]
        found = []
        for each, label, (_, classes) in zip(
            votes, self._outlier_labels, self._outputs, strict=True
        ):
            labels, alone = classes[each.argmax(axis=1)], ~each.any(axis=1)
            if alone.any():
                if label not in classes.tolist():
                    self._warn_of_unknown(label, int(np.count_nonzero(alone)))
                labels = labels.astype(np.result_type(labels, np.asarray(label)))
                labels[alone] = label
            found.append(labels)
        return np.stack(found, axis=1) if self.outputs_2d_ else found[0]

    @property
    def _outlier_labels(self) -> list[Any]:
        labels = self.outlier_label_
        # Files of earlier versions hold the one label itself.
        return labels if isinstance(labels, list) else [labels] * len(self._outputs)

    def _warn_of_unknown(self, label: Any, count: int) -> None:
        rows = "1 row" if count == 1 else f"{count} rows"
        warn(
            f"RadiusNeighborsClassifier: Outlier label {label!s} is not in training classes. "
            f"Probabilities of {rows} without neighbours are 0 for every class.",
            UserWarning,
        )

    def _votes(self, rows: Matrix | None) -> list[Array]:
        """The weight of each class among the neighbours, (m, n_classes); zeros without any."""
        parts, alone, m = [], [], self.n_samples_fit_ if rows is None else rows.shape[0]
        for some, found in self._within_by_blocks(rows):
            n = found.counts.shape[0]
            alone.append(some.start + np.flatnonzero(found.counts == 0))
            weight = flat_weights(found, self.weights, type(self).__name__, some.start)
            query = np.repeat(np.arange(n), found.counts)
            parts.append(self._votes_of(query, found.row, weight, n))
        if self.outlier_label_ is None and (without := np.concatenate(alone)).size:
            raise DataError(
                f"RadiusNeighborsClassifier: No neighbors found for {without.size} of {m} rows "
                f"(first at row {without[0]}) within the radius {self.radius:g}. Use a larger "
                "radius, or set outlier_label."
            )
        return [np.concatenate(each) for each in zip(*parts, strict=True)]


class OutlierLabelError(ParameterError, TypeError):
    """The label of rows without neighbours is of another kind than the classes."""
