"""Gradient boosting for any loss and learner: f_m = f_{m−1} + η·h_m, with h_m fitted to −∂ℓ/∂f.

    f₀ = argmin_c Σ w·ℓ(y, c);    r_i = −∂ℓ(y_i, f)/∂f;    h_m by least squares;    its size anew

One learner for each column of raw predictions (each class) and round. Who learns is a part that is
passed in: trees of the engine (`TreeRounds`), or any regressor (`LearnerRounds`). Both add to the
raw predictions in the order in which the kept members are summed later, so that going on from them
gives the same bits as never having stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.data.resampling import take_rows
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved, Subdifferentiable
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_ROWS, Leaves
from thetahat.models.ensemble.gradient_boosting.leaf_values import takes_newton_steps
from thetahat.models.ensemble.gradient_boosting.members import Member, together


@dataclass(frozen=True)
class Rows:
    """Rows as boosting sees them, with targets of the loss and weights.

    X holds numbers with NaN for missing where trees of the engine learn, else what was given.
    """

    X: Any
    y: Array
    weight: Array | None

    def mean(self, values: Array) -> float:
        """The weighted mean of numbers by row."""
        return float(np.average(values, weights=self.weight))

    def take(self, rows: Array) -> Rows:
        """Some of the rows, by their numbers."""
        weight = None if self.weight is None else self.weight[rows]
        return Rows(take_rows(self.X, rows), self.y[rows], weight)


@dataclass(frozen=True)
class Plan:
    """What a boosting fit does in each round."""

    loss: Subdifferentiable
    learning_rate: float
    n_columns: int = 1
    """Raw predictions per row."""
    subsample: float = 1.0
    """Share of the rows that a round's learners are fitted on."""
    leaf_update: str = "auto"
    huber_level: float | None = None
    """Quantile of |residual| from which Huber's loss is linear, found anew in every round."""
    seed: int = 0

    def in_round(self, number: int) -> np.random.Generator:
        """The randomness of one round: the same whether or not others came before it."""
        return np.random.default_rng([self.seed, number])


@dataclass(frozen=True)
class Round:
    """What a round learns from, and the raw predictions that it adds to."""

    loss: Subdifferentiable
    slope: Array
    """ℓ′ at the raw predictions before the round, (n, n_columns)."""
    curvature: Array | None
    """ℓ″ there, where Newton steps are taken; None: 1."""
    drawn: Array
    """The rows to fit (uint32, ascending); empty: all."""
    before: Array
    """The raw predictions before the round."""
    raw: Array
    """Those of now."""
    random: np.random.Generator

    @property
    def left_out(self) -> Array:
        """The rows that were not drawn, as a mask."""
        others = np.ones(len(self.raw), dtype=bool)
        others[self.drawn] = False
        return others


Learn = Callable[[Round], Sequence[Member]]
"""Fits the members of a round, one per column, and adds what they say to its raw predictions."""


@dataclass
class Boosting:
    """Boosting under way: the members so far, and the raw predictions they make."""

    plan: Plan
    rows: Rows
    learn: Learn
    start: Array
    """f₀ of every row, (n, n_columns)."""
    members: list[Member] = field(default_factory=list)
    raw: Array = field(init=False)
    loss: Subdifferentiable = field(init=False)
    """The loss of the current round; Huber's is refitted to the residuals."""
    out_of_bag_losses: tuple[float, float] | None = None
    """Mean loss of the rows the last round did not draw, before and after it."""

    def __post_init__(self) -> None:
        self.raw = np.array(self.start, dtype=np.float64, order="C")
        self.loss = self.plan.loss
        if self.members:
            together(self.members).sum(self.rows.X, self.raw, self.plan.n_columns)

    @property
    def n_rounds(self) -> int:
        return len(self.members) // self.plan.n_columns

    def step(self) -> Sequence[Member]:
        """One round: its members, which are kept, and their values added to the predictions."""
        random = self.plan.in_round(self.n_rounds)
        self.loss = self._loss_of_round()
        slope, curvature = self._derivatives()
        drawn = self._draw(random)
        before = self.raw.copy() if self.plan.n_columns > 1 or drawn.size else self.raw
        now = Round(self.loss, slope, curvature, drawn, before, self.raw, random)
        made = self.learn(now)
        if drawn.size:
            self.out_of_bag_losses = self._losses_of_others(now)
        self.members.extend(made)
        return made

    def mean_loss(self) -> float:
        """The mean loss of the rows fitted."""
        return self.rows.mean(self.loss.value(self.rows.y, scores_of(self.loss, self.raw)))

    def _derivatives(self) -> tuple[Array, Array | None]:
        """Slope and (for Newton steps) curvature, (n, n_columns)."""
        z, y = scores_of(self.loss, self.raw), self.rows.y
        shape = self.raw.shape
        if isinstance(self.loss, Squared) or not takes_newton_steps(
            self.loss, self.plan.leaf_update
        ):
            return self.loss.gradient(y, z).reshape(shape), None
        assert isinstance(self.loss, Curved)
        slope, curvature = self.loss.gradient_and_curvature(y, z)
        return slope.reshape(shape), curvature.reshape(shape)

    def _loss_of_round(self) -> Subdifferentiable:
        if self.plan.huber_level is None:
            return self.loss
        residual = np.abs(self.rows.y - self.raw[:, 0])
        all_rows = Leaves(
            np.arange(len(residual), dtype=np.uint32), np.zeros(1), np.array([0, len(residual)])
        )
        delta = float(all_rows.quantiles(residual, self.rows.weight, self.plan.huber_level)[0])
        return self.loss.set_params(delta=delta) if delta > 0 else self.loss

    def _draw(self, random: np.random.Generator) -> Array:
        """The rows of this round; all of them as none named."""
        if self.plan.subsample >= 1.0:
            return NO_ROWS
        n = len(self.rows.y)
        size = max(1, int(self.plan.subsample * n))
        chosen = random.choice(n, size=size, replace=False, shuffle=False)
        return np.sort(chosen).astype(np.uint32)

    def _losses_of_others(self, now: Round) -> tuple[float, float]:
        others, rows = now.left_out, self.rows
        part = Rows(None, rows.y[others], None if rows.weight is None else rows.weight[others])
        first, last = (
            part.mean(self.loss.value(part.y, scores_of(self.loss, raw[others])))
            for raw in (now.before, now.raw)
        )
        return first, last


def scores_of(loss: Subdifferentiable, raw: Array) -> Array:
    """Raw predictions in the shape that the loss takes: a column per class, or one number."""
    return raw if loss.columns == "per class" else raw[:, 0]


def no_better(scores: Sequence[float], patience: int, tolerance: float) -> bool:
    """Whether none of the last `patience` scores beats the one before them by `tolerance`."""
    if len(scores) <= patience:
        return False
    reference = scores[-patience - 1] + tolerance
    return not any(score > reference for score in scores[-patience:])


Scorer = Callable[[Array], float]
"""The score of raw predictions (n, n_columns) of some rows; larger is better."""
