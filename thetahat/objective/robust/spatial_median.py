"""The spatial median of points: the point with the smallest sum of distances to all of them.

θ̂ = argmin_θ Σ_s ‖p_s − θ‖, by Weiszfeld's reweighted means. Where θ meets a point, the step is
shortened as in Vardi and Zhang (2000), so that it does not stay there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State


@dataclass(frozen=True)
class Distances:
    """Σ_s ‖p_s − θ‖ as a function of θ."""

    points: Array
    convex = True
    description = "sum of distances"

    def lengths(self, theta: Array) -> Array:
        apart = self.points - theta
        return np.sqrt(np.einsum("ij,ij->i", apart, apart))


@dataclass(frozen=True)
class ReweightedMeans(Method):
    """θ ← Σ p_s/‖p_s − θ‖ / Σ 1/‖p_s − θ‖, until it moves by less than the tolerance."""

    name: ClassVar[str] = "reweighted means"
    needs: ClassVar[tuple[str, ...]] = ("lengths",)
    gap_kind: ClassVar[str] = "distance of the last step"

    def start(self, problem: Any, theta: Array) -> State:
        lengths = problem.lengths(theta)
        return State(theta, float(lengths.sum()), math.inf, {"lengths": lengths})

    def advance(self, problem: Any, state: State) -> State:
        lengths, points, theta = state.memory["lengths"], problem.points, state.theta
        apart = lengths >= EPSILON
        weight = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=apart)
        total = float(weight.sum())
        after = weight @ points / total if total > 0 else theta
        if not apart.all():
            pull = float(np.linalg.norm(total * (after - theta)))
            stay = min(1.0, 1.0 / pull) if pull > EPSILON else 1.0
            after = (1.0 - stay) * after + stay * theta
        lengths = problem.lengths(after)
        gap = float(np.linalg.norm(after - theta))
        return State(after, float(lengths.sum()), gap, {"lengths": lengths})
