"""The objective of t-SNE, and its descent with momentum and a gain per coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix, SparseMatrix
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.neighbors.search.found import Nearest

EARLY = 250
"""Iterations with early exaggeration."""
CHECKED_EVERY = 50
"""Iterations between two checks of the progress, as in scikit-learn."""
SMALL = 1 << 10
"""Neighbours of all points below which one thread is faster than several."""


def joint_probabilities(found: Nearest, perplexity: float) -> Matrix:
    """Weights p_ij of pairs of rows, which are symmetric with sum 1. Cost: O(n·k).

    Formula: p_ij = (p_j|i + p_i|j)/(2n), where p_j|i = exp(−β_i d_ij²)/Σ_l exp(−β_i d_il²) has the
    given perplexity.
    """
    from scipy.sparse import csr_array

    n, k = found.row.shape
    weight = np.empty((n, k))
    _native.perplexity_weights(
        np.ascontiguousarray(found.distance), float(perplexity), weight, n_threads()
    )
    kept = csr_array(
        (weight.ravel(), found.row.ravel().astype(np.int32), np.arange(n + 1, dtype=np.int64) * k),
        shape=(n, n),
    )
    pairs = csr_array(kept + kept.T)
    pairs.sort_indices()
    pairs.data /= 2.0 * n
    return pairs


class StudentDivergence:
    """Σ p_ij log(p_ij/q_ij) of points, and its gradient.

    Formula: q_ij = s_ij/Σ_{k≠l} s_kl with s_ij = (1 + ‖z_i − z_j‖²/ν)^{−(ν + 1)/2}. The gradient is
    (2(ν + 1)/ν) Σ_j (p_ij − q_ij)(z_i − z_j)/(1 + ‖z_i − z_j‖²/ν).
    """

    convex = False
    description = "the divergence of t-SNE"

    def __init__(self, pairs: SparseMatrix, freedom: int, angle: float) -> None:
        self.offset = pairs.indptr.astype(np.int64)
        self.near = pairs.indices.astype(np.int32)
        weight = np.ascontiguousarray(pairs.data, dtype=np.float64)
        known = weight[weight > 0]
        self.entropy, self.total = float(known @ np.log(known)), float(weight.sum())
        self.freedom, self.angle = freedom, angle
        # Groups of points act as one: single precision is far more accurate than that.
        self.weight = weight.astype(np.float32) if angle > 0 else weight

    def value_and_gradient(self, theta: Array, exaggeration: float = 1.0) -> tuple[float, Array]:
        """The divergence, and the gradient with all p multiplied by the exaggeration."""
        gradient = np.empty_like(theta)
        logs, scale = _native.student_forces(
            theta, self.offset, self.near, self.weight, self.freedom, self.angle, exaggeration,
            gradient, n_threads() if len(self.near) > SMALL else 1,
        )  # fmt: skip
        if not scale > 0:
            return math.nan, gradient
        return self.entropy + logs + self.total * math.log(scale), gradient


@dataclass(frozen=True)
class ExaggeratedDescent(Method):
    """Gradient steps with momentum and gains; the first ones pull neighbours more strongly."""

    learning_rate: float = 200.0
    exaggeration: float = 12.0
    patience: int = 300

    name = "momentum and gains"
    needs = ("value_and_gradient",)
    gap_kind = "norm of the gradient"

    def start(self, problem: Any, theta: Array) -> State:
        memory: dict[str, Any] = {
            "iteration": 0, "update": np.zeros_like(theta), "gains": np.ones_like(theta),
            "least": math.inf, "least_at": 0,
        }  # fmt: skip
        value, memory["gradient"] = problem.value_and_gradient(theta, self.exaggeration)
        return State(theta, value, math.inf, memory, settled=False)

    def advance(self, problem: Any, state: State) -> State:
        memory = dict(state.memory)
        iteration = memory["iteration"] = memory["iteration"] + 1
        early = iteration < EARLY
        if iteration == EARLY + 1:
            # The second phase begins at rest, as in scikit-learn.
            memory |= {
                "update": np.zeros_like(state.theta), "gains": np.ones_like(state.theta),
                "least": math.inf, "least_at": iteration,
            }  # fmt: skip
        gradient, update = memory["gradient"], memory["update"]
        gains = np.where(update * gradient < 0.0, memory["gains"] + 0.2, memory["gains"] * 0.8)
        np.maximum(gains, 0.01, out=gains)
        momentum = 0.5 if iteration <= EARLY else 0.8
        update = momentum * update - self.learning_rate * gains * gradient
        theta = state.theta + update
        value, gradient = problem.value_and_gradient(theta, self.exaggeration if early else 1.0)
        memory |= {"update": update, "gains": gains, "gradient": gradient}
        stalled = not early and iteration > EARLY and self._without_progress(memory, value)
        norm = float(np.linalg.norm(gradient))
        return State(theta, value, norm, memory, stalled=stalled, settled=iteration > EARLY)

    def _without_progress(self, memory: dict[str, Any], value: float) -> bool:
        """Whether the divergence has not fallen for too long; looked at now and then."""
        iteration = memory["iteration"]
        if iteration % CHECKED_EVERY:
            return False
        if value < memory["least"]:
            memory |= {"least": value, "least_at": iteration}
            return False
        return bool(iteration - memory["least_at"] > self.patience)
