"""The average of several densities: p(x) = (1/M) Σ_m p_m(x), a mixture of equal parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue
from thetahat.foundation.types import Array
from thetahat.models.density.gaussian_cells import GaussianCells, log_sum
from thetahat.models.density.growing import CellDensity
from thetahat.models.tree.packed import PackedTrees

BLOCK_ROWS = 1 << 16
"""Number of rows whose leaves in all trees are kept in memory at once."""
SMALLEST = 1e-280
"""Smaller sums of densities, relative to the largest, are computed with logarithms."""


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

    @property
    def is_oblique(self) -> bool:
        """Whether splits are by directions, so that trees alone do not find the leaves."""
        return self.trees[0].cells.directions is not None

    def add_to(self, compiled: _native.ForestDensities) -> None:
        """Add the trees to those of other forests, for few rows."""
        if self._gaussians is None:
            trees = [part.cells.tree for part in self.trees]
            scales = np.concatenate([tree.values[tree.feature < 0, 0] for tree in trees])
            means = factors = np.empty((len(scales), 0))
        else:
            means, factors, scales = self._gaussians
        packed, box = self._packed, self.trees[0].cells.box
        flat = factors.reshape(len(scales), -1)
        compiled.add(
            packed._bytes, packed.roots, self._place, box.low, box.high, means, flat, scales
        )

    @cached_property
    def _packed(self) -> PackedTrees:
        return PackedTrees.pack([part.cells.tree for part in self.trees])

    def _leaves(self, X: Array) -> Array:
        """Index of the leaf of each row among the leaves of all trees, (n_trees, n); −1 outside."""
        if self.is_oblique:
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


@dataclass(frozen=True)
class ForestsOfClasses(CheckedValue):
    """The forests of several classes, whose log-densities at few rows are found in one call."""

    forests: tuple[AverageDensity, ...]
    log_priors: Array

    @cached_property
    def _compiled(self) -> _native.ForestDensities:
        compiled = _native.ForestDensities()
        for forest in self.forests:
            forest.add_to(compiled)
        return compiled

    @cached_property
    def _start(self) -> Array:
        return -np.log([len(forest.trees) for forest in self.forests])

    def joint(self, rows: Array) -> Array:
        """log π_c + log p(x | c) of every row and class, (n, C)."""
        found = np.empty((len(rows), len(self.forests)))
        self._compiled.logs(np.ascontiguousarray(rows), self._start, found)
        found += self.log_priors
        return found
