"""The confusion matrix, with accuracy, precision and recall and their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.column_targets import one_column
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.validation import as_weight
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Confusion:
    """A confusion matrix with accuracy, precision and recall; prints as a table.

    Formula: with two classes, accuracy (TP + TN)/n, precision TP/(TP + FP), recall TP/(TP + FN),
    false positive rate FP/(FP + TN); each is a proportion with Wilson's interval. Cost: O(C²)
    memory.

    Attributes
    ----------
    classes : array of shape (C,)
        The labels in sorted order. With two classes, the second is the positive one.
    counts : array of shape (C, C)
        The counts, one row per true label and one column per predicted label.
    level : float
        Confidence level of the intervals.
    accuracy, error : Interval
        The share of rows that are predicted correctly, and the share of errors.

    Examples
    --------
    >>> import thetahat as th
    >>> table = th.confusion([1, 1, 0, 0, 1], [1, 0, 0, 1, 1])
    >>> table.counts.tolist()
    [[1, 1], [1, 2]]
    >>> round(table.recall().estimate, 4)
    0.6667
    """

    classes: Array
    counts: Array
    level: float = 0.95

    @property
    def accuracy(self) -> Interval:
        """The share of rows that are predicted correctly."""
        return self._share(np.trace(self.counts), self.counts.sum(), "accuracy")

    @property
    def error(self) -> Interval:
        """The share of rows that are predicted wrongly."""
        right = np.trace(self.counts)
        return self._share(self.counts.sum() - right, self.counts.sum(), "error")

    def precision(self, label: Any = None) -> Interval:
        """The share of rows predicted as `label` whose true label it is. Cost: O(C).

        Parameters
        ----------
        label : label, optional
            The class to consider. By default the positive class, if there are two.

        Returns
        -------
        Interval
        """
        place = self._place(label)
        return self._share(self.counts[place, place], self.counts[:, place].sum(), "precision")

    @described_like(precision)
    def recall(self, label: Any = None) -> Interval:
        """The share of rows with the true label `label` that are predicted so. Cost: O(C).

        Returns
        -------
        Interval
        """
        place = self._place(label)
        return self._share(self.counts[place, place], self.counts[place].sum(), "recall")

    @described_like(precision)
    def false_positive_rate(self, label: Any = None) -> Interval:
        """The share of rows of other labels that are predicted as `label`. Cost: O(C²).

        Returns
        -------
        Interval
        """
        place = self._place(label)
        called = self.counts[:, place].sum() - self.counts[place, place]
        others = self.counts.sum() - self.counts[place].sum()
        return self._share(called, others, "false positive rate")

    def __str__(self) -> str:
        names = [str(label) for label in self.classes.tolist()]
        width = max(9, *(len(name) for name in names))
        head = "true \\ predicted"
        lines = [f"{head:<{len(head)}} " + " ".join(f"{name:>{width}}" for name in names)]
        for name, row in zip(names, self.counts, strict=True):
            lines.append(f"{name:<{len(head)}} " + " ".join(f"{count:>{width}g}" for count in row))
        lines.append(f"accuracy {self.accuracy}")
        return "\n".join(lines)

    __repr__ = __str__

    def _place(self, label: Any) -> int:
        if label is None:
            if self.classes.size != 2:
                raise ParameterError(
                    f"There are {self.classes.size} classes. Say which one is the positive class, "
                    f"for example {self.classes.tolist()[0]!r}."
                )
            return 1
        return int(LabelEncoding(self.classes).encode([label])[0])

    def _share(self, part: float, whole: float, what: str) -> Interval:
        if not whole > 0:
            raise DataError(f"The {what} is 0 of 0 rows, so it is not defined.")
        return proportion_interval(float(part), float(whole), level=self.level)


def confusion(
    y: Any, predicted: Any, *, sample_weight: Any = None, level: float = 0.95
) -> Confusion:
    """Compute the confusion matrix of true and predicted labels.

    Formula: counts[a, b] = Σ w·1[true = a, predicted = b]. Cost: O(n log C).

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        The true labels and the predicted labels.
    sample_weight : array-like of shape (n,), optional
        Row weights, finite and ≥ 0, not all 0. A row of weight 2 counts twice.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.confusion(["ham", "spam", "spam"], ["ham", "spam", "ham"]))
    true \\ predicted       ham      spam
    ham                      1         0
    spam                     1         1
    accuracy 0.6667, 95% interval 0.2077 to 0.9385 (Wilson)
    """
    require_level(level)
    truth, called = np.asarray(one_column(y)), np.asarray(one_column(predicted))
    if truth.ndim != 1 or truth.shape != called.shape or not truth.size:
        raise DataError(
            f"y has shape {truth.shape} and predicted {called.shape}. Give one true and one "
            "predicted label per row."
        )
    encoding = LabelEncoding.of(np.concatenate([truth, called]))
    a, b = encoding.encode(truth), encoding.encode(called)
    size = encoding.n_classes
    weight = None
    if sample_weight is not None:
        weight = as_weight(one_column(sample_weight), truth.size, "confusion")
    counts = np.bincount(a * size + b, weights=weight, minlength=size * size)
    return Confusion(encoding.classes, counts.reshape(size, size), level)
