"""Single-row steps of a linear model: w ← w − η_t (m ℓ′(y, z)·x + ∇R(w)), one row after another.

The standard losses run in a compiled kernel. Any other loss with a gradient (user-defined, or of
class scores) takes the same steps in Python, about a hundred times slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.base import Subdifferentiable
from thetahat.mathematics.losses.compiled import compiled
from thetahat.objective.row_losses import kernel_rows

RULES = {"pa1": 1, "pa2": 2}
"""Numbers of the kernel's rules; 0 is the plain step."""
STEEPEST = 1e12
"""Larger slopes are clipped, as in the kernel, so that one step cannot overflow β."""
NOTHING = np.empty(0)


@dataclass(frozen=True)
class Steps:
    """The objective of a step: multiplier·w_i·ℓ, plus l2/2·‖β‖² + l1·‖β‖₁ + level·b."""

    loss: Subdifferentiable
    l2: float = 0.0
    l1: float = 0.0
    level: float = 0.0
    fit_intercept: bool = True
    multiplier: float = 1.0
    rule: str = "plain"

    def penalty(self, coef: Array) -> float:
        """R(β)."""
        square = self.l2 / 2 * float((coef * coef).sum()) if self.l2 else 0.0
        sizes = self.l1 * float(np.abs(coef).sum()) if self.l1 else 0.0
        return square + sizes


@dataclass
class Walk:
    """The current β of shape (d,) or (d, k) and b, and the sums of both; `take` changes them."""

    coef: Array
    intercept: Array | float
    averages: bool = False
    coef_sum: Array = field(default_factory=lambda: NOTHING)
    intercept_sum: Array | float = 0.0
    n_averaged: float = 0.0
    n_moves: float = 0.0
    """Number of rows that changed β: for the perceptron, its mistakes."""
    charged: float = 0.0
    paid: Array = field(default_factory=lambda: NOTHING)

    def __post_init__(self) -> None:
        if self.averages and not self.coef_sum.size:
            self.coef_sum = np.zeros_like(self.coef)
            self.intercept_sum = np.zeros_like(self.intercept)

    def reported(self) -> tuple[Array, Array | float]:
        """β and b: the mean of the averaged iterates, or the last one if none is averaged."""
        if not self.n_averaged:
            return self.coef, self.intercept
        return self.coef_sum / self.n_averaged, self.intercept_sum / self.n_averaged

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.coef.sum() + np.sum(self.intercept)))


def take(
    steps: Steps,
    walk: Walk,
    X: Matrix,
    y: Array,
    weight: Array | None,
    order: Array,
    rates: Array,
    average_from: int = 0,
) -> float:
    """Step through the rows in this order; returns Σ w·(multiplier·ℓ + level·b), NaN on overflow.

    ``average_from`` is the number of the first step (from 1) whose iterate is averaged.
    """
    if not runs_compiled(steps, walk):
        if steps.l1 and not walk.paid.size:
            walk.paid = np.zeros_like(walk.coef)
        with np.errstate(over="ignore", invalid="ignore"):
            return _in_python(steps, walk, X, y, weight, order, rates, average_from)
    with _carried(walk) as carried:
        arguments = _arguments(steps, walk, X, y, weight, order, rates, average_from, carried)
        return float(_native.sgd_epoch(*arguments))


def take_epochs(
    steps: Steps,
    walk: Walk,
    X: Matrix,
    y: Array,
    weight: Array | None,
    order: Array,
    rates: Array,
    average_from: int,
    visits: int,
    mass: float,
    tolerance: float,
    patience: int,
    progress: Array,
) -> int:
    """Epochs of `visits` rows each, until `progress` says that the objective falls no more.

    Returns the number of epochs. ``progress`` is the mean loss, the best and the last objective,
    its change, the number of epochs without improvement, and whether these exceed `patience`.
    """
    with _carried(walk) as carried:
        arguments = _arguments(steps, walk, X, y, weight, order, rates, average_from, carried)
        return int(
            _native.sgd_epochs(*arguments, visits, mass, tolerance, float(patience), progress)
        )


