"""Completion by singular values of the filled matrix: one-shot, iterated, and soft-thresholded.

    hard:  min ½Σ_known (x − z)²  over Z of rank k       Z ← best rank k of (known X, else Z)
    soft:  min ½Σ_known (x − z)² + α‖Z‖_*                Z ← S_α(known X, else Z)

S_α subtracts α from every singular value, down to 0. The soft problem is convex: with the residual
R = known (X − Z), scaled so that its largest singular value is at most α, D(R) = ⟨R, X⟩ − ½‖R‖² is
a lower bound of the minimum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.decomposition.completion.entries import Entries

Factors = tuple[Array, Array, Array]
"""U (m, r), s (r,) and V (r, n) with Z = U·diag(s)·V."""


def singular_values(matrix: Array) -> Factors:
    """All singular values and vectors of a matrix."""
    with one_blas_thread():
        U, s, V = scipy_linalg().svd(matrix, full_matrices=False, check_finite=False)
    return U, s, V


@dataclass(frozen=True)
class Filled:
    """½Σ_known (x − z)² + α‖Z‖_* over Z of rank ≤ `most`, whose θ is the matrix Z."""

    entries: Entries
    alpha: float
    most: int

    @property
    def convex(self) -> bool:
        return self.alpha > 0 and self.most >= min(self.entries.shape)

    def residual(self, Z: Array) -> Array:
        return self.entries.values - Z[self.entries.rows, self.entries.columns]

    def step(self, Z: Array) -> tuple[Array, float]:
        """The best Z for the matrix filled by the given one, and its nuclear norm."""
        U, s, V = singular_values(self.entries.dense(Z))
        s = np.maximum(s[: self.most] - self.alpha, 0.0)
        k = int((s > 0).sum())
        with one_blas_thread():
            return (U[:, :k] * s[:k]) @ V[:k], float(s.sum())

    def value(self, Z: Array, norm: float) -> float:
        left = self.residual(Z)
        return 0.5 * float(left @ left) + self.alpha * norm

    def duality_gap(self, Z: Array, value: float) -> float:
        """F(Z) less a lower bound of the minimum."""
        left = self.residual(Z)
        sparse = np.zeros(self.entries.shape)
        sparse[self.entries.rows, self.entries.columns] = left
        with one_blas_thread():
            largest = float(scipy_linalg().svdvals(sparse, check_finite=False)[0])
        dual = left * min(1.0, self.alpha / largest) if largest > 0 else left
        return value - float(dual @ self.entries.values) + 0.5 * float(dual @ dual)


@dataclass(frozen=True)
class FillAndProject(Method):
    """Fill with the current Z, then project; with momentum where the problem is convex.

    The momentum is that of FISTA, which starts again whenever the objective rises.
    """

    scale: float
    """Half the sum of the squares of the entries."""

    name = "fill_and_project"
    needs = ("step", "value")
    gap_kind = "duality gap (soft) or decrease (hard), relative to the objective of no factors"

    def start(self, problem: Any, theta: Array) -> State:
        Z, norm = problem.step(theta)
        return self._state(problem, Z, norm, Z, 1.0, math.inf)

    def advance(self, problem: Any, state: State) -> State:
        before, t = state.theta, state.memory["momentum"]
        Z, norm = problem.step(state.memory["point"])
        value = problem.value(Z, norm)
        if value > state.value and t > 1:
            Z, norm = problem.step(before)
            t = 1.0
        following = (1 + math.sqrt(1 + 4 * t * t)) / 2
        speed = (t - 1) / following if problem.convex else 0.0
        point = Z + speed * (Z - before)
        return self._state(problem, Z, norm, point, following, state.value)

    def _state(
        self, problem: Any, Z: Array, norm: float, point: Array, momentum: float, before: float
    ) -> State:
        value = problem.value(Z, norm)
        if problem.convex:
            gap = problem.duality_gap(Z, value) / self.scale
        else:
            gap = max(before - value, 0.0) / self.scale
        return State(Z, value, gap, {"point": point, "momentum": momentum})
