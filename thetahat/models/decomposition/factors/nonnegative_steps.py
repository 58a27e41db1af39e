"""The two methods for non-negative factors: coordinate descent and multiplicative updates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.decomposition.factors.nonnegative_problem import (
    NonnegativeFactors,
    Penalty,
    Side,
)

MOST_SWEEPS = 8
"""The most sweeps over the coordinates of a row per product with X."""
SWEEP_COST = 2.5
"""How much longer a multiplication takes in a sweep than in a product."""
ENOUGH = 0.01
"""Sweeps of a row end when one decreases the objective by less than this share of the first."""
ROUNDING = 2e-14
"""Rounding errors of a sum of squares, as a share of the sum."""
CHECKED_EVERY = 10
"""Multiplicative updates are slow and cheap, so that their progress is judged over several."""


def _sweeps(side: Side, factor: Array) -> int:
    """So many that they take about as long as the product with X."""
    n, k = factor.shape
    return int(min(MOST_SWEEPS, 1 + side.entries / (SWEEP_COST * n * k)))


def _with_penalty(gram: Array, cross: Array, penalty: Penalty) -> tuple[Array, Array]:
    if penalty.l2:
        gram = gram.copy()
        np.einsum("ii->i", gram)[:] += penalty.l2
    return gram, cross - cross.dtype.type(penalty.l1) if penalty.l1 else cross


def best_rows(X: Any, H: Array, penalty: Penalty, start: Array, sweeps: int, tol: float) -> Array:
    """The w ≥ 0 of each row that minimises ½‖x − wH‖² + penalty. Cost: O(nnz·k + n k²·sweeps)."""
    side, k = Side(X), len(H)
    with one_blas_thread():
        gram = H @ H.T
    gram, cross = _with_penalty(gram, side.times(np.ascontiguousarray(H.T)), penalty)
    side.sweep(gram, cross, np.arange(k), sweeps, tol * tol, start)
    return start


def _exponent(beta: float) -> float:
    """The power of the multiplicative update with which the objective cannot rise."""
    if beta < 1:
        return 1.0 / (2.0 - beta)
    return 1.0 / (beta - 1.0) if beta > 2 else 1.0


def _multiplied(
    factor: Array, numerator: Array, denominator: Array, penalty: Penalty, beta: float
) -> None:
    """factor ← factor·(numerator/(denominator + penalty))^exponent, in place."""
    if penalty.l1:
        denominator = denominator + denominator.dtype.type(penalty.l1)
    if penalty.l2:
        denominator = denominator + denominator.dtype.type(penalty.l2) * factor
    # An entry without denominator belongs to a component that is 0 in the other factor.
    ratio = np.divide(numerator, denominator, out=np.zeros_like(factor), where=denominator > 0)
    if _exponent(beta) != 1:
        np.power(ratio, _exponent(beta), out=ratio)
    factor *= ratio
    # Numbers without all their digits are slow, and 0 up to rounding errors.
    factor[factor < np.finfo(factor.dtype).tiny * 1e10] = 0.0


def multiplied_rows(
    X: Any, H: Array, penalty: Penalty, beta: float, most: int, tol: float
) -> Array:
    """Multiplicative updates of the rows of W with H fixed, each row until it moves no more.

    Cost: O(n d k) per update.
    """
    dtype, total = H.dtype, float(H.sum(dtype=np.float64))
    sums = np.asarray(X.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    level = sums / total if total > 0 else np.zeros_like(sums)
    W = np.repeat(level.astype(dtype), len(H), axis=1)
    Ht = np.ascontiguousarray(H.T)
    active = np.flatnonzero(level[:, 0] > 0)
    for _ in range(most):
        if not active.size:
            break
        rows = W[active]
        found = Side(X[active]).parts(rows, Ht, beta, valued=False)
        after = rows.copy()
        _multiplied(after, found.numerator, found.denominator, penalty, beta)
        W[active] = after
        moved = np.abs(after - rows).max(axis=1) > tol * after.max(axis=1)
        active = active[moved]
    return W


@dataclass(frozen=True)
class CoordinateSteps(Method):
    """Coordinate descent on W with H fixed, then on H with W fixed; for the squared loss.

    A product with X costs more than a sweep over the coordinates, so that several sweeps are made
    per product.
    """

    rng: np.random.Generator | None = None
    name: ClassVar[str] = "coordinate descent"
    needs: ClassVar[tuple[str, ...]] = ("split",)
    gap_kind: ClassVar[str] = "projected gradient relative to that of the first iteration"

    def start(self, problem: NonnegativeFactors, theta: Array) -> State:
        theta = np.array(theta, dtype=problem.X.dtype)
        with one_blas_thread():
            W, _ = problem.split(theta)
            return self._state(problem, theta, W.T @ W, math.inf, None)

    def advance(self, problem: NonnegativeFactors, state: State) -> State:
        theta = state.theta.copy()
        W, Ht = problem.split(theta)
        with one_blas_thread():
            gram, cross = _with_penalty(state.memory["gram"], state.memory["cross"], problem.left)
            order = self._order(problem.k)
            violation = problem.rows.sweep(gram, cross, order, _sweeps(problem.rows, W), ENOUGH, W)
            left = W.T @ W
            gram, cross = _with_penalty(left, problem.columns.times(W), problem.right)
            order = self._order(problem.k)
            violation += problem.columns.sweep(
                gram, cross, order, _sweeps(problem.columns, Ht), ENOUGH, Ht
            )
            after = self._state(problem, theta, left, violation, state.memory["first"])
        # The value is a difference of sums of this size, whose rounding errors hide less.
        if theta.dtype == np.float64:
            after.stalled = state.value - after.value <= ROUNDING * problem.square
        return after

    def _order(self, k: int) -> Array:
        return np.arange(k) if self.rng is None else self.rng.permutation(k)

    def _state(
        self,
        problem: NonnegativeFactors,
        theta: Array,
        left: Array,
        violation: float,
        first: float | None,
    ) -> State:
        W, Ht = problem.split(theta)
        gram, cross = Ht.T @ Ht, problem.rows.times(Ht)
        value = problem.square_value(W, cross, gram, left) + problem.penalties(W, Ht)
        if first is None and math.isfinite(violation):
            first = violation
        gap = violation / first if first else (0.0 if first == 0 else math.inf)
        return State(theta, value, gap, {"gram": gram, "cross": cross, "first": first})


@dataclass(frozen=True)
class MultiplicativeSteps(Method):
    """Multiplicative updates of W, then of H; the objective never rises, for any β."""

    name: ClassVar[str] = "multiplicative updates"
    needs: ClassVar[tuple[str, ...]] = ("split",)
    gap_kind: ClassVar[str] = f"relative decrease of the error in {CHECKED_EVERY} iterations"

    def start(self, problem: NonnegativeFactors, theta: Array) -> State:
        theta = np.array(theta, dtype=problem.X.dtype)
        state = self._state(problem, theta, {"step": 0})
        state.memory["first"] = state.memory["last"] = _error(state.value)
        return state

    def advance(self, problem: NonnegativeFactors, state: State) -> State:
        theta, before = state.theta.copy(), state.memory
        W, Ht = problem.split(theta)
        with one_blas_thread():
            _multiplied(W, before["numerator"], before["denominator"], problem.left, problem.beta)
            if problem.beta == 2:
                numerator, denominator = problem.columns.times(W), Ht @ (W.T @ W)
            else:
                found = problem.columns.parts(Ht, W, problem.beta, valued=False)
                numerator, denominator = found.numerator, found.denominator
            _multiplied(Ht, numerator, denominator, problem.right, problem.beta)
            memory = {"step": before["step"] + 1, "first": before["first"], "last": before["last"]}
            after = self._state(problem, theta, memory)
        if memory["step"] % CHECKED_EVERY == 0:
            error = _error(after.value)
            decrease = before["last"] - error
            after.gap = decrease / before["first"] if before["first"] > 0 else 0.0
            memory["last"] = error
        return after

    def _state(self, problem: NonnegativeFactors, theta: Array, memory: dict[str, Any]) -> State:
        """The value, and the update of W that follows from the same products."""
        W, Ht = problem.split(theta)
        if problem.beta == 2:
            gram, cross = Ht.T @ Ht, problem.rows.times(Ht)
            value = problem.square_value(W, cross, gram, W.T @ W)
            memory["numerator"], memory["denominator"] = cross, W @ gram
        else:
            found = problem.rows.parts(W, Ht, problem.beta)
            memory["numerator"], memory["denominator"] = found.numerator, found.denominator
            value = found.value
        return State(theta, value + problem.penalties(W, Ht), math.inf, memory)


def _error(value: float) -> float:
    return math.sqrt(2.0 * max(value, 0.0))
