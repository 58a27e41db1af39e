"""Pruning of density trees: cells are merged bottom-up, smallest loss first.

Merging the two leaves of a node costs the gain of its split: g₁ for the "ise" criterion, N_l·g₃ for
"entropy", otherwise the decrease of the log-likelihood Σ N·log p. The results are a nested sequence
of trees, from which cross-validation can choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.density.box import Box
from thetahat.models.density.cells import Cells
from thetahat.models.density.growing import Plan, answer, grow_cells
from thetahat.models.tree.pruning import PruningSequence, least_impact
from thetahat.models.tree.structure import Tree

MOST_COUNTS = 24
"""Maximum number of leaf counts that cross-validation compares."""


def merging(tree: Tree, plan: Plan) -> PruningSequence:
    """The sequence of trees from the full tree to the box alone."""
    return least_impact(tree, _risk(tree, plan))


def with_leaves(cells: Cells, sequence: PruningSequence, n_leaves: int) -> Cells:
    """The cells with `n_leaves` leaves, or all of them if there are not more."""
    step = sequence.step_of_size(2 * n_leaves - 1)
    return replace(cells, tree=sequence.tree_at(step))


def _risk(tree: Tree, plan: Plan) -> Array:
    """Contribution of each node to the loss, if it is a leaf."""
    if plan.criterion == "ise":
        return tree.impurity  # −p²V
    if plan.criterion == "entropy":
        return tree.weight * tree.impurity
    with np.errstate(invalid="ignore"):
        return np.where(tree.weight > 0, -tree.weight * tree.values[:, 0], 0.0)


def choose_leaves(
    X: Array,
    weight: Array,
    box: Box,
    plan: Plan,
    folds: Sequence[tuple[Array, Array]],
    rng: np.random.Generator,
) -> tuple[int, Array, Array]:
    """The number of leaves with the largest held-out log-likelihood, all numbers, and scores.

    Every fold grows one tree in the common box and prunes it step by step.
    """
    counts = np.unique(np.geomspace(1, plan.max_leaves, MOST_COUNTS).round().astype(int))
    scores, judged = np.zeros(counts.size), 0.0
    for (train, test), seed in zip(folds, rng.integers(2**63, size=len(folds)), strict=True):
        cells = grow_cells(X[train], weight[train], box, plan, int(seed))
        sequence = merging(cells.tree, plan)
        judged += weight[test].sum()
        for place, count in enumerate(counts):
            smaller = with_leaves(cells, sequence, int(count))
            logs = answer(smaller, X[train], weight[train], plan).log_density(X[test])
            scores[place] += weight[test] @ logs
    scores /= judged
    return int(counts[np.argmax(scores)]), counts, scores
