"""The regions of a tree: f(x) = Σⱼ wⱼ·1[x ∈ Rⱼ], where Rⱼ is an axis-parallel box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.models.tree.display.words import Words


@dataclass(frozen=True)
class Region:
    """The region of one leaf: low < x ≤ high in numeric columns, a set of values in others.

    Formula: R = Π_j (low_j, high_j]. Cost: O(d).

    Attributes
    ----------
    leaf : int
        Number of the leaf in the tree.
    low, high : array of shape (d,)
        Lower and upper bounds of the region, infinite where it is not bounded.
    categories : dict of int to frozenset
        For the categorical columns used on the path, the categories in the region.
    takes_missing : array of shape (d,)
        Whether rows with a missing value in a column can lie in the region.
    value : array
        Prediction of the tree in the region; for density trees the log density.
    weight : float
        Total weight of the training rows in the region.

    Examples
    --------
    >>> import thetahat as th
    >>> tree = th.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [5.0, 7.0])
    >>> print(th.tree_regions(tree)[0])
    feature_0 ≤ 1.5: 5
    """

    leaf: int
    """Number of the leaf."""
    low: Array
    high: Array
    categories: dict[int, frozenset[Any]]
    """For the categorical columns used on the path, the categories in the region."""
    takes_missing: Array
    """Whether rows with a missing value in a column can lie in the region."""
    value: Array
    """Prediction of the tree in the region."""
    weight: float
    """Total weight of the training rows in the region."""
    words: Words

    @property
    def volume(self) -> float:
        """Volume of the region: the product of its side lengths; infinite if unbounded."""
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
        numbers = ", ".join(f"{number:.4g}" for number in np.ravel(self.value))
        return numbers if self.words.answer == "value" else f"{self.words.answer} {numbers}"


@dataclass(frozen=True)
class TreeRegions:
    """The regions of all leaves of a tree; they do not overlap, and every row lies in one.

    Formula: f(x) = Σ_j w_j·1[x ∈ R_j]. Cost: O(leaves · d).

    Attributes
    ----------
    low, high : array of shape (n_leaves, d)
        Lower and upper bounds of every region.
    values : array of shape (n_leaves, n_outputs, n_classes)
        Predictions of the tree in every region.
    size : int
        Number of nodes of the tree.
    depth : int
        Number of splits on the longest path from the root to a leaf.

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
        """Find the region of each row. Cost: O(depth) per row.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to look up, with the same columns as in `fit`.

        Returns
        -------
        array of int, shape (n,)
            Index of the region of each row.
        """
        leaves = self.words.tree.apply(self._rows(X))
        order = np.array([region.leaf for region in self.regions])
        return np.searchsorted(order, leaves)

    def path(self, x: Any, decimals: int = 2) -> list[str]:
        """List the conditions that lead one row from the root to its region. Cost: O(depth).

        Parameters
        ----------
        x : row of shape (d,), or table of one row
            The row to follow through the tree.
        decimals : int, default=2
            Number of digits after the decimal point.

        Returns
        -------
        list of str
            One condition per split on the path.
        """
        table = x if np.ndim(x) == 2 else np.reshape(x, (1, -1))
        rows = self._rows(table)
        if rows.shape[0] != 1:
            raise DataError(f"path follows one row, but x has {rows.shape[0]}. Use x[:1].")
        tree, conditions = self.words.tree, []
        node, above = int(tree.apply(rows)[0]), tree.parent
        while (parent := int(above[node])) >= 0:
            conditions.append(self.words.sides(parent, decimals)[node - int(tree.left[parent])])
            node = parent
        return conditions[::-1]

    def _rows(self, X: Any) -> Array:
        if hasattr(self.model, "_rows"):
            return self.model._rows(X)
        return np.asarray(X, dtype=np.float64)

    def __str__(self) -> str:
        return "\n".join(str(region) for region in self.regions)


def tree_regions(model: Any, *, feature_names: Any = None, class_names: Any = None) -> TreeRegions:
    """List the leaves of a tree as axis-parallel boxes with their predictions.

    Formula: f(x) = Σ_j w_j·1[x ∈ R_j], where R_j is the set of rows that reach leaf j. Cost:
    O(nodes · d).

    Parameters
    ----------
    model : fitted tree estimator, or Tree
        A fitted decision or density tree, or one tree of a forest or of gradient boosting.
    feature_names : sequence of str or None, default=None
        Names of the columns. By default those of `fit`, or feature_0, feature_1, …
    class_names : sequence of str or None, default=None
        Names of the classes, in the order of ``classes_``. By default the labels themselves.

    Returns
    -------
    TreeRegions
        A sequence of regions that can be printed. Its methods `find` and `path` look up rows.

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
            f"{type(model).__name__}: the regions of oblique splits are not boxes. Grow the "
            "tree with axis-parallel splits."
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
