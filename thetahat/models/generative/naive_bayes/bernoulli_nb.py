"""Bernoulli naive Bayes: every column is 0 or 1, with its own probability in every class.

log p(x, c) = log π_c + Σ_j [x_j log θ_cj + (1 − x_j) log(1 − θ_cj)],   θ_cj = (N_cj + α)/(N_c + 2α)
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import ClassVar

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_sums import ClassSums, class_sums
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, none
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.naive_bayes.discrete import DiscreteNB, finite_logs, linear_scores


@with_parameters
class BernoulliNB(DiscreteNB, GenerativeClassifier):
    """Bernoulli naive Bayes classifier, for columns of 0 and 1 such as black-and-white pixels.

    Formula: p(x | c) = Π_j θ_cj^{x_j} (1 − θ_cj)^{1 − x_j}, with θ_cj = (N_cj + α)/(N_c + 2α) from
    the number of ones N_cj among the N_c rows of the class. α = 0 gives the maximum-likelihood
    estimate N_cj/N_c, and α = 1 the most probable θ under the prior Beta(2, 2), which is
    (N_cj + 1)/(N_c + 2).

    Cost: O(n·d) time for `fit` (O(stored entries) for sparse rows) and O(C·d) memory; C times as
    many operations for predictions.

    Parameters
    ----------
    binarize : float or None, default=0.0
        Entries above this threshold count as 1, all others as 0. Must not be negative, so that
        zeros of sparse rows stay 0. None expects entries that are 0 or 1 already.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, d)
        Total weight of the rows with a 1 in each column, in each class (N_cj).
    feature_log_prob_ : array of shape (n_classes, d)
        Logarithm of the probability of a 1 in each column, in each class (log θ).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> model = th.BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1])
    >>> np.exp(model.feature_log_prob_).round(6).tolist()
    [[0.75, 0.5], [0.25, 0.75]]
    >>> model.predict([[1, 0]]).tolist()
    [0]
    """

    _: KW_ONLY
    binarize: float | None = 0.0

    _ranges: ClassVar[dict[str, Range]] = DiscreteNB._ranges | {
        "binarize": none | at_least(0, LARGEST_FACTOR)
    }
    _accepts_sparse = True

    def _summarise(self, source: Source) -> ClassSums:
        if self.binarize is None:
            source.require_finite()
            for _ in source.map_blocks(partial(_require_binary, source=source)):
                pass
        found = class_sums(source, len(self.classes_), self.binarize)
        if self.binarize is not None:
            source.require_finite()
        return found

    def _summary(self) -> ClassSums | None:
        if "feature_log_prob_" not in self.__dict__:
            return None
        return ClassSums(self.class_count_, self.feature_count_, 0.0)

    def _conclude(self, summary: ClassSums) -> None:
        alpha = self._check_alpha()
        self._set_class_prior(summary.count)
        self.feature_count_ = summary.sums
        ones = summary.sums + alpha
        # From the counts, as 1 − θ loses digits where θ is near 1.
        zeros = np.maximum(summary.count[:, None] - summary.sums, 0.0)
        zeros += alpha
        total = np.broadcast_to(summary.count[:, None] + 2.0 * np.asarray(alpha), ones.shape)
        if not total.all():
            # In a class without rows 0 and 1 are equally probable.
            ones[total == 0] = zeros[total == 0] = 1.0
            total = np.where(total == 0, 2.0, total)
        elif np.ndim(alpha) == 0:
            total = total[:, :1]
        with np.errstate(divide="ignore"):
            one, zero = np.log(ones, out=ones), np.log(zeros, out=zeros)
        one -= np.log(total)
        zero -= np.log(total)
        self.feature_log_prob_ = one
        one, no_one = finite_logs(one)
        zero, no_zero = finite_logs(zero)
        self._table = np.ascontiguousarray((one - zero).T)
        self._constant = self.class_log_prior_ + zero.sum(axis=1)
        self._impossible, self._needed = None, None
        if no_one is not None or no_zero is not None:
            nothing = np.zeros_like(one)
            hindered = nothing if no_zero is None else no_zero
            self._needed = hindered.sum(axis=1)
            self._impossible = np.ascontiguousarray(
                ((nothing if no_one is None else no_one) - hindered).T
            )

    def _joint(self, rows: Matrix) -> Array:
        return linear_scores(
            self._bits(rows), self._table, self._constant, self._impossible, self._needed
        )

    def _bits(self, rows: Matrix) -> Matrix:
        """The rows as zeros and ones."""
        if self.binarize is None:
            return rows
        if isinstance(rows, np.ndarray):
            return (rows > self.binarize).astype(rows.dtype)
        bits = (rows.data > self.binarize).astype(rows.dtype)
        return type(rows)((bits, rows.indices, rows.indptr), shape=rows.shape, copy=False)

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        share = np.exp(self.feature_log_prob_[code])
        return (rng.random((n_samples, share.shape[0])) < share).astype(np.float64)


def _require_binary(block: Block, source: Source) -> None:
    values = dense_rows(block)
    wrong = np.argwhere((values != 0) & (values != 1))
    if wrong.size:
        row, column = (int(place) for place in wrong[0])
        raise DataError(
            f"BernoulliNB: column {source.schema.label(column)} holds {values[row, column]:g} at "
            f"row {block.start + row}, but binarize=None expects 0 and 1. Set binarize to a "
            "threshold."
        )
