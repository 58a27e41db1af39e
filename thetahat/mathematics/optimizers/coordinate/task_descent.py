"""Coordinate descent on working sets of columns, for several targets at once (compiled).

    F(B) = ½‖Y − XB‖²/W + Σ_j (l1‖B_j‖₂ + ½ l2‖B_j‖²),   B_j the row of column j

The penalty selects a column for all targets or for none. As in `WorkingSets`, F is minimised over
the active columns and those whose slopes are nearest to their threshold, on their Gram matrix,
until the duality gap over all columns is within the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.working_sets import EPSILON, INNER_SHARE
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.parts import require_whole

SHARE_OF_GAP, LAST_SHARE = 0.05, 0.01
"""The gap of a working set, as a share of the gap of all columns if others must join later, and as
a share of the tolerance if the set contains all columns."""


@dataclass(frozen=True)
class TaskLeastSquares:
    """½‖Y − XB‖²/W + Σ_j (l1‖B_j‖₂ + ½ l2‖B_j‖²) over centred, weighted rows.

    Parameters
    ----------
    columns : callable
        Takes column numbers and returns these columns of X as the rows of an array.
    slopes : callable
        Computes ``slopes(R)`` = XᵀR, of shape (d, n_targets).
    squares : array of shape (d,)
        Squared norms of the columns, ‖x_j‖².
    targets : array of shape (n, n_targets)
        The centred and weighted targets Y.
    total : float
        Sum of the row weights (W).
    l1, l2 : float
        Strengths of the penalty terms, relative to the mean loss.
    x_mean, y_mean : array or None
        Means that were subtracted from columns and targets; None without an intercept.
    """

    columns: Callable[[Array], Array]
    slopes: Callable[[Array], Array]
    squares: Array
    targets: Array
    total: float
    l1: float = 1.0
    l2: float = 0.0
    x_mean: Array | None = None
    y_mean: Array | None = None

    def task_least_squares(self) -> TaskLeastSquares:
        """Return the problem itself, in the form that `TaskDescent` needs."""
        return self

    def start(self) -> Array:
        """B = 0."""
        return self.pack(np.zeros((len(self.squares), self.targets.shape[1])))

    def pack(self, beta: Array) -> Array:
        """θ: B row by row, then the intercepts if there are any."""
        if self.x_mean is None or self.y_mean is None:
            return beta.ravel().copy()
        with one_blas_thread():
            return np.concatenate([beta.ravel(), self.y_mean - self.x_mean @ beta])

    def unpack(self, theta: Array) -> Array:
        """B of shape (d, n_targets)."""
        shape = (len(self.squares), self.targets.shape[1])
        return theta[: shape[0] * shape[1]].reshape(shape)


@dataclass(frozen=True)
class TaskDescent(Method):
    """Coordinate descent over working sets, for least squares with several targets.

    Formula: B_j ← max(1 − W·l1/‖p‖, 0)·p/(‖x_j‖² + W·l2) with p = ‖x_j‖²B_j + x_jᵀR. F never
    increases; iterates are extrapolated where that decreases it. Cost: O(n d k) per pass over all
    columns for k targets, and O(s²k) per sweep over s columns.

    Parameters
    ----------
    least : int, default=100
        Smallest number of columns that are added to a working set beside the active ones. Must be
        at least 1.

    Examples
    --------
    >>> import thetahat as th
    >>> X, Y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    >>> th.MultiTaskLasso(0.1).fit(X, Y).solution_.solver
    'task_descent'
    """

    least: int = 100

    name = "task_descent"
    needs = ("task_least_squares",)
    gap_kind = "duality gap"
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        require_whole(self, "least", at_least=1)

    def start(self, problem: Any, theta: Array) -> State:
        tasks = problem.task_least_squares()
        beta = np.array(tasks.unpack(theta), dtype=np.float64)
        return _state(tasks, beta, _residual(tasks, beta))

    def advance(self, problem: Any, state: State) -> State:
        return self._advance(problem, state, self.default_max_steps, 0.0)

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Run with sweeps as the counted steps."""
        state = self.start(problem, theta)
        monitor.begin(state)
        while monitor.goes_on:
            left = monitor.max_steps - monitor.steps
            state = self._advance(problem, state, left, monitor.tolerance)
            monitor.steps += state.memory["sweeps"] - 1
            monitor.observe(state)

    def _advance(self, problem: Any, state: State, sweeps: int, tolerance: float) -> State:
        tasks, beta = problem.task_least_squares(), state.memory["beta"].copy()
        working = self._working_set(beta, state.memory["room"])
        packed = tasks.columns(working)
        with one_blas_thread():
            gram = packed @ packed.T
            start = np.ascontiguousarray((packed @ tasks.targets).T)
            part = np.ascontiguousarray(beta[working].T)
            slopes = start - part @ gram
        l1, l2 = _terms(tasks, len(working))
        squared = float(np.sum(tasks.targets**2))
        used, _, stuck = _native.descend_tasks(
            gram, start, squared, l1, l2, part, slopes,
            _goal(state, working, tolerance) * tasks.total, EPSILON * squared**0.5, sweeps,
        )  # fmt: skip
        beta[working] = part.T
        with one_blas_thread():
            residual = tasks.targets - packed.T @ part.T
        return _state(tasks, beta, residual, used, stuck and used == 1)

    def _working_set(self, beta: Array, room: Array) -> Array:
        support, useful = np.any(beta != 0, axis=1), np.isfinite(room)
        if len(beta) <= self.least:
            return np.flatnonzero(support | useful)
        idle = np.flatnonzero(~support & useful)
        extra = max(self.least, int(support.sum()))
        if len(idle) > extra:
            idle = idle[np.argpartition(room[idle], extra)[:extra]]
        return np.sort(np.concatenate([np.flatnonzero(support), idle]))


def _goal(state: State, working: Array, tolerance: float) -> float:
    """The gap at which a descent over these columns stops: a rough one while others must join."""
    room = state.memory["room"]
    if len(working) == len(room):
        return LAST_SHARE * tolerance
    least_room = np.min(np.delete(room, working))
    if least_room < 0:
        return SHARE_OF_GAP * state.gap
    return (LAST_SHARE if least_room == np.inf else INNER_SHARE) * tolerance


def _terms(tasks: TaskLeastSquares, count: int) -> tuple[Array, Array]:
    """l1 and l2 of so many columns, for sums over the rows."""
    return np.full(count, tasks.l1 * tasks.total), np.full(count, tasks.l2 * tasks.total)


def _residual(tasks: TaskLeastSquares, beta: Array) -> Array:
    if not beta.any():
        return tasks.targets
    support = np.flatnonzero(np.any(beta != 0, axis=1))
    with one_blas_thread():
        return tasks.targets - tasks.columns(support).T @ beta[support]


def _state(
    tasks: TaskLeastSquares, beta: Array, residual: Array, sweeps: int = 0, stalled: bool = False
) -> State:
    slopes, total = tasks.slopes(residual), tasks.total
    room = np.empty(len(beta))
    gap, value = _native.task_gap(
        np.ascontiguousarray(beta.T), np.ascontiguousarray(slopes.T), tasks.squares,
        *_terms(tasks, len(beta)), float((residual * residual).sum()),
        float((residual * tasks.targets).sum()), room,
    )  # fmt: skip
    memory = {"beta": beta, "room": room, "sweeps": sweeps}
    return State(tasks.pack(beta), value / total, gap / total, memory, stalled)
