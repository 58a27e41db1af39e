"""Minimisation of the stress of an embedding, Σ (δ_ij − d_ij)² with d_ij = ‖z_i − z_j‖.

Metric: δ are the dissimilarities. A step replaces every point by z_i = (1/n) Σ_j (δ_ij/d_ij)(z_i −
z_j), which minimises a quadratic upper bound of the stress, so that the stress falls (SMACOF).

Ordinal: only the order of the dissimilarities counts. Each step first replaces δ by the values
nearest to the present distances that do not fall when the dissimilarities rise.

Squared: Σ_{i≠j} (δ_ij² − d_ij²)², a polynomial of degree four, by a gradient method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State


class Step:
    """The stress Σ_{i<j}(δ − d)² of points, Σ_{i<j} d², and the points of the next step."""

    def __init__(self, delta: Array, points: Array) -> None:
        self.next = np.empty_like(points)
        threads = n_threads() if len(delta) > 100 else 1
        self.stress, self.squares = _native.guttman_step(delta, points, self.next, threads)


class MetricStress:
    """The problem with given dissimilarities."""

    convex = False
    unit = 1.0

    def __init__(self, delta: Array) -> None:
        self.delta = delta

    def disparities(self, points: Array, first: bool) -> Array:
        """What the distances of the next points are compared with."""
        return self.delta


class OrdinalStress:
    """The problem in which only the order of the dissimilarities counts.

    A dissimilarity of 0 has the disparity 0. Equal dissimilarities have equal disparities. The sum
    of the squared disparities is fixed, because points that are all equal would have no stress.
    """

    convex = False
    unit = 1.0

    def __init__(self, delta: Array) -> None:
        n = len(delta)
        self.n = n
        upper = np.triu_indices(n, 1)
        given = delta[upper]
        known = np.flatnonzero(given > 0)
        order = known[np.argsort(given[known], kind="stable")]
        values = given[order]
        self.pairs = upper[0][order] * n + upper[1][order]
        changes = np.flatnonzero(np.diff(values)) + 1
        self.starts = np.concatenate([np.zeros(min(1, len(values)), dtype=np.int64), changes])
        self.counts = np.diff(np.append(self.starts, len(values))).astype(np.float64)
        self.values = values

    def disparities(self, points: Array, first: bool) -> Array:
        found = np.zeros((self.n, self.n))
        if not len(self.values):
            return found
        if first:
            levels = self.values[self.starts]
        else:
            distance = _distances(points).ravel()[self.pairs]
            means = np.add.reduceat(distance, self.starts) / self.counts
            levels = np.empty_like(means)
            _native.isotonic(means, self.counts, levels)
        square = float(self.counts @ (levels * levels))
        if not square > 0:
            levels, square = self.values[self.starts], float(self.values @ self.values)
        levels = levels * math.sqrt(self.n * (self.n - 1) / 2 / square)
        found.ravel()[self.pairs] = np.repeat(levels, self.counts.astype(np.int64))
        found += found.T
        return found


def _distances(points: Array) -> Array:
    total = np.zeros((len(points), len(points)))
    for column in points.T:
        gap = np.subtract.outer(column, column)
        gap *= gap
        total += gap
    return np.sqrt(total, out=total)


@dataclass(frozen=True)
class Smacof(Method):
    """Steps to the minimum of a quadratic upper bound of the stress."""

    name = "smacof"
    needs = ("disparities",)
    gap_kind = "fall of the stress in the last step, relative to Σ d²"

    def start(self, problem: Any, theta: Array) -> State:
        delta = problem.disparities(theta, True)
        step = Step(delta, theta)
        return State(theta, step.stress, math.inf, {"next": step.next, "delta": delta})

    def advance(self, problem: Any, state: State) -> State:
        started = "steps" in state.memory
        theta, before = state.memory["next"], state.memory["delta"]
        step = Step(before, theta)
        # The first step has only the start to compare with, as in scikit-learn.
        fall = (state.value - step.stress) / step.squares if step.squares > 0 else 0.0
        gap = max(0.0, fall) if started else math.inf
        delta = problem.disparities(theta, False)
        if delta is not before:
            after = Step(delta, theta).next
        else:
            after = step.next
        memory = {"next": after, "delta": delta, "steps": True}
        return State(theta, step.stress, gap, memory)


class SquaredStress:
    """Σ_{i≠j}(δ² − d²)² as a function of the points, in units of the dissimilarities."""

    convex = False
    description = "the squared stress"

    def __init__(self, delta: Array, n_components: int) -> None:
        n = len(delta)
        fourth = float(np.mean(delta**4)) * n / max(n - 1, 1)
        self.unit = fourth**0.25 if fourth > 0 else 1.0
        self.delta = delta / self.unit
        self.shape = n, n_components

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        gradient = np.empty(self.shape)
        points = np.ascontiguousarray(theta.reshape(self.shape))
        value = _native.squared_stress(self.delta, points, gradient, n_threads())
        return value / self.shape[0], gradient.ravel() / self.shape[0]
