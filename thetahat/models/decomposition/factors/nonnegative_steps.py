"""The two methods for non-negative factors: coordinate descent and multiplicative updates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thetahat import _native
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
FIRST_MOMENTUM, MOST_MOMENTUM = 0.1, 2.0
"""How much of its last change H is extrapolated by, at first and at most."""
LONGER, SHORTER = 1.4, 2.0
"""The extrapolation is multiplied by the one after a decrease, divided by the other otherwise."""
SQUARES_ROUNDING = 2e-14
"""Rounding errors of a sum of squares, as a share of the sum."""
CHECKED_EVERY = 10
"""Multiplicative updates are slow and cheap, so that their progress is measured over several."""


def _sweeps(side: Side, factor: Array, penalised: bool) -> int:
    """So many that they take about as long as the product with X; one if there is a penalty.

    The scales of the factors are balanced by penalties, and far from the balance, the best entries
    of one factor for the other can be 0 for a whole component, which does not come back.
    """
    if penalised:
        return 1
    n, k = factor.shape
    return int(min(MOST_SWEEPS, 1 + side.entries / (SWEEP_COST * n * k)))


def _with_ridge(gram: Array, penalty: Penalty) -> Array:
    if penalty.l2:
        gram = gram.copy()
        np.einsum("ii->i", gram)[:] += penalty.l2
    return gram


def _less(cross: Array, penalty: Penalty) -> Array:
    return cross - cross.dtype.type(penalty.l1) if penalty.l1 else cross


def _extrapolated(factor: Array, last: Array, momentum: float) -> Array:
    """factor + momentum·(factor − last), cut off at 0, with the lengths of the columns of factor.

    The weights of the other factor fit these lengths.
    """
    ahead = np.maximum(factor + factor.dtype.type(momentum) * (factor - last), 0.0)
    length, own = np.linalg.norm(ahead, axis=0), np.linalg.norm(factor, axis=0)
    scale = np.divide(own, length, out=np.zeros_like(own), where=length > 0)
    return np.where(length > 0, ahead * scale, factor)


def best_rows(X: Any, H: Array, penalty: Penalty, start: Array, sweeps: int, tol: float) -> Array:
    """The w ≥ 0 of each row that minimises ½‖x − wH‖² + penalty. Cost: O(nnz·k + n k²·sweeps)."""
    side, k = Side(X), len(H)
    with one_blas_thread():
        gram = _with_ridge(H @ H.T, penalty)
    cross = _less(side.times(np.ascontiguousarray(H.T)), penalty)
    side.sweep(gram, cross, np.arange(k), sweeps, tol * tol, start)
    return start


def exponent(beta: float) -> float:
    """The power of the multiplicative update with which the objective cannot rise."""
    if beta < 1:
        return 1.0 / (2.0 - beta)
    return 1.0 / (beta - 1.0) if beta > 2 else 1.0


def multiplied(
    factor: Array, numerator: Array, denominator: Array, penalty: Penalty, beta: float
) -> None:
    """factor ← factor·(numerator/(denominator + penalty))^exponent, in place."""
    _native.multiply_factor(factor, numerator, denominator, penalty.l1, penalty.l2, exponent(beta))


def divergence_rows(
    X: Any, H: Array, penalty: Penalty, beta: float, most: int, tol: float
) -> Array:
    """The w ≥ 0 of each row with the least divergence of order β and penalty, with H fixed.

    For 1 ≤ β ≤ 2 each weight in turn is moved to its optimum, for other β all are multiplied by
    their ratios, until a row moves no more. Cost: O(nnz·k) per pass, with nnz = n·d for β ≠ 1.
    """
    return Side(X).divergence_weights(
        np.ascontiguousarray(H.T), beta, exponent(beta), penalty, most, tol
    )


@dataclass(frozen=True)
class CoordinateSteps(Method):
    """Coordinate descent on W with H fixed, then on H with W fixed; for the squared loss.

    A product with X costs more than a sweep over the coordinates, so that several sweeps are made
    per product. An iteration begins at H + β(H − H₀) with the H₀ before the last one, cut off at 0,
    as in extrapolated HALS (Ang and Gillis, 2019). If that does not lower the objective, it is
    done again with β = 0, so that the objective never rises.
    """

    rng: np.random.Generator | None = None
    name: ClassVar[str] = "coordinate descent"
    needs: ClassVar[tuple[str, ...]] = ("split",)
    gap_kind: ClassVar[str] = "projected gradient relative to that of the first iteration"

    def start(self, problem: NonnegativeFactors, theta: Array) -> State:
        theta = np.array(theta, dtype=problem.X.dtype)
        W, Ht = problem.split(theta)
        with one_blas_thread():
            gram = Ht.T @ Ht
            value = problem.square_value(W, problem.rows.times(Ht), gram, W.T @ W)
        value += problem.penalties(W, Ht)
        return State(
            theta, value, math.inf, {"gram": gram, "first": None, "last": None, "momentum": 0.0}
        )

    def advance(self, problem: NonnegativeFactors, state: State) -> State:
        in_double, momentum = state.theta.dtype == np.float64, state.memory["momentum"]
        least = SQUARES_ROUNDING * problem.square if in_double else 0.0
        after = self._step(problem, state, momentum)
        if momentum and not state.value - after.value > least:
            after = self._step(problem, state, 0.0)
            after.memory["momentum"] = momentum / SHORTER
        elif state.memory["last"] is not None and not problem.is_penalised:
            after.memory["momentum"] = min(MOST_MOMENTUM, max(momentum, FIRST_MOMENTUM) * LONGER)
        after.stalled = in_double and state.value - after.value <= least
        return after

    def _step(self, problem: NonnegativeFactors, state: State, momentum: float) -> State:
        """Sweeps of W, then of H, from H plus a multiple of its last change."""
        theta, memory = state.theta.copy(), state.memory
        W, Ht = problem.split(theta)
        gram, last = memory["gram"], Ht.copy()
        with one_blas_thread():
            if momentum:
                Ht[...] = _extrapolated(Ht, memory["last"], momentum)
                gram = Ht.T @ Ht
            gram, order = _with_ridge(gram, problem.left), self._order(problem.k)
            violation, cross = problem.sweep_left(
                W, Ht, gram, order, _sweeps(problem.rows, W, problem.is_penalised), ENOUGH
            )
            left = W.T @ W
            gram, order = _with_ridge(left, problem.right), self._order(problem.k)
            sweeps = _sweeps(problem.columns, Ht, problem.is_penalised)
            violation += problem.columns.sweep(
                gram, _less(cross, problem.right), order, sweeps, ENOUGH, Ht
            )
            gram = Ht.T @ Ht
            value = problem.square_value(Ht, cross, gram, left) + problem.penalties(W, Ht)
        first = violation if memory["first"] is None else memory["first"]
        gap = violation / first if first > 0 else 0.0
        after = {"gram": gram, "first": first, "last": last, "momentum": momentum}
        return State(theta, value, gap, after)

    def _order(self, k: int) -> Array:
        return np.arange(k) if self.rng is None else self.rng.permutation(k)


@dataclass(frozen=True)
class MultiplicativeSteps(Method):
    """Multiplicative updates of W, then of H; the objective never rises, for any β.

    The caller limits BLAS to one thread.
    """

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
        if problem.beta == 2:
            return self._squared(problem, state, theta)
        multiplied(W, before["numerator"], before["denominator"], problem.left, problem.beta)
        found = problem.right_parts(W, Ht, valued=False)
        multiplied(Ht, found.numerator, found.denominator, problem.right, problem.beta)
        after = self._state(problem, theta, _next(before))
        return _judged(after, before)

    def _squared(self, problem: NonnegativeFactors, state: State, theta: Array) -> State:
        """One update for the squared loss."""
        W, Ht = problem.split(theta)
        multiplied(W, problem.rows.times(Ht), W @ state.memory["gram"], problem.left, 2.0)
        cross = problem.back(W)
        left = W.T @ W
        multiplied(Ht, cross, Ht @ left, problem.right, 2.0)
        gram = Ht.T @ Ht
        value = problem.square_value(Ht, cross, gram, left) + problem.penalties(W, Ht)
        memory = _next(state.memory) | {"gram": gram}
        return _judged(State(theta, value, math.inf, memory), state.memory)

    def _state(self, problem: NonnegativeFactors, theta: Array, memory: dict[str, Any]) -> State:
        """The value, and the update of W that follows from the same products."""
        W, Ht = problem.split(theta)
        if problem.beta == 2:
            memory["gram"] = Ht.T @ Ht
            value = problem.square_value(W, problem.rows.times(Ht), memory["gram"], W.T @ W)
        else:
            found = problem.rows.parts(W, Ht, problem.beta)
            memory["numerator"], memory["denominator"] = found.numerator, found.denominator
            value = found.value
        return State(theta, value + problem.penalties(W, Ht), math.inf, memory)


def _next(before: dict[str, Any]) -> dict[str, Any]:
    return {"step": before["step"] + 1, "first": before["first"], "last": before["last"]}


def _judged(after: State, before: dict[str, Any]) -> State:
    """The state with its gap, if its progress is checked."""
    if after.memory["step"] % CHECKED_EVERY == 0:
        error = _error(after.value)
        decrease = before["last"] - error
        after.gap = decrease / before["first"] if before["first"] > 0 else 0.0
        after.memory["last"] = error
    return after


def _error(value: float) -> float:
    return math.sqrt(2.0 * max(value, 0.0))
