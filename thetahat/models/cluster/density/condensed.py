"""Clusters of a hierarchy: branches with enough rows, and those of them that last longest.

A merge of two or more branches with enough rows is where clusters are born, at λ = 1/height. Rows
of smaller branches leave their cluster at the λ of the merge. The stability of a cluster is
Σ_i (λ_i − λ_birth) over its rows, where λ_i is the λ at which row i leaves it.

Merges at one height are one merge of all their branches: the core distance of a row is the length
of several edges, and their order, which depends on the order of the rows, must not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class CondensedTree:
    """Clusters by number, parents before children; 0 is the root, which holds all rows."""

    parent: Array
    """The cluster in which a cluster is born; −1 for the root."""
    birth: Array
    """The λ at which a cluster is born; 0 for the root."""
    size: Array
    """The number of rows of a cluster at its birth."""
    cluster: Array
    """The cluster that every row leaves last, from below."""
    leaving: Array
    """The λ at which it does."""

    @classmethod
    def of(cls, children: Array, heights: Array, least: int) -> CondensedTree:
        """Keep branches with at least so many rows. Cost: O(n log n)."""
        m = len(heights)
        n = m + 1
        up = np.full(n + m, n + m - 1)
        up[children.ravel()] = np.repeat(np.arange(n, n + m), 2)
        last = np.ones(n + m, dtype=bool)  # rows, and the last merge at every height of a branch
        last[n:] = heights < heights[up[n:] - n]
        last[-1] = True
        up = _first_above(last, up)[up]
        size = _sizes(children)
        with np.errstate(divide="ignore"):
            at = np.where(heights > 0, 1.0 / heights, np.inf)
        large = last & (size >= least)
        large[-1] = True
        splits = np.bincount(up[:-1][large[:-1]], minlength=n + m) > 1
        # A cluster begins at the root and below every split.
        begins = large & splits[up]
        begins[-1] = True
        start = _first_above(begins, up)
        nodes = np.flatnonzero(begins)[::-1]
        number = np.full(n + m, -1)
        number[nodes] = np.arange(len(nodes))
        number = number[start]
        left_at = _first_above(large, up)[:n]
        parent = number[up[nodes]]
        birth = at[up[nodes] - n]
        parent[0], birth[0] = -1, 0.0
        return cls(parent, birth, size[nodes], number[left_at], at[left_at - n])

    @property
    def n_clusters(self) -> int:
        return len(self.parent)

    @cached_property
    def stability(self) -> Array:
        """Σ (λ − λ_birth) over the rows of every cluster."""
        with np.errstate(invalid="ignore"):
            gain = self.leaving - self.birth[self.cluster]
            total = np.bincount(self.cluster, np.nan_to_num(gain, nan=0.0, posinf=np.inf),
                                minlength=self.n_clusters)  # fmt: skip
            gain = (self.birth[1:] - self.birth[self.parent[1:]]) * self.size[1:]
            np.add.at(total, self.parent[1:], np.nan_to_num(gain, nan=0.0, posinf=np.inf))
        return total

    @cached_property
    def end(self) -> Array:
        """The largest λ at which a row or a cluster leaves each cluster."""
        last = np.zeros(self.n_clusters)
        np.maximum.at(last, self.cluster, self.leaving)
        np.maximum.at(last, self.parent[1:], self.birth[1:])
        return last

    def most_stable(self, with_root: bool, largest: float) -> set[int]:
        """Clusters that are more stable than their parts together, with at most so many rows."""
        stability = self.stability.tolist()
        below = [0.0] * self.n_clusters
        chosen = set()
        for c in range(self.n_clusters - 1, -1, -1):
            if c == 0 and not with_root:
                break
            if below[c] > stability[c] or self.size[c] > largest:
                stability[c] = below[c]
            else:
                chosen.add(c)
            if c:
                below[int(self.parent[c])] += stability[c]
        return self._outermost(chosen)

    def leaves(self) -> set[int]:
        """Clusters without parts, if there are any below the root."""
        return set(range(1, self.n_clusters)) - set(self.parent.tolist())

    def joined_below(self, chosen: set[int], epsilon: float, with_root: bool) -> set[int]:
        """Replace clusters born at distances below ε by the clusters they were part of there."""
        if chosen == {0}:
            return chosen
        found = set()
        for c in chosen:
            while c and self.birth[c] * epsilon > 1.0:
                above = int(self.parent[c])
                if above == 0 and not with_root:
                    break
                c = above
            found.add(c)
        return self._outermost(found)

    def _outermost(self, chosen: set[int]) -> set[int]:
        covered = [False] * self.n_clusters
        for c in range(1, self.n_clusters):
            above = int(self.parent[c])
            covered[c] = covered[above] or above in chosen
        return {c for c in chosen if not covered[c]}

    def labels(self, chosen: set[int], epsilon: float) -> tuple[Array, Array]:
        """The cluster of every row, −1 for none, in the order of their first rows; and the strength
        of the membership, λ_i/λ_end."""
        own = np.full(self.n_clusters, -1)
        for c in range(self.n_clusters):
            own[c] = c if c in chosen else own[self.parent[c]] if c else -1
        cluster = own[self.cluster]
        if chosen == {0}:
            needed = 1.0 / epsilon if epsilon > 0 else self.end[0]
            cluster = np.where(self.leaving >= needed, cluster, -1)
        inside = cluster >= 0
        strength = np.zeros(len(cluster))
        last, at = self.end[cluster[inside]], self.leaving[inside]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.minimum(at, last) / last
        strength[inside] = np.where((last == 0) | np.isinf(at), 1.0, share)
        return in_order_of_first_rows(cluster), strength


def in_order_of_first_rows(cluster: Array) -> Array:
    """Numbers from 0 in the order of their first rows; −1 stays."""
    found, first, place = np.unique(cluster, return_index=True, return_inverse=True)
    rank = np.full(len(found), -1)
    named = np.flatnonzero(found >= 0)
    rank[named[np.argsort(first[named])]] = np.arange(len(named))
    return rank[place.ravel()]


def clusters_below(children: Array, heights: Array, cut: float, least: int) -> Array:
    """Clusters that are joined below a height, in the order of their first rows; −1 if small."""
    m = len(heights)
    n, used = m + 1, int(np.searchsorted(heights, cut, side="left"))
    up = np.arange(n + m)
    up[children[:used].ravel()] = np.repeat(np.arange(n, n + used), 2)
    cluster = _first_above(up == np.arange(n + m), up)[:n]
    count = np.bincount(cluster, minlength=n + m)
    return in_order_of_first_rows(np.where(count[cluster] >= least, cluster, -1))


def _sizes(children: Array) -> Array:
    """The number of rows of every row and merge."""
    n = len(children) + 1
    size = [1] * n
    for left, right in children.tolist():
        size.append(size[left] + size[right])
    return np.array(size)


def _first_above(wanted: Array, up: Array) -> Array:
    """The first node with a mark, at every node or above it, by jumps of doubled length."""
    at = np.where(wanted, np.arange(len(up)), up)
    while not wanted[at].all():
        at = at[at]
    return at
