"""Divisive clustering: divide the cluster of the largest diameter, until all rows are apart."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClusterMixin

from thetahat import _native
from thetahat.estimator.declaration import with_parameters
from thetahat.models.cluster.hierarchy.base import HierarchicalModel
from thetahat.models.cluster.hierarchy.dissimilarities import distance_of, triangle_of
from thetahat.models.cluster.hierarchy.merging import chained

_REMEDY = (
    "Use fewer rows, or th.AgglomerativeClustering with linkage='ward', which needs memory in "
    "proportion to the number of rows."
)


@with_parameters
class DivisiveClustering(ClusterMixin, HierarchicalModel):
    """Hierarchical clustering from above: the widest cluster is divided repeatedly.

    The first divisions use all rows, so large clusters are often found more reliably than by
    merging. The algorithm is Kaufman and Rousseeuw's DIANA. Of equal choices the one with the
    smallest row number is taken.

    Formula: the cluster of the largest diameter, max d(x_i, x_j), is divided next, at the height of
    its diameter. The row with the largest mean dissimilarity from the others begins a new group.
    Then the row whose mean dissimilarity from the rest most exceeds that from the new group is
    moved, until no such row is left.

    Cost: n²/2 numbers of memory, which is checked before it is allocated. A division of m rows
    takes O(m²) time; the whole hierarchy takes O(n²) for balanced divisions, at most O(n³).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.DivisiveClustering(2).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> model.labels_.tolist(), model.heights_.tolist()
    ([0, 0, 0, 1], [1.0, 3.0, 7.0])
    """

    def fit(self, X: Any, y: Any = None) -> DivisiveClustering:
        """Divide the rows to a hierarchy and cut it. Cost: O(n²) to O(n³).

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
        rows, who = self._points(X), type(self).__name__
        n = len(rows)
        distance = distance_of(self.metric, rows, who)
        triangle = triangle_of(rows, distance, self.metric, who, _REMEDY)
        self._keep(*chained(_native.Division(triangle, n), n), n)
        return self
