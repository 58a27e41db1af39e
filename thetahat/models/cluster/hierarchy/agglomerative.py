"""Agglomerative clustering: merge the two nearest clusters, until one is left."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClusterMixin

from thetahat.estimator.declaration import with_parameters
from thetahat.models.cluster.hierarchy.agglomeration import Agglomeration


@with_parameters
class AgglomerativeClustering(ClusterMixin, Agglomeration):
    """Hierarchical clustering from below: the two nearest clusters are merged repeatedly.

    The hierarchy is cut where the number of clusters or the height is the requested one.
    `dendrogram_` draws it and cuts it elsewhere. Of merges at equal heights, those of smaller row
    numbers come first with single linkage. Other linkages take the one that their search finds
    first, so that rows at equal distances can give another hierarchy in another order or with a
    connectivity. The result does not depend on chance or on the number of threads.

    Formula: the dissimilarity of clusters G and H is min d(x_i, x_j) over i ∈ G and j ∈ H with
    single, max d(x_i, x_j) with complete, the mean Σ Σ d(x_i, x_j)/(|G||H|) with average, and
    √(2|G||H|/(|G| + |H|))·‖μ_G − μ_H‖ with Ward linkage, the root of twice the rise of the sum of
    squares within clusters.

    Cost: complete and average linkage take O(n² d) time and memory for n²/2 numbers, which is
    checked before it is allocated. Ward and single linkage take O(n d) memory; O(n log n) time for
    few columns, at most O(n² d). A connectivity with m edges takes O(m log n) time for few
    neighbours.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> model = th.AgglomerativeClustering(2, linkage="average").fit(X)
    >>> model.labels_.tolist(), model.heights_.round(3).tolist()
    ([0, 0, 0, 1], [1.0, 2.5, 5.667])
    >>> model.dendrogram_.cut(3).tolist()
    [0, 0, 2, 1]
    """

    def fit(self, X: Any, y: Any = None) -> AgglomerativeClustering:
        """Merge the rows to a hierarchy and cut it. Cost: see `AgglomerativeClustering`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The rows, or their dissimilarities of shape (n, n) if ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._require_sound()
        self._merge(self._points(X), X)
        return self
