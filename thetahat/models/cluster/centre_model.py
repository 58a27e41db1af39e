"""Models of cluster centres: the nearest centre of a row, distances, and the loss of rows."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin

from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.cluster.nearest import distances_between, nearest_centres
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


def _is_start(value: Any) -> bool:
    return callable(value) or (not isinstance(value, str) and np.ndim(value) == 2)


given_start = Range(_is_start, "an array of shape (n_clusters, d), or a function")


class _WithCentres:
    """The types of fitted attributes, which are not parameters."""

    cluster_centers_: Array
    labels_: Array


@with_parameters
class CentreModel(
    ClassNamePrefixFeaturesOutMixin, ClusterMixin, RowwiseTransformer, _WithCentres, ABC
):
    """A clustering by centres in the space of the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k). More clusters lower the loss; `elbow` helps to choose. Must be at
        least 1 and at most the number of rows.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, d)
        The centres of the clusters (μ).
    labels_ : array of shape (n,)
        The number of the cluster of each training row.
    """

    n_clusters: int = 8

    _ranges: ClassVar[dict[str, Range]] = {"n_clusters": whole(1)}
    _accepts_sparse = True
    _draws_rows = True

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the labels of the training rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        array of shape (n,)
            ``labels_``: the number of the cluster of each training row.
        """
        self.fit(X, y, sample_weight=sample_weight)
        return self.labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and transform the training rows. Cost: that of `fit` and `transform`.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        array or Source of shape (n, n_clusters)
            The transformed rows, as from `transform`.
        """
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def predict(self, X: Any) -> Array:
        """Find the nearest centre of every row. Cost: O(n k d).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The number of the nearest centre, from 0. Equal distances give the first centre.
        """
        centres = self._double_centres()
        if self._is_small_and_sound(X):
            return nearest_centres(X, centres)[0]
        return self._open_again(X).map_rows(lambda block: nearest_centres(block.X, centres)[0])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the negative loss of some rows, −Σ w·min_k ‖x − μ_k‖². Cost: O(n k d).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows with the same columns as in `fit`.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        float
            The larger (the nearer to 0), the better.
        """
        source = self._open_again(X)
        if sample_weight is not None:
            source = as_source(X, None, sample_weight, who=f"{type(self).__name__}.score")
        centres = self._double_centres()
        blocks = source.map_rows(lambda block: _losses(block, centres))
        return -float(blocks.sum())

    def _double_centres(self) -> Array:
        return np.ascontiguousarray(getattr(self, "cluster_centers_", np.zeros((1, 1))), float)

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _transform_block(self, block: Block) -> Array:
        return distances_between(block.X, self._double_centres())

    def _require_enough_rows(self, source: Source, n_used: int) -> None:
        if n_used < self.n_clusters:
            rows = "row" if n_used == 1 else "rows"
            rows += " of positive weight" if n_used < source.n_rows else ""
            raise DataError(
                f"{type(self).__name__}: n_samples={n_used} should be >= "
                f"n_clusters={self.n_clusters}, because every cluster needs a row; there "
                f"{'is' if n_used == 1 else 'are'} {n_used} {rows}. Use fewer clusters."
            )


def _losses(block: Block, centres: Array) -> Array:
    square = nearest_centres(block.X, centres)[1]
    return square if block.weight is None else square * block.weight
