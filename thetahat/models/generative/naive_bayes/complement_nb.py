"""Complement naive Bayes: a class is scored by the counts of all other classes.

s_c(x) = Σ_j x_j w_cj,   w_cj = −log[(α + Σ_{k≠c} N_kj) / Σ_i (α + Σ_{k≠c} N_ki)]
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from thetahat.data.summaries.class_sums import ClassSums
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.naive_bayes.discrete import DiscreteNB, finite_logs, linear_scores
from thetahat.models.generative.naive_bayes.multinomial_nb import CountNB


@with_parameters
class ComplementNB(CountNB):
    """Complement naive Bayes classifier, for counts of classes with very different numbers of rows.

    Formula: the label is argmax_c Σ_j x_j w_cj with w_cj = −log θ̃_cj, where θ̃_cj is the smoothed
    share of column j among the counts of all classes but c (Rennie et al., 2003). The scores are
    not probabilities of the rows, so that the model has no density and draws no samples;
    `predict_proba` normalises e^{s_c}.

    Cost: O(number of entries that are not 0) for `fit` and O(C·d) memory; C times as many
    operations for predictions. Sparse rows stay sparse.

    Parameters
    ----------
    norm : bool, default=False
        Whether the weights of a class are divided by their sum, so that classes whose weights are
        large as a whole are not preferred.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, d)
        Weighted sum of each column in each class (N).
    feature_all_ : array of shape (d,)
        Weighted sum of each column over all classes.
    feature_log_prob_ : array of shape (n_classes, d)
        Weight of each column for each class (w).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.ComplementNB().fit([[2, 1, 0], [3, 0, 0], [0, 1, 4]], ["a", "a", "b"])
    >>> model.feature_all_.tolist()
    [5.0, 2.0, 4.0]
    >>> model.predict([[1, 1, 0]]).tolist()
    ['a']
    """

    _: KW_ONLY
    norm: bool = False

    _ranges: ClassVar[dict[str, Range]] = DiscreteNB._ranges | {"norm": boolean}

    def _conclude(self, summary: ClassSums) -> None:
        alpha = self._check_alpha()
        self._set_class_prior(summary.count)
        self.feature_count_ = summary.sums
        self.feature_all_ = summary.sums.sum(axis=0)
        # A difference of sums may round below 0.
        others = np.maximum(self.feature_all_ - summary.sums, 0.0)
        others += alpha
        others[others.sum(axis=1) == 0] = 1.0
        total = others.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            logs = np.log(others, out=others)
        logs -= np.log(total)
        if self.norm:
            scale = logs.sum(axis=1, keepdims=True)
            # 0 where a weight is infinite, without smoothing.
            weights = np.divide(logs, scale, out=np.zeros_like(logs), where=np.isfinite(scale))
            self.feature_log_prob_ = weights
        else:
            self.feature_log_prob_ = -logs
        finite, self._impossible = finite_logs(np.ascontiguousarray(-self.feature_log_prob_.T))
        self._table = np.negative(finite)

    def _joint(self, rows: Matrix) -> Array:
        constant = self.class_log_prior_ if len(self.classes_) == 1 else 0.0
        scores = linear_scores(rows, self._table, constant)
        if self._impossible is not None:
            # A column that no other class has decides for this class.
            scores[(rows @ self._impossible) > 0] = LARGEST_SCORE
        return scores


LARGEST_SCORE = 1e30
"""Score of a class that alone has a column of the row, without smoothing."""
