"""Nearest class mean: f(x) = argmin_c ‖x − μ_c‖², with shrunken centroids."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.class_moments import ClassMoments, codes_of
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.estimator.parameters import Range, more_than, none, one_of
from thetahat.foundation.cached import cached_property
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.products import product
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import reduced_distances
from thetahat.mathematics.losses.constants import weighted_quantile
from thetahat.models.generative.class_model import ClassModel, dense_float64
from thetahat.models.generative.class_priors import any_priors, class_priors, log_priors
from thetahat.models.generative.gaussian import LOG_2PI, are_finite

SMALLEST_SCALE = 1e-100
"""Standard deviations from this to its inverse have squares that lose no digits."""
FAR = 1e15
"""Halved squared distances whose rounding errors exceed the differences between classes."""
AT_ONCE = 1 << 16
"""Differences between rows and centroids up to which they are computed at once."""


def _is_euclidean(model: Any) -> bool:
    if model.metric == "euclidean":
        return True
    raise AttributeError(
        "NearestCentroid: probabilities are defined only for metric='euclidean', which assumes "
        f"Gaussian classes, but metric={model.metric!r}. Use metric='euclidean'."
    )


@with_parameters
class NearestCentroid(ClassModel):
    """Classification by the nearest class mean.

    Formula: ŷ = argmin_c ‖x − μ_c‖² with the class means μ_c. It is the Bayes classifier if all
    classes are Gaussian with the covariance σ²I and equally probable.

    Class probabilities, p(x) and samples are those of Gaussians at the centroids with the standard
    deviations s_j of the columns within the classes: δ_c(x) = −Σ_j (x_j − μ_cj)²/s_j² + 2 log π_c
    is the score of class c and p(c | x) ∝ exp(½δ_c(x)). If the class probabilities are not all
    equal, the class with the largest score is predicted. Columns with s_j = 0 have s_j = 1 instead.

    With `shrink_threshold` Δ, the standardised distance d_cj = (μ_cj − x̄_j)/(m_c(s_j + s₀)) of each
    centroid from the mean of all rows is reduced by Δ, and set to 0 if it is smaller, with the
    median s₀ of s and m_c = √(1/W_c − 1/W). Columns in which all d_cj are 0 have no effect.

    Cost: O(n d) time, O(C d) memory; "manhattan" also sorts the rows of each class. Prediction
    O(C d) per row. X is not copied.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance to the centroids. "manhattan" uses the sum of absolute differences and takes the
        medians of the columns as centroids; it has no class probabilities and needs rows in memory.
    shrink_threshold : float or None, default=None
        Number by which the standardised distances of the centroids from the overall mean are
        reduced (Δ). Larger values leave out more columns. Must be positive; None does not shrink.
    priors : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        Class probabilities (π): equal, the shares of the training rows, or given.

    Attributes
    ----------
    centroids_ : array of shape (n_classes, d)
        The centroids of the classes, after shrinking; NaN for a class without rows of
        positive weight.
    class_prior_ : array of shape (n_classes,)
        The class probabilities (π), which sum to 1.
    deviations_ : array of shape (n_classes, d)
        The standardised distances d_cj of the centroids, after shrinking.
    within_class_std_dev_ : array of shape (d,)
        The standard deviations of the columns within the classes (s), with W − C in the
        denominator.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-1.0, 0.0], [1.0, 2.0], [3.0, 0.0], [5.0, 2.0]]
    >>> model = th.NearestCentroid().fit(X, ["left", "left", "right", "right"])
    >>> model.centroids_.tolist(), model.predict([[1.9, 7.0]]).tolist()
    ([[0.0, 1.0], [4.0, 1.0]], ['left'])
    """

    metric: str = "euclidean"
    _: KW_ONLY
    shrink_threshold: float | None = None
    priors: Any = "uniform"

    _ranges: ClassVar[dict[str, Range]] = {
        "metric": one_of("euclidean", "manhattan"),
        "shrink_threshold": none | more_than(0),
        "priors": one_of("uniform", "empirical") | any_priors,
    }

    def _kind(self, source: Source, *, mergeable: bool) -> str:
        return "diagonal"

    def _require_mergeable(self) -> None:
        super()._require_mergeable()
        if self.metric == "manhattan":
            raise CapabilityError(
                'NearestCentroid.partial_fit: the medians of metric="manhattan" need all rows at '
                'once. Use fit, or metric="euclidean".'
            )

    def _solve(self, moments: ClassMoments, source: Source, *, final: bool) -> None:
        who, count = type(self).__name__, len(self.classes_)
        given = self.priors
        if isinstance(given, str):
            given = np.full(count, 1.0 / count) if given == "uniform" else None
            if given is not None and (moments.weight == 0).any():
                given = (moments.weight > 0) / float((moments.weight > 0).sum())
        priors = class_priors(given, moments.weight, self.classes_, who)
        means, weight, total = moments.means, moments.weight, float(moments.weight.sum())
        overall = (weight / total) @ means
        scatter = moments.pooled() * moments.unit**2
        known = means[weight > 0]
        if final and not (scatter > 0).any() and (known == known[0]).all():
            raise DataError(
                f"{who}: All features have zero variance, so that no centroid is nearer than "
                "another. Add columns that differ between the rows."
            )
        centroids = means
        if self.metric == "manhattan":
            centroids = self._medians(source, means)
            scatter = scatter + weight @ (means - centroids) ** 2
        free = total - float((weight > 0).sum())
        deviation = np.sqrt(scatter / free) if free > 0 else np.zeros_like(overall)
        if final and (deviation == 0).any():
            which = np.flatnonzero(deviation == 0)
            more = f" and {len(which) - 1} more" if len(which) > 1 else ""
            warn(
                f"{who}: within_class_std_dev_ has at least 1 zero standard deviation, of column "
                f"{which[0]}{more}. Scores divide such columns by 1 instead. Remove columns that "
                "are constant within all classes, or add rows."
            )
        inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
        margin = np.sqrt(np.maximum(inverse - 1.0 / total, 0.0))[:, None]
        scale = margin * (deviation + np.median(deviation))
        apart = np.where(weight[:, None] > 0, centroids - overall, 0.0)
        distances = np.divide(apart, scale, out=np.zeros_like(apart), where=scale > 0)
        if self.shrink_threshold:
            size = np.maximum(np.abs(distances) - self.shrink_threshold, 0.0)
            distances = size * np.sign(distances)
            centroids = overall + scale * distances
        self.centroids_ = np.where(weight[:, None] > 0, centroids, np.nan)
        self.deviations_ = distances
        self.within_class_std_dev_, self.class_prior_ = deviation, priors
        self._centre = overall
        self._scale = np.where(deviation > 0, deviation, 1.0)
        self._log_priors = log_priors(priors)
        self._is_uniform = bool(np.allclose(priors[weight > 0], 1.0 / len(known)))
        self._apart = centroids - overall
        self._scaled = self._apart / self._scale
        self._constants = -0.5 * np.einsum("ij,ij->i", self._apart, self._apart)
        self.__dict__.pop("_gaussians", None)
        _ = self._gaussians  # made now, so that predictions do not change the model
        if self.metric == "manhattan":
            self._moments = None

    def _medians(self, source: Source, means: Array) -> Array:
        if not isinstance(source, InMemory):
            raise CapabilityError(
                'NearestCentroid: metric="manhattan" needs the rows in memory to find the medians, '
                "but these are read block by block. Load them with X, y, sample_weight = "
                'source.arrays(), or use metric="euclidean".'
            )
        codes, medians = codes_of(source.whole), means.copy()
        for code in range(len(means)):
            rows = np.flatnonzero(codes == code)
            weight = None if source.weight is None else source.weight[rows]
            if weight is None:
                medians[code] = np.median(dense_float64(source.X[rows]), axis=0)
            elif weight.sum() > 0:
                columns = dense_float64(source.X[rows]).T
                medians[code] = [weighted_quantile(column, weight) for column in columns]
        return medians

    def _class_shares(self) -> Array:
        return self.class_prior_

    def predict(self, X: Any) -> Array:
        """Predict the class of the nearest centroid, or of the largest score for other priors.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`. Missing values are left out.

        Returns
        -------
        labels : array of shape (n,)
            Predicted labels; the first one in ``classes_`` in case of ties.
        """
        if not hasattr(self, "centroids_") or not self._is_small_and_sound(X):
            near = self._open_again(X).map_rows(lambda block: self._nearness(block.X))
        else:
            near = self._nearness(X)
        return self.classes_[near.argmax(axis=1)]

    def _nearness(self, rows: Matrix) -> Array:
        """A number per class that is largest for the predicted one."""
        if not self._is_uniform and self.metric == "euclidean":
            return self._scores(rows)
        centred = dense_float64(rows) - self._centre
        if self.metric == "manhattan":
            scale = 1.0 if self._is_uniform else self._scale
            near = -_manhattan(centred / scale, self._apart / scale)
            if not self._is_uniform:
                return self._log_priors * 2.0 - near**2
        else:
            near = product(centred, self._apart.T)
            near += self._constants
            lost = np.isnan(near[:, 0])
            if lost.any():
                near[lost] = -_squares(centred[lost], self._apart)
        if self._log_priors.min() == -np.inf:
            near[:, self._log_priors == -np.inf] = -np.inf
        return near

    @cached_property
    def _gaussians(self) -> tuple[Array, Array] | None:
        """The centroids and 1/(2s²) for each of them; None if the squares leave the range."""
        if self._scale.min() < SMALLEST_SCALE or self._scale.max() > 1.0 / SMALLEST_SCALE:
            return None
        factor = np.broadcast_to(0.5 / np.square(self._scale), self._apart.shape)
        return self._apart + self._centre, np.ascontiguousarray(factor)

    def _scores(self, rows: Matrix) -> Array:
        _require_euclidean(self)
        if isinstance(rows, np.ndarray) and self._gaussians is not None:
            scores = np.empty((rows.shape[0], len(self._apart)))
            _native.diagonal_gaussians(rows, *self._gaussians, self._log_priors, scores)
            if are_finite(scores) and (not scores.size or scores.min() > -FAR):
                return scores
        centred = (dense_float64(rows) - self._centre) / self._scale
        scores = self._log_priors - 0.5 * _squares(centred, self._scaled)
        if (far := np.flatnonzero(scores.max(axis=1) < -FAR)).size:
            # The square of the row is the same for all classes: what is left is linear.
            known = np.logical_not(np.isnan(centred[far]))
            linear = product(np.where(known, centred[far], 0.0), self._scaled.T)
            linear -= 0.5 * product(known.astype(np.float64), np.square(self._scaled).T)
            scores[far] = linear + self._log_priors
        return scores

    def _joint(self, rows: Matrix) -> Array:
        known = ~np.isnan(dense_float64(rows))
        _require_euclidean(self)
        centred = (dense_float64(rows) - self._centre) / self._scale
        scores = self._log_priors - 0.5 * _squares(centred, self._scaled)
        return scores - (known @ (np.log(self._scale) + 0.5 * LOG_2PI))[:, None]

    def decision_function(self, X: Any) -> Array:
        """Compute the scores δ_c(x); for two classes their difference.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`. Missing values are left out.

        Returns
        -------
        scores : array of shape (n,) for two classes, or (n, n_classes)
            Twice the logarithm of p(x, c) up to a constant.
        """
        return 2.0 * super().decision_function(X)

    decision_function = available_if(_is_euclidean)(decision_function)
    predict_proba = available_if(_is_euclidean)(GenerativeClassifier.predict_proba)
    predict_log_proba = available_if(_is_euclidean)(GenerativeClassifier.predict_log_proba)

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        _require_euclidean(self)
        noise = rng.standard_normal((n_samples, len(self._scale))) * self._scale
        return self.centroids_[code] + noise


def _require_euclidean(model: Any) -> None:
    if model.metric != "euclidean":
        raise CapabilityError(
            'NearestCentroid: p(x), class probabilities and samples need metric="euclidean".'
        )


def _squares(rows: Array, centroids: Array) -> Array:
    """Squared distances over the known columns, (n, C); differences first, so they are exact."""
    if rows.size * len(centroids) <= AT_ONCE:
        away = rows[:, None, :] - centroids
        result = np.einsum("ijk,ijk->ij", away, away)
    else:
        result = np.empty((len(rows), len(centroids)))
        for code, centroid in enumerate(centroids):
            away = rows - centroid
            np.einsum("ij,ij->i", away, away, out=result[:, code])
    if not are_finite(result) and (lost := np.isnan(result[:, 0])).any():
        part = rows[lost]
        result[lost] = np.stack([np.nansum((part - one) ** 2, axis=1) for one in centroids], axis=1)
    return result


def _manhattan(rows: Array, centroids: Array) -> Array:
    """Sums of absolute differences over the known columns, (n, C)."""
    result = reduced_distances(rows, centroids, 1.0)
    if (lost := np.isnan(result[:, 0])).any():
        part = rows[lost]
        result[lost] = np.stack(
            [np.nansum(np.abs(part - one), axis=1) for one in centroids], axis=1
        )
    return result
