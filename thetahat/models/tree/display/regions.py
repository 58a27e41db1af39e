"""The regions of a tree: f(x) = Σⱼ wⱼ·1[x ∈ Rⱼ], Rⱼ a box with sides along the axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.models.tree.display.words import Words
from thetahat.models.tree.pruning import parents


@dataclass(frozen=True)
class Region:
    """The box of one leaf: low < x ≤ high in columns of numbers, a set of values in the others.

    Formula: R = Π_j (low_j, high_j]. Cost: O(d).

    Examples
    --------
    >>> import thetahat as th
    >>> tree = th.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [5.0, 7.0])
    >>> print(th.tree_regions(tree)[0])
    feature_0 ≤ 1.5: 5
    """

    leaf: int
    """The number of its node."""
    low: Array
    high: Array
    categories: dict[int, frozenset[Any]]
    """Of columns of categories that were asked about: those that lie in it."""
    takes_missing: Array
    """Per column, whether rows without a value there may be in it."""
    value: Array
    """What the tree answers in it."""
    weight: float
    """Weight of the training rows in it."""
    words: Words

    @property
    def volume(self) -> float:
        """The product of its sides; infinite when one is open."""
        return float(np.prod(self.high - self.low))

    def __str__(self) -> str:
        parts = []
        for j, name in enumerate(self.words.names[: self.low.size]):
            low, high = self.low[j], self.high[j]
            if j in self.categories:
                inside = sorted(map(str, self.categories[j]))
                parts.append(f"{name} in {{{', '.join(inside)}}}")
            elif np.isfinite(low) and np.isfinite(high):
                parts.append(f"{low:.4g} < {name} ≤ {high:.4g}")
            elif np.isfinite(low) or np.isfinite(high):
                parts.append(f"{name} > {low:.4g}" if np.isfinite(low) else f"{name} ≤ {high:.4g}")
        return f"{', '.join(parts) or 'everywhere'}: {self._answer()}"

    def _answer(self) -> str:
        if self.words.classes:
            return self.words.majority(self.leaf)
        numbers = np.ravel(self.value)
        return ", ".join(f"{number:.4g}" for number in numbers)


@dataclass(frozen=True)
class TreeRegions:
    """The regions of all leaves; they do not overlap, and cover every row.

    Formula: f(x) = Σ_j w_j·1[x ∈ R_j]. Cost: O(leaves · d).

    Attributes
    ----------
    low, high : array of shape (n_leaves, d)
        The ends of every region.
    values : array of shape (n_leaves, n_outputs, n_classes)
        What the tree answers there.
    size : int
        Number of nodes of the tree.
    depth : int
        Questions on the longest path from the root to a leaf.

    Examples
    --------
    >>> import thetahat as th
    >>> tree = th.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [5.0, 7.0])
    >>> regions = th.tree_regions(tree)
    >>> regions.size, regions.depth, len(regions)
    (3, 1, 2)
    >>> print(regions)
    feature_0 ≤ 1.5: 5
    feature_0 > 1.5: 7
    """

    model: Any
    words: Words
    regions: tuple[Region, ...]

    def __len__(self) -> int:
        return len(self.regions)

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    def __getitem__(self, place: int) -> Region:
        return self.regions[place]

    @property
    def low(self) -> Array:
        return np.array([region.low for region in self.regions])

    @property
    def high(self) -> Array:
        return np.array([region.high for region in self.regions])

    @property
    def values(self) -> Array:
        return np.array([region.value for region in self.regions])

    @property
    def size(self) -> int:
        return self.words.tree.node_count

    @property
    def depth(self) -> int:
        return self.words.tree.max_depth

    def find(self, X: Any) -> Array:
        """The place of each row's region in this list. Cost: O(depth) per row.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of int, shape (n,)
        """
        leaves = self.words.tree.apply(self._rows(X))
        order = np.array([region.leaf for region in self.regions])
        return np.searchsorted(order, leaves)

    def path(self, x: Any, decimals: int = 2) -> list[str]:
        """The answers that lead one row from the root to its region. Cost: O(depth).

        Parameters
        ----------
        x : row of shape (d,), or table of one row
        decimals : int, default=2
            Digits after the point.

        Returns
        -------
        list of str
        """
        table = x if np.ndim(x) == 2 else np.reshape(x, (1, -1))
        rows = self._rows(table)
        if rows.shape[0] != 1:
            raise DataError(f"path follows one row, and x has {rows.shape[0]}. Give x[:1].")
        tree, said = self.words.tree, []
        node, above = int(tree.apply(rows)[0]), parents(tree)
        while (parent := int(above[node])) >= 0:
            said.append(self.words.sides(parent, decimals)[node - int(tree.left[parent])])
            node = parent
        return said[::-1]

    def _rows(self, X: Any) -> Array:
        if hasattr(self.model, "_rows"):
            return self.model._rows(X)
        return np.asarray(X, dtype=np.float64)

    def __str__(self) -> str:
        return "\n".join(str(region) for region in self.regions)


def tree_regions(model: Any, *, feature_names: Any = None, class_names: Any = None) -> TreeRegions:
    """List the leaves of a tree as boxes along the axes, with what the tree answers in each.

    f(x) = Σ_j w_j·1[x ∈ R_j]; R_j is what the questions on the way from the root leave. Cost:
    O(nodes · d).

    Parameters
    ----------
    model : fitted tree estimator, or Tree
        A decision or density tree, or one tree of a forest or of boosting.
    feature_names, class_names : sequence of str, optional
        As in `export_text`.

    Returns
    -------
    TreeRegions
        Sized, iterable and printable; ``find`` and ``path`` look rows up.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[1.0, 2.0], [9.0, 6.0], [4.0, 10.0]], [6.0, 4.0, 6.0]
    >>> tree = th.DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y)
    >>> regions = th.tree_regions(tree)
    >>> print(regions)
    feature_0 ≤ 6.5: 6
    feature_0 > 6.5: 4
    >>> regions.path([4.0, 10.0])
    ['feature_0 <= 6.50']
    """
    words = Words.of(model, feature_names, class_names)
    tree = words.tree
    if getattr(model, "n_features_in_", tree.n_features) != tree.n_features:
        raise CapabilityError(
            f"{type(model).__name__}: its oblique splits make regions that are no boxes. Grow it "
            "with axis-parallel splits."
        )
    n, d = tree.node_count, tree.n_features
    low, high = np.full((n, d), -np.inf), np.full((n, d), np.inf)
    box = getattr(model, "box_", None)
    if box is not None:
        low[0], high[0] = box
    takes_missing = np.ones((n, d), dtype=bool)
    categories: list[dict[int, frozenset[Any]]] = [{} for _ in range(n)]
    for node in np.flatnonzero(tree.feature >= 0):  # parents come before children
        j, left = int(tree.feature[node]), int(tree.left[node])
        both = slice(left, left + 2)
        low[both], high[both], takes_missing[both] = low[node], high[node], takes_missing[node]
        categories[left], categories[left + 1] = dict(categories[node]), dict(categories[node])
        takes_missing[left + 1 if tree.missing_left[node] else left, j] = False
        if tree.category_set[node] >= 0:
            here = categories[node].get(j, words.all_categories(int(node)))
            taken = words.left_categories(int(node))
            categories[left][j], categories[left + 1][j] = here & taken, here - taken
        else:
            high[left, j] = min(high[node, j], tree.threshold[node])
            low[left + 1, j] = max(low[node, j], tree.threshold[node])
    return TreeRegions(
        model=model,
        words=words,
        regions=tuple(
            Region(
                leaf=int(leaf),
                low=low[leaf],
                high=high[leaf],
                categories=categories[leaf],
                takes_missing=takes_missing[leaf],
                value=tree.value[leaf],
                weight=float(tree.weight[leaf]),
                words=words,
            )
            for leaf in np.flatnonzero(tree.feature < 0)
        ),
    )
