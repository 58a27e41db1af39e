"""What a round of gradient boosting leaves behind for each column: a tree, or a fitted learner.

f = f₀ + Σ_m member_m(x). A tree of the engine holds its coefficient in its leaves; a learner stands
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.structure import Tree


@dataclass(frozen=True)
class ScaledLearner:
    """A fitted regressor times its coefficient, the learning rate in it."""

    learner: Any
    coefficient: float


Member = Tree | ScaledLearner


@dataclass(frozen=True)
class SummedLearners:
    """Learners that are asked one after the other; the face of `PackedTrees` for sums."""

    members: Sequence[ScaledLearner]

    def sum(self, X: Any, out: Array, n_columns: int) -> Array:
        """What all say, added to `out`; member m adds to column m mod n_columns."""
        for number, member in enumerate(self.members):
            out[:, number % n_columns] += member.coefficient * answers_of(
                member.learner, X, len(out)
            )
        return out


def together(members: Sequence[Any]) -> PackedTrees | SummedLearners:
    """Members put together for sums of what they say."""
    if members and isinstance(members[0], Tree):
        return PackedTrees.pack(members)
    return SummedLearners(tuple(members))


def outputs_of(members: Sequence[Any], X: Any, n_rows: int) -> Array:
    """What each member says of each row, (n, n_members)."""
    if isinstance(members[0], Tree):
        leaves = PackedTrees.pack(members).leaves(X)
        return np.column_stack([tree.values[leaves[m], 0] for m, tree in enumerate(members)])
    return np.column_stack(
        [member.coefficient * answers_of(member.learner, X, n_rows) for member in members]
    )


def times(member: Any, factor: float) -> Member:
    """The member that says `factor` times as much."""
    if isinstance(member, Tree):
        return replace(member, values=member.values * factor)
    return ScaledLearner(member.learner, member.coefficient * float(factor))


def answers_of(learner: Any, X: Any, n_rows: int) -> Array:
    """The numbers that a learner predicts, (n,) in float64; refused unless all are finite."""
    said = np.asarray(learner.predict(X), dtype=np.float64)
    if said.size != n_rows:
        raise DataError(
            f"{type(learner).__name__} predicts an array of shape {said.shape} for {n_rows} rows; "
            "boosting adds up one number per row. Give a regressor of one output."
        )
    said = said.reshape(n_rows)
    if not np.isfinite(said).all():
        row = int(np.argmin(np.isfinite(said)))
        raise DataError(
            f"{type(learner).__name__} predicts {said[row]} (first at row {row}), which boosting "
            "cannot add up. Scale the columns, or give a learner that stays finite."
        )
    return said