def runs_compiled(steps: Steps, walk: Walk) -> bool:
    """Whether the loss has a compiled kernel, and there is one score."""
    return walk.coef.ndim == 1 and compiled(steps.loss) is not None


@contextmanager
def _carried(walk: Walk) -> Iterator[Array]:
    """The numbers of a walk as one array, which are read back afterwards."""
    carried = np.array(
        [walk.intercept, walk.charged, walk.intercept_sum, walk.n_averaged, walk.n_moves]
    )
    yield carried
    walk.intercept, walk.charged, walk.intercept_sum, walk.n_averaged, walk.n_moves = carried


def _arguments(
    steps: Steps,
    walk: Walk,
    X: Matrix,
    y: Array,
    weight: Array | None,
    order: Array,
    rates: Array,
    average_from: int,
    carried: Array,
) -> tuple[Any, ...]:
    """The arguments of the kernel."""
    if steps.l1 and not walk.paid.size:
        walk.paid = np.zeros_like(walk.coef)
    number = compiled(steps.loss)
    assert number is not None
    return (
        *kernel_rows(X),
        y,
        NOTHING if weight is None else weight,
        order,
        rates,
        *number,
        RULES.get(steps.rule, 0),
        steps.multiplier,
        steps.l2,
        steps.l1,
        steps.level,
        bool(steps.fit_intercept),
        walk.coef,
        carried,
        walk.paid,
        walk.coef_sum,
        average_from,
    )


def _in_python(
    steps: Steps,
    walk: Walk,
    X: Matrix,
    y: Array,
    weight: Array | None,
    order: Array,
    rates: Array,
    average_from: int,
) -> float:
    """The same steps for any loss with a gradient, and for one score per class."""
    total, coef = 0.0, walk.coef
    at: Any
    for number, (row, rate) in enumerate(zip(order, rates, strict=True), start=1):
        if isinstance(X, np.ndarray):
            at, x = slice(None), X[row].astype(np.float64, copy=False)
        else:
            entries = slice(X.indptr[row], X.indptr[row + 1])
            at, x = X.indices[entries], X.data[entries].astype(np.float64, copy=False)
        mass = steps.multiplier * (1.0 if weight is None else weight[row])
        z = (x @ coef[at] + walk.intercept)[None]
        target = y[row : row + 1]
        total += mass * float(steps.loss.value(target, z)[0])
        if steps.level:
            share = 1.0 if weight is None else float(weight[row])
            total += share * steps.level * float(np.sum(walk.intercept))
        if not np.isfinite(total):
            return float("nan")
        move = -rate * mass * np.clip(steps.loss.gradient(target, z)[0], -STEEPEST, STEEPEST)
        if steps.l2:
            coef *= max(0.0, 1.0 - rate * steps.l2)
        if np.any(move):
            walk.n_moves += 1
            coef[at] += np.multiply.outer(x, move)
            if steps.fit_intercept:
                walk.intercept = walk.intercept + move
        if steps.level and steps.fit_intercept:
            walk.intercept = walk.intercept - rate * steps.level
        if steps.l1:
            walk.charged += rate * steps.l1
            _pay(walk, np.flatnonzero(x) if isinstance(X, np.ndarray) else at[x != 0])
        if walk.averages and number >= average_from:
            walk.coef_sum += coef
            walk.intercept_sum = walk.intercept_sum + walk.intercept
            walk.n_averaged += 1
    if steps.l1:
        _pay(walk, slice(None))
    return total


def _pay(walk: Walk, at: Any) -> None:
    """Shrink some coefficients by their outstanding share of the cumulative L1 penalty."""
    before, paid = walk.coef[at], walk.paid[at]
    after = np.where(
        before > 0,
        np.maximum(0.0, before - (walk.charged + paid)),
        np.where(before < 0, np.minimum(0.0, before + (walk.charged - paid)), 0.0),
    )
    walk.coef[at], walk.paid[at] = after, paid + (after - before)
