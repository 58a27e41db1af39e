"""The smallest axis-parallel box around the positive rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.two_class_learner import TwoClassLearner
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class _Box:
    """Smallest and largest value of each column over the positive rows."""

    low: Array
    high: Array

    def merge(self, other: _Box) -> _Box:
        return _Box(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def contains(self, X: Array) -> Array:
        return np.all((self.low <= X) & (self.high >= X), axis=1)


class AxisParallelRectangle(TwoClassLearner):
    """Classify rows as positive if they lie in the smallest box around the positive training rows.

    Formula: h(x) = Π_j 1[low_j ≤ x_j ≤ high_j], with low and high the smallest and largest values
    of the positive rows. Positive training rows are always classified correctly. If the true
    concept is a box, then for m ≥ (2d/ε)·log(2d/δ) rows the true error is at most ε with
    probability 1 − δ (``th.theory.rectangle_sample_size``).

    Cost: O(n d) in one pass, in memory or block by block.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The class labels, in sorted order; the second one is the positive class.
    low_, high_ : array of shape (d,)
        Lower and upper bounds of the box.
    consistent_ : bool
        Whether no negative training row lies in the box. If False, no box classifies all training
        rows correctly.
    n_inside_ : int
        Number of negative training rows in the box.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0, 0.0], [1.0, 2.0], [5.0, 5.0]]
    >>> box = th.AxisParallelRectangle().fit(X, [True, True, False])
    >>> box.predict([[0.5, 1.0], [0.5, 3.0]]).tolist()
    [True, False]
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AxisParallelRectangle:
        """Find the smallest box around the positive rows. Cost: O(n d).

        Parameters
        ----------
        X : array-like or Source of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,), optional
            Labels of two classes; the second one in sorted order is positive. None if X is a
            `Source` with targets.
        sample_weight : array-like of shape (n,), optional
            Rows of weight 0 are ignored; all other weights are equivalent.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open_classes(X, y, sample_weight, most=2)
        box = source.reduce(_around_positives)
        self.low_, self.high_ = box.low, box.high
        self.n_inside_ = int(source.reduce(_negatives_inside, box).number)
        self.consistent_ = self.n_inside_ == 0
        return self

    def _score_block(self, block: Block) -> Array:
        """Distance of each row to the border of the box, positive inside and on the border."""
        rows = dense_rows(block)
        depth = np.minimum(rows - self.low_, self.high_ - rows).min(axis=1)
        depth[depth == 0] = np.finfo(rows.dtype).tiny
        return depth.astype(rows.dtype, copy=False)


@dataclass(frozen=True)
class _Number:
    number: int

    def merge(self, other: _Number) -> _Number:
        return _Number(self.number + other.number)


def _counted(block: Block, code: int) -> Array:
    rows = to_host(block.y) == code
    return rows if block.weight is None else rows & (to_host(block.weight) > 0)


def _around_positives(block: Block) -> _Box:
    rows = dense_rows(block)[_counted(block, 1)]
    return _Box(rows.min(axis=0, initial=np.inf), rows.max(axis=0, initial=-np.inf))


def _negatives_inside(block: Block, box: _Box) -> _Number:
    return _Number(int(box.contains(dense_rows(block)[_counted(block, 0)]).sum()))
