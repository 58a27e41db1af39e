"""A hierarchy of clusters: merges in the order of their heights, cuts, and a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush, heappushpop
from numbers import Integral
from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, infinity, real, whole
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True, eq=False)
class Dendrogram(CheckedValue):
    """A hierarchy of clusters, which can be cut at any number of clusters or any height.

    Rows are the clusters 0 to n − 1. Merge i joins two clusters to the cluster n + i.

    Formula: a cut at k keeps the first n − k merges; a cut at height h keeps the merges below h.
    Cost: O(n) memory, and O(n log n) time per cut.

    Attributes
    ----------
    children : array of shape (n_merges, 2)
        The two clusters that each merge joins.
    heights : array of shape (n_merges,)
        The dissimilarity of the two clusters at each merge.
    n_leaves : int
        Number of rows, the leaves of the hierarchy (n).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.AgglomerativeClustering(linkage="single").fit([[0.0], [1.0], [3.0], [7.0]])
    >>> tree = model.dendrogram_
    >>> tree.heights.tolist()
    [1.0, 2.0, 4.0]
    >>> tree.cut(3).tolist(), tree.cut(height=2.5).tolist()
    ([0, 0, 2, 1], [0, 0, 0, 1])
    """

    children: Array
    heights: Array
    n_leaves: int

    def __post_init__(self) -> None:
        n = self.n_leaves
        check_rule(
            self,
            isinstance(n, Integral) and not isinstance(n, bool) and 1 <= n < 1 << 62,
            f"the number of rows is {n!r:.40}, not a whole number ≥ 1",
        )
        check_arrays(self, {"children": (np.int64, (None, 2)), "heights": (np.float64, (None,))})
        children = self.children
        check_rule(
            self,
            len(children) == len(self.heights) and len(children) < n,
            f"{len(children)} merges with {len(self.heights)} heights do not fit {n} rows",
        )
        made = np.arange(n, n + len(children))
        check_rule(
            self,
            bool((children >= 0).all() and (children < made[:, None]).all()),
            "a merge joins a cluster that does not exist before it",
        )
        check_rule(
            self, len(np.unique(children)) == children.size, "a cluster is merged more than once"
        )

    def __repr__(self) -> str:
        top = f", highest at {self.heights[-1]:.4g}" if len(self.heights) else ""
        return f"Dendrogram of {self.n_leaves} rows and {len(self.heights)} merges{top}"

    @property
    def sizes(self) -> Array:
        """Number of rows of the cluster that each merge makes."""
        n = self.n_leaves
        size = np.ones(n + len(self.children), dtype=np.int64)
        for i, (a, b) in enumerate(self.children.tolist()):
            size[n + i] = size[a] + size[b]
        return size[n:]

    def linkage_matrix(self) -> Array:
        """Compute the hierarchy in the form of ``scipy.cluster.hierarchy``. Cost: O(n).

        Returns
        -------
        array of shape (n − 1, 4)
            For each merge the two clusters, the height, and the number of rows.
        """
        self._require_whole("The linkage matrix")
        return np.column_stack([self.children, self.heights, self.sizes]).astype(float)

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> Array:
        """Cut the hierarchy into clusters. Cost: O(n log n).

        Parameters
        ----------
        n_clusters : int, optional
            Number of clusters, from 1 to the number of rows.
        height : float, optional
            Height of the cut: clusters are merged while their dissimilarity is below it. Larger
            heights give fewer clusters. Pass either this or ``n_clusters``.

        Returns
        -------
        array of shape (n,)
            The number of the cluster of each row, from 0.
        """
        if (n_clusters is None) == (height is None):
            raise ParameterError(
                f"Dendrogram.cut(n_clusters={n_clusters!r}, height={height!r}): pass exactly one "
                "of the two."
            )
        if height is not None:
            n_clusters = self.n_clusters_at(height)
        assert n_clusters is not None
        check_value(n_clusters, whole(1), "n_clusters", "Dendrogram.cut")
        least, n = self.n_leaves - len(self.children), self.n_leaves
        if not least <= n_clusters <= n:
            raise ParameterError(
                f"Cannot extract {n_clusters} clusters from a tree with {n} leaves and "
                f"{len(self.children)} merges: n_clusters must be from {least} to {n}."
                + (" Use compute_full_tree=True for fewer." if n_clusters < least else "")
            )
        top = _top_clusters(self.children, n, int(n_clusters))
        label = np.full(n + len(self.children), -1, dtype=np.int64)
        label[top] = np.arange(len(top))
        return label[_roots(self.children[: n - int(n_clusters)], n)[:n]]

    def n_clusters_at(self, height: float) -> int:
        """Count the clusters of a cut at this height. Cost: O(n).

        Parameters
        ----------
        height : float
            Height of the cut.

        Returns
        -------
        int
            The number of merges at or above the height, and the clusters that were never merged.
        """
        check_value(height, real | infinity, "height", "Dendrogram.n_clusters_at")
        above = int(np.count_nonzero(self.heights >= height))
        return above + self.n_leaves - len(self.children)

    def leaves(self) -> Array:
        """Order the rows so that no two lines of the drawing cross. Cost: O(n).

        Returns
        -------
        array of shape (n,)
            The rows from left to right.
        """
        return _leaves(self.children, self.n_leaves)

    @draws
    def plot(self, axes: Any = None, *, n_clusters: int | None = None, labels: Any = None) -> None:
        """Draw the hierarchy: every merge is a bracket at its height. Cost: O(n).

        Parameters
        ----------
        n_clusters : int, optional
            Number of clusters, each of which is drawn in its own colour, with the height of the
            cut.
        labels : sequence of str, optional
            Names of the rows below the drawing. By default row numbers, if there are at most 60.
        """
        self._require_whole("A drawing")
        n, order = self.n_leaves, self.leaves()
        across, up = np.empty(2 * n - 1), np.zeros(2 * n - 1)
        across[order], up[n:] = np.arange(n), self.heights
        cluster = np.full(2 * n - 1, -1)
        if n_clusters is not None:
            cluster[:n] = self.cut(n_clusters)
        brackets: dict[int, list[Array]] = {}
        for i, (a, b) in enumerate(self.children.tolist()):
            node = n + i
            across[node] = (across[a] + across[b]) / 2
            if cluster[a] == cluster[b]:
                cluster[node] = cluster[a]
            x = [across[a], across[a], across[b], across[b], np.nan]
            y = [up[a], up[node], up[node], up[b], np.nan]
            brackets.setdefault(int(cluster[node]), []).append(np.array([x, y]))
        for number, parts in sorted(brackets.items()):
            colour = "0.35" if number < 0 else f"C{number % 10}"
            axes.plot(*np.concatenate(parts, axis=1), color=colour, lw=1)
        if n_clusters is not None and 1 < n_clusters <= n:
            at = self.heights[n - n_clusters]
            below = self.heights[n - n_clusters - 1] if n_clusters < n else 0.0
            axes.axhline((at + below) / 2, color="0.6", lw=0.8, ls="--")
        if labels is None and n <= 60:
            labels = range(n)
        axes.set_xticks([])
        if labels is not None:
            names = [str(each) for each in labels]
            if len(names) != n:
                raise ParameterError(
                    f"Dendrogram.plot: {len(names)} labels for {n} rows. Pass one per row."
                )
            axes.set_xticks(range(n), [names[i] for i in order], rotation=90)
        axes.set_ylabel("height")

    def _require_whole(self, what: str) -> None:
        if len(self.children) + 1 < self.n_leaves:
            raise ParameterError(
                f"{what} needs the whole hierarchy, but only {len(self.children)} of "
                f"{self.n_leaves - 1} merges were made. Fit with compute_full_tree=True."
            )


def _top_clusters(children: Array, n: int, k: int) -> list[int]:
    """The clusters that remain after n − k merges, in the order of scikit-learn's labels."""
    below = len(children) - (n - k)
    if len(children) + 1 < n:  # an incomplete tree: in the order of their numbers
        merged = np.zeros(2 * n - k, dtype=bool)
        merged[children[: n - k].ravel()] = True
        return np.flatnonzero(~merged).tolist()
    nodes = [-(n + len(children) - 1)]
    for _ in range(below):
        a, b = children[-nodes[0] - n].tolist()
        heappush(nodes, -a)
        heappushpop(nodes, -b)
    return [-node for node in nodes]


def _roots(children: Array, n: int) -> Array:
    """The last cluster that holds each cluster. Every round doubles the way."""
    above = np.arange(n + len(children))
    above[children.ravel()] = np.repeat(np.arange(n, n + len(children)), 2)
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further


def _leaves(children: Array, n: int) -> Array:
    pairs, waiting = children.tolist(), [n + len(children) - 1]
    merged = {each for pair in pairs for each in pair}
    waiting = [node for node in range(n + len(pairs) - 1, -1, -1) if node not in merged]
    found = []
    while waiting:
        node = waiting.pop()
        if node < n:
            found.append(node)
        else:
            a, b = pairs[node - n]
            waiting += [b, a]
    return np.array(found)
