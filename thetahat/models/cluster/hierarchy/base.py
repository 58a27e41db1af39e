"""Parameters and answers that hierarchical clusterings share."""

from __future__ import annotations

from abc import ABC
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, none, whole
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.cluster.hierarchy.dendrogram import Dendrogram


class _WithTree:
    """The types of fitted attributes, which are not parameters."""

    children_: Array
    heights_: Array
    labels_: Array
    n_leaves_: int
    n_clusters_: int


@with_parameters
class HierarchicalModel(Estimator, _WithTree, ABC):
    """Clusters that are a cut of a hierarchy.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters at which the hierarchy is cut (k). Must be at least 1 and at most the
        number of rows, and None if ``distance_threshold`` is given. `dendrogram_` can be cut
        elsewhere without a new fit.
    metric : str, Distance or callable, default="euclidean"
        The dissimilarity of rows: a name or a value of ``th.distances``, a function of two rows, a
        function of all rows that returns the matrix of their dissimilarities, or "precomputed" if X
        is that matrix. It must be symmetric and ≥ 0; its diagonal has no effect.
    distance_threshold : float or None, default=None
        Height at which the hierarchy is cut instead of at a number of clusters. Larger values give
        fewer clusters. Must be at least 0, and None if ``n_clusters`` is given.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters of the cut.
    labels_ : array of shape (n,)
        The number of the cluster of each row.
    n_leaves_ : int
        Number of rows, the leaves of the hierarchy.
    children_ : array of shape (n − 1, 2)
        The two clusters that each merge joins. Rows are the clusters below n, and merge i makes the
        cluster n + i.
    heights_ : array of shape (n − 1,)
        The height of each merge.
    """

    n_clusters: int | None = 2
    _: KW_ONLY
    metric: Any = "euclidean"
    distance_threshold: float | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_clusters": none | whole(1),
        "distance_threshold": none | at_least(0),
    }
    _streams = False
    _instead_of_blocks = "use KMeans, which reads blocks"
    _for_few_rows = True
    _merges = ("row", "samples")
    """What the leaves are, in the words of this library and of scikit-learn."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given
        return tags

    @property
    def dendrogram_(self) -> Dendrogram:
        """The hierarchy, which can be drawn, and cut without a new fit."""
        check_is_fitted(self)
        return Dendrogram(self.children_, self.heights_, self.n_leaves_)

    @property
    def _is_given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _points(self, X: Any, *, columns: bool = False) -> Array:
        """The rows, or the columns as rows: dense, checked, and enough for the clusters."""
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        who = type(self).__name__
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ParameterError(
                f"{who}: Exactly one of n_clusters and distance_threshold has to be set, and the "
                f"other needs to be None; they are {self.n_clusters!r} and "
                f"{self.distance_threshold!r}."
            )
        points = np.ascontiguousarray(source.X.T) if columns else np.asarray(source.X)
        self._require_enough(len(points))
        if not self._is_given:
            require_squares_of_rows(source, who=who)
        return points

    def _require_enough(self, n: int) -> None:
        """Refuse fewer points than a hierarchy, or the requested clusters, need."""
        who, (one, several) = type(self).__name__, self._merges
        if n < 2:
            raise DataError(
                f"{who}: n_{several}={n}, while a minimum of 2 is required to build a hierarchy. "
                f"Pass more {one}s."
            )
        if self.n_clusters is not None and self.n_clusters > n:
            raise DataError(
                f"{who}: Cannot extract more clusters than {several}: {self.n_clusters} clusters "
                f"were given for a tree with {n} leaves. Use fewer clusters."
            )

    def _check_loaded(self) -> None:
        found = vars(self)
        names = ("children_", "heights_", "n_leaves_", "labels_", "n_clusters_")
        if not any(name in found for name in names):
            return
        for name in names:
            check_rule(self, name in found, f"{name} is missing")
        tree = self.dendrogram_
        labels, k = self.labels_, self.n_clusters_
        check_rule(
            self,
            isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= tree.n_leaves,
            f"n_clusters_ must be a whole number from 1 to {tree.n_leaves}",
        )
        check_rule(
            self,
            isinstance(labels, np.ndarray)
            and labels.shape == (tree.n_leaves,)
            and labels.dtype.kind == "i"
            and bool(((labels >= 0) & (labels < k)).all()),
            f"labels_ must hold a number from 0 to {k - 1} for each of the {tree.n_leaves} "
            f"{self._merges[0]}s",
        )

    def _keep(self, children: Array, heights: Array, n: int) -> None:
        """Keep the hierarchy, and cut it."""
        self.children_, self.heights_, self.n_leaves_ = children, heights, n
        tree = self.dendrogram_
        if self.distance_threshold is not None:
            self.n_clusters_ = tree.n_clusters_at(self.distance_threshold)
        else:
            assert self.n_clusters is not None
            self.n_clusters_ = int(self.n_clusters)
        self.labels_ = tree.cut(self.n_clusters_)
