"""What an iteration of boosting adds per column: a tree, or a regressor with a coefficient.

f = f₀ + Σ_m member_m(x). The leaf values of a tree include the coefficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.structure import Tree
from thetahat.models.tree.weighted_trees import WeightedTrees


@dataclass(frozen=True)
class ScaledLearner:
    """A fitted regressor and its coefficient, which includes the learning rate."""

    learner: Any
    coefficient: float


Member = Tree | ScaledLearner


@dataclass(frozen=True)
class SummedLearners:
    """Regressors whose predictions are summed, with the same interface as `PackedTrees`."""

    members: Sequence[ScaledLearner]

    def sum(self, X: Any, out: Array, n_columns: int) -> Array:
        """Add all predictions to `out`; member m adds to column m mod n_columns."""
        for number, member in enumerate(self.members):
            out[:, number % n_columns] += member.coefficient * answers_of(
                member.learner, X, len(out)
            )
        return out


def together(members: Sequence[Any]) -> PackedTrees | SummedLearners:
    """Members combined into one object that sums their predictions."""
    if members and isinstance(members[0], Tree):
        return PackedTrees.pack(members)
    return SummedLearners(tuple(members))


def basis_of(members: Sequence[Any], X: Any, n_rows: int) -> list[Array]:
    """For each member, what does not change with its coefficient: leaves, or plain predictions."""
    if members and isinstance(members[0], Tree):
        return list(PackedTrees.pack(members).leaves(X))
    return [answers_of(member.learner, X, n_rows) for member in members]


def output_of(member: Any, basis: Array) -> Array:
    """Predictions of a member from its leaves or its plain predictions, see `basis_of`."""
    if isinstance(member, Tree):
        return np.asarray(member.values[basis, 0])
    return np.asarray(member.coefficient * basis)


def times(member: Any, factor: float) -> Member:
    """The member with its predictions multiplied by `factor`."""
    if isinstance(member, Tree):
        return member.with_valid(values=member.values * factor)
    return ScaledLearner(member.learner, member.coefficient * float(factor))


def answers_of(learner: Any, X: Any, n_rows: int) -> Array:
    """Predictions of a regressor, (n,) in float64; an error unless all are finite."""
    output = np.asarray(learner.predict(X), dtype=np.float64)
    if output.size != n_rows:
        raise DataError(
            f"{type(learner).__name__} predicts shape {output.shape} for {n_rows} rows, "
            "but boosting needs one number per row. Use a regressor with one output."
        )
    output = output.reshape(n_rows)
    if not np.isfinite(output).all():
        row = int(np.argmin(np.isfinite(output)))
        raise DataError(
            f"{type(learner).__name__} predicts {output[row]} (first at row {row}), but boosting "
            "needs finite predictions. Scale the columns, or use another estimator."
        )
    return output


def weighted_trees(
    packed: PackedTrees | None, members: Sequence[Any], start: Array
) -> WeightedTrees:
    """f₀ plus the sum of the trees, with the weights of their leaves."""
    if packed is None:
        raise CapabilityError(
            "Contributions of columns are only available where all members are trees. Leave out "
            "estimator."
        )
    weights = np.concatenate([tree.weight for tree in members])
    return WeightedTrees(packed, weights, np.asarray(start))
