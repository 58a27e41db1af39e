"""Multinomial naive Bayes: a row of counts is drawn from the column probabilities of its class.

log p(x, c) = log π_c + Σ_j x_j log θ_cj,   θ_cj = (N_cj + α) / Σ_k (N_ck + α)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_sums import ClassSums, class_sums
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.naive_bayes.discrete import DiscreteNB, finite_logs, linear_scores

LARGEST_TOTAL = 2**53
"""Largest total of a row that can be drawn; larger counts are not exact in floating point."""


class CountNB(DiscreteNB):
    """Naive Bayes from the sums of non-negative counts in every class.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, d)
        Weighted sum of each column in each class (N).
    feature_log_prob_ : array of shape (n_classes, d)
        Logarithm of the probability of each column in each class (log θ).
    """

    _accepts_sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _summarise(self, source: Source) -> ClassSums:
        found = class_sums(source, len(self.classes_))
        self._require_no_negative(source, found.lowest)
        self._require_finite_counts(source, found.sums)
        return found

    def _summary(self) -> ClassSums | None:
        if "feature_log_prob_" not in self.__dict__:
            return None
        return ClassSums(self.class_count_, self.feature_count_, 0.0)


@with_parameters
class MultinomialNB(CountNB, GenerativeClassifier):
    """Multinomial naive Bayes classifier, for counts such as those of words in a text.

    Formula: p(x | c) = (Σ_j x_j)!/Π_j x_j! · Π_j θ_cj^{x_j} with θ_cj = (N_cj + α)/Σ_k (N_ck + α),
    the smoothed share of column j among all counts of class c, and p(c | x) ∝ π_c·p(x | c).
    Fractional counts, such as tf-idf, are accepted. `log_density` is the probability of the counts
    given their total; `predict_joint_log_proba` leaves out the factor of factorials, which is the
    same for all classes. `sample` draws rows whose total is the rounded mean total of their class.

    Cost: O(number of entries that are not 0) for `fit` and O(C·d) memory; C times as many
    operations for predictions. Sparse rows stay sparse.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, d)
        Weighted sum of each column in each class (N).
    feature_log_prob_ : array of shape (n_classes, d)
        Logarithm of the probability of each column in each class (log θ).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.MultinomialNB().fit([[2, 1, 0], [3, 0, 0], [0, 1, 4]], ["a", "a", "b"])
    >>> model.feature_count_.tolist()
    [[5.0, 1.0, 0.0], [0.0, 1.0, 4.0]]
    >>> model.predict([[1, 1, 0]]).tolist()
    ['a']
    """

    def _conclude(self, summary: ClassSums) -> None:
        alpha = self._check_alpha()
        self._set_class_prior(summary.count)
        self.feature_count_ = summary.sums
        smoothed = summary.sums + alpha
        # In a class without counts all columns are equally probable.
        smoothed[smoothed.sum(axis=1) == 0] = 1.0
        total = smoothed.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            logs = np.log(smoothed, out=smoothed)
        logs -= np.log(total)
        self.feature_log_prob_ = logs
        self._table, self._impossible = finite_logs(np.ascontiguousarray(logs.T))

    def _joint(self, rows: Matrix) -> Array:
        return linear_scores(rows, self._table, self.class_log_prior_, self._impossible)

    def log_density(self, X: Any) -> Array:
        """Compute the logarithm of the probability of the counts given their total; −inf if 0.

        Negative counts are an error here, because they have no probability. `predict` accepts them,
        as scikit-learn does: held-out rows of a scaled column may be slightly negative.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of p(x | Σ_j x_j) for every row.
        """
        source = self._open_again(X)
        for block in source.blocks():
            entries = block.X if isinstance(block.X, np.ndarray) else block.X.data
            if entries.size and entries.min() < 0:
                self._require_no_negative(source, -1.0)
        joint = super().log_density(X)
        return joint + source.map_rows(_log_arrangements).astype(joint.dtype)

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        count = self.class_count_[code]
        mean = float((self.feature_count_[code] / count).sum()) if count > 0 else 1.0
        if not mean <= LARGEST_TOTAL:
            label = self.classes_.tolist()[code]
            raise CapabilityError(
                f"MultinomialNB.sample: the rows of class {label!r} have a mean total of "
                f"{mean:.3g}, but counts can be drawn up to a total of {LARGEST_TOTAL:.3g}. Fit "
                "the model to smaller counts: divide X by the same factor."
            )
        total = round(self.feature_count_[code].sum() / count) if count > 0 else 1
        shares = np.exp(self.feature_log_prob_[code])
        return rng.multinomial(total, shares / shares.sum(), size=n_samples).astype(np.float64)


def _log_arrangements(block: Block) -> Array:
    """log (Σ_j x_j)!/Π_j x_j! of every row."""
    X = block.X
    total = np.asarray(X.sum(axis=1), dtype=np.float64)
    if isinstance(X, np.ndarray):
        return np.asarray(gammaln(total + 1) - gammaln(X.astype(np.float64) + 1).sum(axis=1))
    logs = X.copy()
    logs.data = gammaln(logs.data.astype(np.float64) + 1)
    return np.asarray(gammaln(total + 1) - logs.sum(axis=1))
