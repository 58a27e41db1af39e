"""Outliers by the density of a row in comparison with that of its neighbours."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import OutlierDetector
from thetahat.estimator.parameters import Range, boolean, more_than, one_of
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.neighbors.queries import KNearest
from thetahat.models.neighbors.search.found import Nearest

_USUAL = 1.5
"""Factors of usual rows lie near 1; above this one, a row is an outlier."""


def _for_training_rows(model: LocalOutlierFactor) -> bool:
    if model.novelty:
        raise AttributeError(
            "fit_predict is not available when novelty=True. Use novelty=False to find outliers "
            "among the training rows."
        )
    return True


def _for_new_rows(method: str) -> Any:
    def check(model: LocalOutlierFactor) -> bool:
        if not model.novelty:
            raise AttributeError(
                f"{method} is not available when novelty=False. Use novelty=True to score new "
                "rows; fit_predict and negative_outlier_factor_ score the training rows."
            )
        return True

    return available_if(check)


@with_parameters
class LocalOutlierFactor(OutlierDetector, KNearest):
    """Outlier detection by the density around a row in comparison with its neighbours.

    A fixed distance cannot separate outliers if the rows are dense in one place and sparse in
    another. The local outlier factor compares densities: it is near 1 where a row lies as densely
    as its neighbours, and large where its neighbours lie more densely than the row itself.

    Formula: with the distance d_k(i) of row i from its k-th neighbour, the density is
    ρ(x) = 1/mean_{i ∈ N_k(x)} max(d(x, x_i), d_k(i)), and the factor is
    LOF(x) = mean_{i ∈ N_k(x)} ρ(x_i)/ρ(x).

    Cost: that of `kneighbors` for all training rows. Memory: k distances and numbers per row.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of neighbours (k) of a row. It should be larger than the smallest cluster that is
        not to be called an outlier. If there are fewer training rows, all others are used.
    contamination : "auto" or float, default="auto"
        Share of the training rows that are outliers, more than 0 and at most 0.5. With "auto", a
        row is an outlier if its factor is more than 1.5.
    novelty : bool, default=False
        Whether new rows are scored. If False, `fit_predict` finds outliers among the training rows.
        If True, `predict`, `decision_function` and `score_samples` score rows that were not used in
        `fit`; a training row among them would be counted as its own neighbour.

    Attributes
    ----------
    negative_outlier_factor_ : array of shape (n,)
        The factor of every training row with a negative sign: near −1 for usual rows.
    n_neighbors_ : int
        Number of neighbours that is used, at most n − 1.
    offset_ : float
        Threshold of the negative factors, below which a row is an outlier.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LocalOutlierFactor(n_neighbors=2)
    >>> model.fit_predict([[-1.1], [0.2], [101.1], [0.3]]).tolist()
    [1, 1, -1, 1]
    >>> model.negative_outlier_factor_.round(2).tolist()
    [-0.98, -1.04, -73.37, -0.98]
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **KNearest._ranges,
        "contamination": one_of("auto") | more_than(0, 0.5),
        "novelty": boolean,
    }

    n_neighbors: int = 20
    _: KW_ONLY
    contamination: Any = "auto"
    novelty: bool = False

    def fit(self, X: Any, y: Any = None) -> LocalOutlierFactor:
        """Compute the factors of the training rows. Cost: that of `kneighbors` for all rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._keep_rows(self._open(X, supervised=False))
        n = self.n_samples_fit_
        if n == 1:
            raise DataError(
                "LocalOutlierFactor: Expected n_neighbors < n_samples_fit, but n_neighbors = "
                f"{self.n_neighbors}, n_samples_fit = 1, n_samples = 1: a single row has no "
                "neighbours. Give more rows."
            )
        if self.n_neighbors > n:
            warnings.warn(
                f"LocalOutlierFactor: n_neighbors ({self.n_neighbors}) is greater than the total "
                f"number of samples ({n}). n_neighbors will be set to (n_samples - 1) for "
                "estimation: all other rows are neighbours. Use fewer neighbours.",
                UserWarning,
                stacklevel=2,
            )
        self.n_neighbors_ = max(1, min(int(self.n_neighbors), n - 1))
        found = self._nearest(None, self.n_neighbors_)
        if (far := np.isinf(found.distance[:, -1])).any():
            raise DataError(
                f"LocalOutlierFactor: row {int(np.argmax(far))} has fewer than {self.n_neighbors_} "
                "rows at a finite distance, so that its density is not defined. Use fewer "
                "neighbours, or leave such rows out."
            )
        self._reach = found.distance[:, -1].copy()
        with np.errstate(over="ignore"):
            typical = float(self._reach.mean())
        if not 1e-280 <= typical < np.inf and typical:
            raise DataError(
                f"LocalOutlierFactor: the distances to the neighbours (about {typical:.2g}) are "
                "too small or too large for densities, which are their inverses. Rescale X."
            )
        # A part of the typical distance that cannot be seen in the factors, so that the density of
        # equal rows is finite.
        self._least = 1e-10 * (typical or 1.0)
        self._density = self._densities(found)
        self.negative_outlier_factor_ = self._negative_factors(found, self._density).astype(
            self._index.rows.dtype if self._index.rows.dtype.kind == "f" else np.float64, copy=False
        )
        self.offset_ = (
            -_USUAL
            if self.contamination == "auto"
            else float(np.percentile(self.negative_outlier_factor_, 100.0 * self.contamination))
        )
        if self.negative_outlier_factor_.min() < -1e7 and not self.novelty:
            warnings.warn(
                "LocalOutlierFactor: Duplicate values are leading to incorrect results. Increase "
                "the number of neighbors for more accurate results. More than n_neighbors = "
                f"{self.n_neighbors_} rows are equal, so that their density is infinite.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _densities(self, found: Nearest) -> Array:
        """ρ(x) of rows with the given neighbours."""
        reached = np.maximum(found.distance, self._reach[found.row])
        return 1.0 / (reached.mean(axis=1) + self._least)

    def _negative_factors(self, found: Nearest, density: Array) -> Array:
        with np.errstate(divide="ignore"):  # a density of 0, of rows at infinite distance
            return -(self._density[found.row] / density[:, None]).mean(axis=1)

    @available_if(_for_training_rows)
    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit, and label the training rows. Only if ``novelty=False``. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        labels : array of shape (n,)
            1 for usual rows, −1 for outliers.
        """
        self.fit(X)
        return np.where(self.negative_outlier_factor_ >= self.offset_, 1, -1)

    @_for_new_rows("score_samples")
    def score_samples(self, X: Any) -> Array:
        """Compute the negative factor of new rows. Only if ``novelty=True``.

        Cost: that of `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to score, with the same columns as in `fit`. They should not be training rows.

        Returns
        -------
        scores : array of shape (m,)
            Near −1 for usual rows; smaller scores are more unusual.
        """
        check_is_fitted(self)

        def scores(rows: Any) -> Array:
            found = self._nearest(rows, self.n_neighbors_)
            return self._negative_factors(found, self._densities(found))

        values, dtype = self._map_queries(X, scores)
        return values.astype(dtype if np.dtype(dtype).kind == "f" else np.float64, copy=False)

    @_for_new_rows("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Compute `score_samples` minus the threshold: negative for outliers.

        Only if ``novelty=True``. Cost: that of `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to score, with the same columns as in `fit`. They should not be training rows.

        Returns
        -------
        decision : array of shape (m,)
            The signed score of every row.
        """
        return self.score_samples(X) - self.offset_

    @_for_new_rows("predict")
    def predict(self, X: Any) -> Array:
        """Label new rows. Only if ``novelty=True``. Cost: that of `kneighbors`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to score, with the same columns as in `fit`. They should not be training rows.

        Returns
        -------
        labels : array of shape (m,)
            1 for usual rows, −1 for outliers.
        """
        return super().predict(X)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "_index" not in vars(self):
            return
        n = self.n_samples_fit_
        for name in ("negative_outlier_factor_", "_reach", "_density"):
            value = vars(self).get(name)
            check_rule(
                self,
                isinstance(value, np.ndarray) and value.shape == (n,) and value.dtype.kind == "f",
                f"{name} must hold one number for each of the {n} rows",
            )
        k = vars(self).get("n_neighbors_")
        check_rule(
            self,
            isinstance(k, int) and not isinstance(k, bool) and 1 <= k < n,
            f"n_neighbors_ must be a whole number from 1 to {n - 1}",
        )
        for name in ("offset_", "_least"):
            check_rule(self, isinstance(vars(self).get(name), float), f"{name} must be a number")
