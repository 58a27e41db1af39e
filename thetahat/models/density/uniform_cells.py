"""Leaves with a constant density: p(x) = N_l / (N·V_l)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.density.cells import Cells


@dataclass(frozen=True)
class UniformCells:
    """A histogram with cells of different sizes; the values of its tree are log densities."""

    cells: Cells

    def log_density(self, X: Array) -> Array:
        logs = self.cells.tree.packed.sum(X)[:, 0]
        logs[~self.cells.box.contains(X)] = -np.inf
        return logs

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        cells = self.cells
        low, high = cells.bounds()
        leaf = rng.choice(cells.leaves, size=n, p=cells.shares)
        return low[leaf] + rng.random((n, low.shape[1])) * (high[leaf] - low[leaf])
