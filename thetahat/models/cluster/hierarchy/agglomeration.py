"""What merges of rows and merges of columns share: parameters, their rules, and the hierarchy."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, check_ranges, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.cluster.hierarchy.base import HierarchicalModel
from thetahat.models.cluster.hierarchy.connectivity import merged_along
from thetahat.models.cluster.hierarchy.merging import LINKAGES, merged

_EUCLIDEAN = ("euclidean", "l2")


@with_parameters
class Agglomeration(HierarchicalModel):
    """A hierarchy of merges, cut where it was requested.

    Parameters
    ----------
    metric : str, Distance or callable, default="euclidean"
        The dissimilarity of rows: a name or a value of ``th.distances``, a function of two rows, a
        function of all rows that returns the matrix of their dissimilarities, or "precomputed" if X
        is that matrix. It must be symmetric and ≥ 0; its diagonal has no effect. Ward linkage needs
        "euclidean".
    memory : object, default=None
        Has no effect, because hierarchies are cut elsewhere without computing them again. Accepted
        for compatibility with scikit-learn.
    connectivity : array, sparse matrix or callable, default=None
        Pairs of rows that are neighbours: a matrix of shape (n, n) whose entries other than 0 are
        edges, or a function of X that returns it. Only clusters with an edge between them are
        merged, which is faster and follows the shape of the data. If the graph is
        disconnected, its components are joined by their nearest rows, with a warning.
    compute_full_tree : "auto" or bool, default="auto"
        Whether to merge until one cluster is left. False stops at ``n_clusters``, which has an
        effect only with a connectivity. "auto" merges all, unless ``n_clusters`` is at least 100
        and at least 2% of the rows.
    linkage : {"ward", "complete", "average", "single"}, default="ward"
        The dissimilarity of two clusters, as in the formula. Ward linkage gives compact clusters of
        similar size, single linkage follows chains of near rows.
    compute_distances : bool, default=False
        Whether to set ``distances_`` even if there is no ``distance_threshold``. `heights_` has the
        same values and is always set.

    Attributes
    ----------
    distances_ : array of shape (n − 1,)
        The height of each merge, as in scikit-learn. Set if ``distance_threshold`` or
        ``compute_distances`` is given; `heights_` is always set.
    n_connected_components_ : int
        Number of components of the connectivity before they were joined; 1 without connectivity.
    """

    _: KW_ONLY
    metric: Any = "euclidean"
    memory: Any = None
    connectivity: Any = None
    compute_full_tree: Any = "auto"
    linkage: str = "ward"
    distance_threshold: float | None = None
    compute_distances: bool = False

    _ranges: ClassVar[dict[str, Range]] = HierarchicalModel._ranges | {
        "compute_full_tree": boolean | one_of("auto"),
        "linkage": one_of(*LINKAGES),
        "compute_distances": boolean,
    }

    def _require_sound(self) -> None:
        """Refuse parameters that exclude each other."""
        check_ranges(self)
        who = type(self).__name__
        if self.linkage == "ward" and not (
            isinstance(self.metric, str) and self.metric in _EUCLIDEAN
        ):
            raise ParameterError(
                f"{who}: metric={self.metric!r} was provided as metric. Ward can only work with "
                "euclidean distances. Use linkage='average', 'complete' or 'single'."
            )
        if self.distance_threshold is not None and self.compute_full_tree is False:
            raise ParameterError(
                f"{who}: compute_full_tree must be True if distance_threshold is set. Leave it at "
                "'auto'."
            )

    def _merge(self, points: Array, X: Any) -> None:
        """Merge the points, along the connectivity if there is one, and keep the hierarchy.

        ``X`` is what a function for the connectivity is called with.
        """
        n, who = len(points), type(self).__name__
        if self.connectivity is None:
            children, heights = merged(points, self.metric, self.linkage, who)
            self.n_connected_components_ = 1
        else:
            graph = self.connectivity(X) if callable(self.connectivity) else self.connectivity
            children, heights, self.n_connected_components_ = merged_along(
                points, self.metric, self.linkage, graph, self._n_merges(n), who
            )
        self._keep(children, heights, n)
        self._keep_distances(heights)

    def _keep_distances(self, heights: Array) -> None:
        if self.distance_threshold is not None or self.compute_distances:
            self.distances_ = heights
        elif hasattr(self, "distances_"):
            del self.distances_

    def _n_merges(self, n: int) -> int:
        whole = self.compute_full_tree
        if whole == "auto":
            few = self.n_clusters is not None and self.n_clusters < max(100, 0.02 * n)
            whole = self.distance_threshold is not None or few
        return n - 1 if whole or self.n_clusters is None else n - int(self.n_clusters)
