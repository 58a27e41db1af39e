"""Growing one density tree from rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.models.density.box import Box
from thetahat.models.density.cells import Cells, Directions
from thetahat.models.density.gaussian_cells import respond
from thetahat.models.density.uniform_cells import UniformCells
from thetahat.models.tree.structure import Tree

CRITERIA = ("ise", "uniformity", "entropy")
UNBOUNDED = np.iinfo(np.int64).max


class CellDensity(Protocol):
    """A tree with a density in each leaf."""

    @property
    def cells(self) -> Cells: ...
    def log_density(self, X: Array) -> Array: ...
    def sample(self, n: int, rng: np.random.Generator) -> Array: ...


@dataclass(frozen=True)
class Plan:
    """Settings for growing a tree."""

    criterion: str
    leaf: str
    splitter: str
    full: bool
    n_candidates: int
    prior: float
    min_weight: float
    min_gain: float
    max_leaves: int
    max_depth: int


MOST_LEAVES = 2**31 - 1
"""Largest number of leaves that compiled code takes."""


def default_leaves(tau: float, total: float) -> int:
    """L = τ·N^⅓, at least one."""
    return max(1, round(min(tau * total ** (1.0 / 3.0), MOST_LEAVES)))


def grow_cells(
    X: Array, weight: Array, box: Box, plan: Plan, seed: int = 0, threads: int | None = None
) -> Cells:
    """Split the box best first; the rows of X have positive weight and lie inside."""
    oblique = plan.splitter == "oblique"
    entropy = plan.criterion == "entropy"
    columns = np.array(X.T, dtype=np.float64, order="C")
    centre, scale = spread_of(X, weight)
    standard = np.empty((0, X.shape[1]))
    if oblique or entropy:
        standard = np.ascontiguousarray(((columns - centre[:, None]) / scale[:, None]).T)
    arrays, directions = _native.grow_density(
        columns,
        standard,
        weight,
        box.low,
        box.high,
        CRITERIA.index(plan.criterion),
        plan.full,
        plan.splitter == "best",
        oblique,
        plan.n_candidates,
        seed,
        plan.prior,
        plan.min_weight,
        plan.min_gain,
        plan.max_leaves,
        plan.max_depth,
        threads or n_threads(),
    )
    tree = Tree(*arrays, n_features=X.shape[1] + directions.shape[0])
    if box.is_open or oblique:  # without volumes there are no constant densities
        tree = replace(tree, values=np.zeros_like(tree.values))
    else:
        tree = replace(tree, values=tree.values - box.log_volume)
    tree = _in_units_of_the_data(tree, box, plan.criterion, scale)
    return Cells(tree, box, Directions(centre, scale, directions) if oblique else None)


def answer(cells: Cells, X: Array, weight: Array, plan: Plan) -> CellDensity:
    """Add a constant or Gaussian density to every leaf."""
    if plan.leaf == "uniform":
        return UniformCells(cells)
    return respond(cells, X, weight, spread_of(X, weight)[1], plan.prior, plan.full)


def spread_of(X: Array, weight: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of every column; 1 for a constant column."""
    mean = np.average(X, axis=0, weights=weight)
    # Halved first, so that squares of very large columns stay finite.
    largest = np.maximum(np.abs(X - mean).max(axis=0), np.finfo(np.float64).tiny)
    deviation = largest * np.sqrt(np.average(((X - mean) / largest) ** 2, axis=0, weights=weight))
    return mean, np.where(deviation > 0.0, deviation, 1.0)


def _in_units_of_the_data(tree: Tree, box: Box, criterion: str, scale: Array) -> Tree:
    """Gains and impurities in the units of their formulas; the engine computes them up to units.

    g₁ is a density and is divided by the volume V of the box; g₂ and g₃ are weighted by N_l/N.
    """
    share = tree.weight / tree.weight[0]
    if criterion == "ise":
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            gain = np.where(tree.gain > 0, np.exp(np.log(tree.gain) - box.log_volume), 0.0)
            impurity = -share * np.exp(tree.values[:, 0])
        return replace(tree, gain=gain, impurity=impurity)
    gain = np.divide(tree.gain, share, out=np.zeros_like(share), where=share > 0)
    if criterion == "uniformity":
        return replace(tree, gain=gain)
    constant = np.log(scale).sum() + 0.5 * scale.size * np.log(2.0 * np.pi * np.e)
    return replace(tree, gain=gain, impurity=tree.impurity + constant)
