"""The graphical lasso as a problem of independent blocks, and the method that solves them.

Q̂ = argmin_Q −log det Q + tr(SQ) + α Σ_{i≠j} |q_ij|

The connected components of the graph with the edges |s_ij| > α are the connected components of the
solution, exactly. Each is solved for itself, and entries between components are zero. A component
is solved by Newton steps: the model of F is minimised by coordinate descent and conjugate
gradients over the entries that are not zero or would leave zero, and a line search keeps Q positive
definite and lowers F with every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.graphical.precision_block import (
    SMALL,
    PrecisionBlock,
    inverse_of,
    within_bounds,
)
from thetahat.models.graphical.reachable import connected_components

SETTLED = 1e-6
"""Size of the last step from which Q counts as settled; the error is then far smaller."""


@dataclass(frozen=True)
class PenalisedPrecision:
    """The objective of the graphical lasso for a covariance matrix S with a positive diagonal."""

    covariance: Array
    alpha: float
    tolerance: float
    settled: float = SETTLED

    @cached_property
    def unit(self) -> float:
        """A power of two near the largest variance, in which the blocks are solved."""
        largest = float(np.einsum("ii->i", self.covariance).max())
        return math.ldexp(1.0, math.frexp(largest)[1])

    @cached_property
    def blocks(self) -> list[Array]:
        """The columns of each connected component, in order."""
        return connected_components(np.abs(self.covariance) > self.alpha)

    def start(self) -> Array:
        """The inverse variances."""
        return np.diag(1.0 / np.einsum("ii->i", self.covariance))

    def block(self, columns: Array, precision: Array) -> PrecisionBlock:
        """One component at the entries of Q, or at its own start if that is lower.

        Small components start at the inverse of a matrix within the bounds of the dual.
        """
        S, alpha = self._part(self.covariance, columns) / self.unit, self.alpha / self.unit
        starts = [self._part(precision, columns) * self.unit]
        inner = inverse_of(within_bounds(S, alpha)) if 1 < len(S) <= SMALL else None
        starts.append(np.diag(1.0 / np.einsum("ii->i", S)) if inner is None else inner[1])
        found = [PrecisionBlock.at(S, alpha, start) for start in starts]
        return min((each for each in found if each is not None), key=lambda each: each.value)

    def _part(self, matrix: Array, columns: Array) -> Array:
        return matrix if len(columns) == len(matrix) else matrix[np.ix_(columns, columns)]

    def is_done(self, block: PrecisionBlock) -> bool:
        """Whether a component needs no further step."""
        share = self.tolerance * len(block.precision) / len(self.covariance)
        return block.stalled or (block.gap <= share and self.is_settled(block))

    def is_settled(self, block: PrecisionBlock) -> bool:
        return len(block.precision) == 1 or block.stalled or block.last <= self.settled

    def state(self, blocks: list[PrecisionBlock]) -> State:
        """The joint state of all components."""
        d = len(self.covariance)
        if len(blocks) == 1:
            theta = blocks[0].precision / self.unit
        else:
            theta = np.zeros((d, d))
            for columns, block in zip(self.blocks, blocks, strict=True):
                theta[np.ix_(columns, columns)] = block.precision / self.unit
        value = sum(block.value for block in blocks) + d * math.log(self.unit)
        return State(
            theta,
            value,
            gap=sum(block.gap for block in blocks),
            memory={"blocks": blocks},
            stalled=all(map(self.is_done, blocks)) and any(block.stalled for block in blocks),
            settled=all(map(self.is_settled, blocks)),
        )


@dataclass(frozen=True)
class BlockNewton(Method):
    """One Newton step for each component that is not yet solved; appends (F, gap) to the costs."""

    costs: list[tuple[float, float]] = field(default_factory=list)

    name: ClassVar[str] = "block_newton"
    needs: ClassVar[tuple[str, ...]] = ("block", "state")
    gap_kind: ClassVar[str] = "duality gap"
    default_max_steps: ClassVar[int] = 100

    def start(self, problem: Any, theta: Array) -> State:
        blocks = [problem.block(columns, theta) for columns in problem.blocks]
        return problem.state(blocks)

    def advance(self, problem: Any, state: State) -> State:
        blocks = list(state.memory["blocks"])
        left = [at for at, block in enumerate(blocks) if not problem.is_done(block)]

        def step(at: int) -> None:
            blocks[at] = blocks[at].advance()

        parallel_for(step, left, products=sum(len(blocks[at].precision) ** 3 for at in left))
        after: State = problem.state(blocks)
        self.costs.append((after.value, after.gap))
        return after
