"""Gaussian naive Bayes: every column is normal given the class, with its own mean and variance.

log p(x, c) = log π_c − ½ Σ_j [log 2πσ²_cj + (x_j − μ_cj)²/σ²_cj]
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat import _native
from thetahat.data.extremes import SMALLEST, SMALLEST_IN_SQUARES, require_visible_columns
from thetahat.data.source import Source, rows_per_block
from thetahat.data.summaries.class_sums import ClassMoments, class_moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import GenerativeClassifier, class_shares
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.class_model import dense_float64
from thetahat.models.generative.gaussian import are_finite, rows_beyond, scores_beyond
from thetahat.models.generative.naive_bayes.class_summary import SummarisedClasses

SMALLEST_VARIANCE = 1e-300
"""Variances below it would have reciprocals that overflow."""


@with_parameters
class GaussianNB(SummarisedClasses, GenerativeClassifier):
    """Gaussian naive Bayes classifier: independent normal columns in every class.

    Formula: p(x | c) = Π_j N(x_j; μ_cj, σ²_cj), p(c | x) ∝ π_c·p(x | c), with the weighted mean and
    variance (maximum likelihood) of column j in class c. ε = var_smoothing · max_j Var(x_j) is
    added to every variance, so that a column that is constant in a class has a density. A missing
    value (NaN) is left out: of the sums of its column in `fit`, and of the product in `predict`.

    Cost: O(n·d) time for `fit` and O(C·d) memory; O(n·d·C) for predictions. The rows are read once
    and never copied.

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or None, default=None
        Class probabilities (π), in the order of the sorted labels. They must not be negative and
        must sum to 1. None uses the shares of the training rows.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all columns that is added to every variance. Larger values
        make the densities of the classes wider and the probabilities less extreme. Must not be
        negative; with 0, no column may be constant in a class.

    Attributes
    ----------
    theta_ : array of shape (n_classes, d)
        Mean of each column in each class (μ), in float64.
    var_ : array of shape (n_classes, d)
        Variance of each column in each class, with ``epsilon_`` added (σ²), in float64.
    epsilon_ : float
        The number that is added to all variances (ε). It follows from the weighted variances of
        all rows, those of earlier calls of `partial_fit` included.
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each class.
    class_prior_ : array of shape (n_classes,)
        Probability of each class (π).
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[1.0, 20.0], [2.0, 21.0], [8.0, 40.0], [9.0, 42.0]], ["a", "a", "b", "b"]
    >>> model = th.GaussianNB().fit(X, y)
    >>> model.theta_.tolist()
    [[1.5, 20.5], [8.5, 41.0]]
    >>> model.predict([[1.2, float("nan")], [8.0, 41.0]]).tolist()
    ['a', 'b']
    """

    _: KW_ONLY
    priors: Any = None
    var_smoothing: float = 1e-9

    _ranges: ClassVar[dict[str, Range]] = {"var_smoothing": at_least(0, LARGEST_FACTOR)}
    _leaves_out_missing = True
    _accepts_sparse = True
    _everyday = "naive Bayes"
    _search_space = {  # noqa: RUF012
        "var_smoothing": (1e-9, 1e-4, 0.01, 0.1, 1.0),
    }

    def _summarise(self, source: Source) -> ClassMoments:
        found = class_moments(source, len(self.classes_))
        if not found.is_finite:
            source.require_finite(missing=True)
            column = int(np.argmin(np.isfinite(found.scatter).all(axis=0)))
            raise DataError(
                f"GaussianNB: Column {source.schema.label(column)} is so large that its squares "
                "overflow. Rescale it."
            )
        if not (found.total_variance > SMALLEST).all():
            # Constant columns are sound, those whose squares vanish are not.
            require_visible_columns(source, SMALLEST_IN_SQUARES)
        return found

    def _summary(self) -> ClassMoments | None:
        return self.__dict__.get("_moments")

    def _conclude(self, summary: ClassMoments) -> None:
        self._moments = summary
        self.class_count_ = summary.count
        shares = summary.count / summary.count.sum()
        self.class_prior_ = class_shares(shares, self.priors, type(self).__name__)
        self.theta_, variance, largest = known_moments(summary, self._column_words)
        self.epsilon_ = float(self.var_smoothing * (largest or 1.0))
        self.var_ = variance + self.epsilon_
        if not self.var_.all():
            code, column = (int(place) for place in np.argwhere(self.var_ == 0)[0])
            raise DataError(
                f"GaussianNB: {self._column_words(column)} is constant in class "
                f"{self.classes_.tolist()[code]!r}, so that its variance is 0, and "
                "var_smoothing=0. Set var_smoothing to a positive number, or drop the column."
            )
        self._factor = 0.5 / np.maximum(self.var_, SMALLEST_VARIANCE)
        with np.errstate(divide="ignore"):
            self._constant = np.log(self.class_prior_) + log_scales(self.var_).sum(axis=1)

    def _column_words(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"Column {column if names is None else repr(str(names[column]))}"

    def _scores(self, rows: Matrix) -> Array:
        scores = self._joint(rows)
        if not are_finite(scores) and (beyond := rows_beyond(scores)).size:
            far = np.nan_to_num(dense_float64(rows[beyond]) - self.theta_.mean(axis=0))
            size = np.abs(far).max(axis=1)
            apart = self.theta_ - self.theta_.mean(axis=0)
            squares = np.empty((len(beyond), len(apart)))
            for code, factor in enumerate(self._factor):
                away = far / size[:, None] - apart[code] / size[:, None]
                squares[:, code] = 2.0 * (away * away) @ factor
            scores[beyond] = scores_beyond(squares, size, self._constant)
        return scores

    def _joint(self, rows: Matrix) -> Array:
        if not isinstance(rows, np.ndarray):
            step = rows_per_block(rows.shape[1])
            parts = [rows[start : start + step] for start in range(0, rows.shape[0], step)]
            return np.concatenate([self._joint(part.toarray()) for part in parts])
        joint = np.empty((rows.shape[0], self._constant.shape[0]))
        _native.diagonal_gaussians(rows, self.theta_, self._factor, self._constant, joint)
        if not are_finite(joint):
            gaps = np.isnan(rows).any(axis=1)
            joint[gaps] = self._joint_of_known(rows[gaps])
        return joint if rows.dtype.char == "d" else joint.astype(rows.dtype)

    def _joint_of_known(self, rows: Array) -> Array:
        """The same, with missing entries left out of the product."""
        present = ~np.isnan(rows)
        with np.errstate(divide="ignore"):
            joint = np.tile(np.log(self.class_prior_), (rows.shape[0], 1))
        scales = log_scales(self.var_)
        for code in range(joint.shape[1]):
            terms = scales[code] - self._factor[code] * np.square(rows - self.theta_[code])
            joint[:, code] += np.where(present, terms, 0.0).sum(axis=1)
        return joint

    def _class_shares(self) -> Array:
        return self.class_prior_

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        noise = rng.standard_normal((n_samples, self.theta_.shape[1]))
        return self.theta_[code] + np.sqrt(self.var_[code]) * noise


def log_scales(variance: Array) -> Array:
    """−½ log 2πσ² of every variance."""
    return -0.5 * (np.log(2.0 * np.pi) + np.log(np.maximum(variance, SMALLEST_VARIANCE)))


def known_moments(found: ClassMoments, column_words: Any) -> tuple[Array, Array, float]:
    """Means, variances, and the largest variance of a column over all rows.

    Where a class has no known value of a column, those of all classes take their place.
    """
    total = found.total_variance
    mean, variance = found.mean, found.variance
    empty = found.weight == 0
    if empty.any():
        weight = found.weight.sum(axis=0)
        if not weight.all():
            raise DataError(
                f"{column_words(int(np.argmin(weight)))} holds missing values only. Drop it."
            )
        pooled = (found.weight * mean).sum(axis=0) / weight
        mean = np.where(empty, pooled, mean)
        variance = np.where(empty, total, variance)
    return mean, variance, float(total.max())
