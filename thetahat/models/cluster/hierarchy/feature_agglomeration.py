"""Agglomeration of columns: similar columns are merged, and each group becomes one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.cluster.hierarchy.agglomeration import Agglomeration
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class FeatureAgglomeration(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer, Agglomeration):
    """Groups of similar columns, each replaced by its mean.

    The columns of X are merged as `AgglomerativeClustering` merges rows, and `transform` has one
    column per group. Columns that measure nearly the same are averaged, which lowers their noise;
    with a `connectivity`, the groups are regions of neighbouring pixels or times. Bring the columns
    to the same unit first, because their distances depend on it. `dendrogram_` draws the hierarchy
    of the columns.

    Formula: columns x_j and x_k have the distance ‖x_j − x_k‖ over the training rows; groups are
    merged as in `AgglomerativeClustering`. Then z_g = mean of x_j over the columns j of group g, or
    what `pooling_func` makes of them.

    Cost: O(n d²) time and d²/2 numbers of memory to fit n rows of d columns, and O(n d) to
    transform. A connectivity with m edges takes O(m n log d) time for few neighbours.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of groups of columns (k), which is the number of columns of the result. Must be at
        least 1 and at most the number of columns, and None if ``distance_threshold`` is given.
    metric : str, Distance or callable, default="euclidean"
        The dissimilarity of columns: a name or a value of ``th.distances``, a function of two
        columns, a function of all columns (as rows of a matrix) that returns the matrix of their
        dissimilarities, or "precomputed" if the X of `fit` is that matrix, of shape (d, d). Ward
        linkage needs "euclidean".
    connectivity : array, sparse matrix or callable, default=None
        Pairs of columns that are neighbours: a matrix of shape (d, d) whose entries other than 0
        are edges, or a function of Xᵀ that returns it. Only groups with an edge between them are
        merged. For images, ``sklearn.feature_extraction.image.grid_to_graph`` gives it.
    compute_full_tree : "auto" or bool, default="auto"
        Whether to merge until one group is left. False stops at ``n_clusters``, which has an
        effect only with a connectivity. "auto" merges all, unless ``n_clusters`` is at least 100
        and at least 2% of the columns.
    pooling_func : callable, default=numpy.mean
        What becomes of the columns of a group: a function of an array of shape (n, columns) and
        ``axis=1`` that returns n numbers. A model file can hold numpy.mean, median, max, min and
        sum; other functions are passed to ``th.load``.

    Attributes
    ----------
    labels_ : array of shape (d,)
        The number of the group of each column.
    n_leaves_ : int
        Number of columns, the leaves of the hierarchy.
    children_ : array of shape (d − 1, 2)
        The two groups that each merge joins. Columns are the groups below d, and merge i makes the
        group d + i.
    heights_ : array of shape (d − 1,)
        The height of each merge.
    distances_ : array of shape (d − 1,)
        The height of each merge, as in scikit-learn. Set if ``distance_threshold`` or
        ``compute_distances`` is given; `heights_` is always set.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0, 1.0, 9.0], [2.0, 3.0, 5.0], [4.0, 4.0, 1.0]]
    >>> model = th.FeatureAgglomeration(2).fit(X)
    >>> model.labels_.tolist()
    [0, 0, 1]
    >>> model.transform(X).tolist()
    [[0.5, 9.0], [2.5, 5.0], [4.0, 1.0]]
    """

    _: KW_ONLY
    pooling_func: Callable[..., Any] = np.mean

    _ranges: ClassVar[dict[str, Range]] = Agglomeration._ranges | {
        "pooling_func": Range(callable, "a function of an array and axis=1")
    }
    _instead_of_blocks = "use a sample of the rows; transform reads blocks"
    _for_few_rows = False
    _merges = ("column", "features")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False  # pairs of columns are not pairs of rows
        return tags

    def fit(self, X: Any, y: Any = None) -> FeatureAgglomeration:
        """Merge the columns to a hierarchy and cut it. Cost: see `FeatureAgglomeration`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The rows, or the dissimilarities of the columns of shape (d, d) if
            ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._require_sound()
        columns = self._points(X, columns=True)
        self._merge(columns, columns)
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "labels_" in vars(self):
            check_rule(
                self,
                self.n_leaves_ == self.n_features_in_,
                f"n_leaves_ must be the number of columns, {self.n_features_in_}",
            )
            check_rule(
                self,
                len(np.unique(self.labels_)) == self.n_clusters_,
                f"labels_ must hold each number from 0 to {self.n_clusters_ - 1}",
            )

    def _transform_block(self, block: Block) -> Array:
        if self.pooling_func is np.mean:
            return _group_means(block.X, self.labels_, self.n_clusters_)
        groups = [np.flatnonzero(self.labels_ == label) for label in range(self.n_clusters_)]
        return np.column_stack([self._pooled(block.X[:, group]) for group in groups])

    def _pooled(self, columns: Array) -> Array:
        found = np.asarray(self.pooling_func(columns, axis=1))
        if found.shape != (len(columns),):
            raise ParameterError(
                f"{type(self).__name__}: pooling_func returned an array of shape {found.shape} for "
                f"{len(columns)} rows. It must return one number per row, as numpy.mean does with "
                "axis=1."
            )
        return found

    def inverse_transform(self, X: Any) -> Any:
        """Give every column the value of its group. Cost: O(n d).

        Parameters
        ----------
        X : array-like or table of shape (n, n_clusters) or (n_clusters,)
            Values of the groups, as returned by `transform`, or for example the coefficients of a
            linear model of them.

        Returns
        -------
        array of shape (n, d) or (d,)
            The values of the columns.
        """
        one = not hasattr(X, "columns") and np.ndim(X) == 1
        source = self._open_result(np.asarray(X)[None] if one else X)
        found = source.map_rows(lambda block: block.X[:, self.labels_])
        return found[0] if one else found

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_


def _group_means(rows: Array, labels: Array, k: int) -> Array:
    """The mean of the columns of each group, summed in float64 and in the order of the columns."""
    order = np.argsort(labels, kind="stable")
    size = np.bincount(labels, minlength=k)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    return np.add.reduceat(rows[:, order], first, axis=1, dtype=np.float64) / size
