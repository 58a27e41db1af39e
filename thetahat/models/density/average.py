"""The average of several densities: p(x) = (1/M) Σ_m p_m(x), a mixture of equal parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array
from thetahat.models.density.gaussian_cells import GaussianCells, log_sum
from thetahat.models.density.growing import CellDensity
from thetahat.models.tree.packed import PackedTrees

BLOCK_ROWS = 1 << 16
"""Number of rows whose leaves in all trees are kept in memory at once."""
SMALLEST = 1e-280
"""Smaller sums of densities, relative to the largest, are computed with logarithms."""


@dataclass(frozen=True)
class ForestTable:
    """What the densities of single rows need of trees with Gaussian leaves, prepared."""

    box: list[tuple[float, float]]
    packed: PackedTrees
    roots: Array
    place: Array
    """The number of each node among the leaves of all trees."""
    means: Array
    factors: Array
    log_scales: Array
    log_count: float

    def log_density(self, row: list[float]) -> float:
        for x, (low, high) in zip(row, self.box, strict=True):
            if not low <= x <= high:
                return -inf
        one, logs = np.array([row]), np.empty(1)
        leaf = self.place[self.packed.leaves(one) + self.roots]
        _native.gaussian_leaves(one, leaf, self.means, self.factors, self.log_scales, logs, 1)
        return float(logs[0]) - self.log_count


@dataclass(frozen=True)
class AverageDensity:
    """Trees over one box, each with its own cells."""

    trees: Sequence[CellDensity]

    def log_density(self, X: Array) -> Array:
        blocks = range(0, X.shape[0], BLOCK_ROWS)
        return np.concatenate([self._of_block(X[start : start + BLOCK_ROWS]) for start in blocks])

    def _of_block(self, X: Array) -> Array:
        if self._gaussians is not None:
            return log_sum(X, self._leaves(X), *self._gaussians) - np.log(len(self.trees))
        largest, packed = self._relative
        with np.errstate(divide="ignore"):
            sums = packed.sum(X)[:, 0]
            logs = np.log(sums / len(self.trees)) + largest
        logs[~self.trees[0].cells.box.contains(X)] = -np.inf
        small = np.flatnonzero(sums < SMALLEST)
        if small.size:
            logs[small] = self._by_logarithms(X[small])
        return logs

    @cached_property
    def _gaussians(self) -> tuple[Array, Array, Array] | None:
        """Means, factors and log scales of the leaves of all trees, concatenated."""
        parts = [part for part in self.trees if isinstance(part, GaussianCells)]
        if not parts:
            return None
        means, factors = ([getattr(part, name) for part in parts] for name in ("means", "factors"))
        scales = [part.log_scales for part in parts]
        return np.concatenate(means), np.concatenate(factors), np.concatenate(scales)

    def row_table(self) -> ForestTable | None:
        """Log-densities of single rows; None for constant densities and oblique splits."""
        if self._gaussians is None or self.trees[0].cells.directions is not None:
            return None
        means, factors, log_scales = self._gaussians
        box, flat = self.trees[0].cells.box, factors.reshape(factors.shape[0], -1)
        bounds = list(zip(box.low.tolist(), box.high.tolist(), strict=True))
        roots = self._packed.roots[:-1, None]
        log_count = float(np.log(len(self.trees)))
        return ForestTable(
            bounds, self._packed, roots, self._place, means, flat, log_scales, log_count
        )

    @cached_property
    def _packed(self) -> PackedTrees:
        return PackedTrees.pack([part.cells.tree for part in self.trees])

    def _leaves(self, X: Array) -> Array:
        """Index of the leaf of each row among the leaves of all trees, (n_trees, n); −1 outside."""
        if self.trees[0].cells.directions is not None:
            first = np.cumsum([0] + [part.cells.leaves.size for part in self.trees])
            leaf = np.stack([part.cells.leaf_of(X) for part in self.trees])
            return np.where(leaf < 0, -1, leaf + first[:-1, None]).astype(np.int32)
        leaf = self._place[self._packed.leaves(X) + self._packed.roots[:-1, None]]
        inside = self.trees[0].cells.box.contains(X)
        if not inside.all():
            leaf[:, ~inside] = -1
        return leaf

    @cached_property
    def _place(self) -> Array:
        """The number of each node among the leaves of all trees."""
        return np.cumsum(self._packed.nodes["feature"] < 0, dtype=np.int32) - 1

    @cached_property
    def _relative(self) -> tuple[float, PackedTrees]:
        """The largest log density of a leaf, and the trees with densities divided by it."""
        trees = [part.cells.tree for part in self.trees]
        leaves = np.concatenate([tree.values[tree.feature < 0, 0] for tree in trees])
        largest = float(leaves.max())
        shifted = [replace(tree, values=np.exp(tree.values - largest)) for tree in trees]
        return largest, PackedTrees.pack(shifted)

    def _by_logarithms(self, X: Array) -> Array:
        """log mean exp, one tree at a time, which cannot underflow."""
        sums = np.full(X.shape[0], -np.inf)
        for part in self.trees:
            np.logaddexp(sums, part.log_density(X), out=sums)
        return sums - np.log(len(self.trees))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        chosen = rng.integers(len(self.trees), size=n)
        out = np.empty((n, self.trees[0].cells.box.low.size))
        for tree in np.unique(chosen):
            rows = np.flatnonzero(chosen == tree)
            out[rows] = self.trees[tree].sample(rows.size, rng)
        return out
