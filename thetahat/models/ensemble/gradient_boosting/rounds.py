"""Gradient boosting for any loss and learner: f_m = f_{m−1} + η·h_m, with h_m fitted to −∂ℓ/∂f.

    f₀ = argmin_c Σ w·ℓ(y, c);    r_i = −∂ℓ(y_i, f)/∂f;    h_m by least squares;    rescaled

Every iteration ("round") fits one learner per column of raw predictions, that is, per class. The
learner is a part that is passed in: histogram trees (`TreeRounds`) or any regressor
(`LearnerRounds`). Both add to the raw predictions in the same order in which the fitted members are
summed later. A continued fit therefore gives the same bits as an uninterrupted one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import numpy as np

from thetahat.data.bins import Bins
from thetahat.data.on_disk.code_store import codes_by_row
from thetahat.data.resampling import take_rows
from thetahat.data.row_pieces import BinnedRows, StreamedRows
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved, Subdifferentiable
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_ROWS, Leaves
from thetahat.models.ensemble.gradient_boosting.leaf_values import takes_newton_steps
from thetahat.models.ensemble.gradient_boosting.members import Member, together


@dataclass(frozen=True)
class Rows:
    """Training rows with targets in the form of the loss, and weights.

    For trees, X holds numbers with NaN for missing values; for other learners, X as it was given.
    """

    X: Any
    y: Array
    weight: Array | None
    common_weight: float = 1.0
    """Weight of every row if all have the same, below 1; `weight` is None then."""

    @classmethod
    def of(cls, X: Any, y: Array, weight: Array | None) -> Rows:
        """Rows of positive weight. Small equal weights count exactly as weights of 1."""
        rows = cls(X, y, weight)
        if weight is not None and not weight.all():
            rows = rows.take(np.flatnonzero(weight))
        kept = rows.weight
        if kept is not None and kept.size and kept[0] < 1 and (kept == kept[0]).all():
            return replace(rows, weight=None, common_weight=float(kept[0]))
        return rows

    @property
    def unit_weight(self) -> float:
        """The weight that counts as one row: 1, or the mean positive weight if that is smaller."""
        if self.weight is None or not self.weight.any():
            return 1.0
        mean = float(self.weight.sum()) / int(np.count_nonzero(self.weight))
        return 1.0 if mean >= 1.0 else mean * (1.0 - 1e-9)  # sums of equal weights are rounded

    def mean(self, values: Array) -> float:
        """The weighted mean of numbers by row."""
        return float(np.average(values, weights=self.weight))

    def take(self, rows: Array) -> Rows:
        """Some of the rows, by their numbers."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=take_rows(self.X, rows), y=self.y[rows], weight=weight)

    def coded(self, bins: Bins | None) -> Rows:
        """Rows of a source as codes, so that they need not be read in every iteration."""
        if bins is None or not isinstance(self.X, StreamedRows):
            return self
        return replace(self, X=BinnedRows(codes_by_row(self.X, bins), bins))


def hold_out(
    rows: Rows, fraction: float, seed: int, *, by_class: bool, who: str
) -> tuple[Rows, Rows]:
    """Training rows, and a fraction or a number of held-out rows; `by_class` draws of every class.

    Cost: O(n).
    """
    from sklearn.model_selection import train_test_split

    n = len(rows.y)
    held = int(fraction) if fraction >= 1 else ceil(fraction * n)
    codes, sizes = np.unique(rows.y, return_counts=True) if by_class else ([0], np.array([2]))
    if sizes.min() < 2:
        few = [float(code) for code, size in zip(codes, sizes, strict=True) if size < 2]
        raise DataError(
            f"{who}: The least populated classes in y have only 1 member, but early stopping holds "
            f"out rows of each class. Classes with too few members are: {few}, as numbers in "
            "classes_. Add rows of these classes, or turn early stopping off."
        )
    if min(held, n - held) < len(sizes):
        raise DataError(
            f"{who}: early stopping with validation_fraction={fraction:g} would hold out {held} of "
            f"{n} rows, and both parts need at least one row{' of each class' * by_class}. "
            "Change validation_fraction, add rows, or turn early stopping off."
        )
    fitted, validation = train_test_split(
        np.arange(n),
        test_size=fraction,
        random_state=np.random.RandomState(seed % (1 << 32)),
        stratify=rows.y if by_class else None,
    )
    return rows.take(np.sort(fitted)), rows.take(np.sort(validation))


@dataclass(frozen=True)
class Plan:
    """Settings that are the same in every iteration."""

    loss: Subdifferentiable
    learning_rate: float
    n_columns: int = 1
    """Raw predictions per row."""
    subsample: float = 1.0
    """Fraction of the rows on which each iteration fits its learners."""
    leaf_update: str = "auto"
    huber_level: float | None = None
    """Quantile of |residual| above which the Huber loss is linear, found in every iteration."""
    seed: int = 0

    def in_round(self, number: int) -> np.random.Generator:
        """Random generator of one iteration, independent of the iterations before it."""
        return np.random.default_rng([self.seed, number])


@dataclass(frozen=True)
class Round:
    """Inputs of one iteration, and the raw predictions that it updates."""

    loss: Subdifferentiable
    slope: Array
    """ℓ′ at the raw predictions before the iteration, (n, n_columns)."""
    curvature: Array | None
    """ℓ″ at the same point, for Newton steps; None means 1 everywhere."""
    drawn: Array
    """Numbers of the rows to fit (uint32, ascending); empty means all rows."""
    before: Array
    """Raw predictions before the iteration."""
    raw: Array
    """Raw predictions, updated in place."""
    random: np.random.Generator

    @property
    def out_of_bag(self) -> Array:
        """Boolean mask of the out-of-bag rows."""
        others = np.ones(len(self.raw), dtype=bool)
        others[self.drawn] = False
        return others


Learn = Callable[[Round], Sequence[Member]]
"""Fits the members of an iteration, one per column, and adds them to the raw predictions."""

Scorer = Callable[[Array], float]
"""Score of raw predictions (n, n_columns) for fixed rows; larger is better."""


@dataclass(frozen=True)
class Stopping:
    """Rule of early stopping: the score on the held-out (or on all) rows no longer improves."""

    patience: int
    tolerance: float
    scorer: Scorer
    train_scorer: Scorer | None = None


@dataclass
class Boosting:
    """State of a fit: the members so far, and their raw predictions."""

    plan: Plan
    rows: Rows
    learn: Learn
    start: Array
    """f₀ of every row, (n, n_columns)."""
    members: list[Member] = field(default_factory=list)
    raw: Array = field(init=False)
    loss: Subdifferentiable = field(init=False)
    """The loss of the current iteration; the Huber loss is adapted to the residuals."""
    out_of_bag_losses: tuple[float, float] | None = None
    """Mean loss on the out-of-bag rows, before and after the last iteration."""

    def __post_init__(self) -> None:
        self.raw = np.array(self.start, dtype=np.float64, order="C")
        self.loss = self.plan.loss
        if self.members:
            together(self.members).sum(self.rows.X, self.raw, self.plan.n_columns)

    @property
    def n_rounds(self) -> int:
        return len(self.members) // self.plan.n_columns

    def step(self) -> Sequence[Member]:
        """Make one iteration; return the new members, which are also kept."""
        random = self.plan.in_round(self.n_rounds)
        self.loss = self._loss_of_round()
        slope, curvature = derivatives(self.loss, self.plan.leaf_update, self.rows.y, self.raw)
        drawn = self._draw(random)
        before = self.raw.copy() if self.plan.n_columns > 1 or drawn.size else self.raw
        now = Round(self.loss, slope, curvature, drawn, before, self.raw, random)
        try:
            with np.errstate(over="ignore"):  # found by its result
                made = self.learn(now)
        except ValueError as failure:
            if np.isfinite(slope).all():
                raise
            raise diverged(self.loss, self.n_rounds) from failure
        if drawn.size:
            self.out_of_bag_losses = self._losses_of_others(now)
        self.members.extend(made)
        return made

    def mean_loss(self) -> float:
        """Mean loss on the training rows; infinite if boosting diverges."""
        with np.errstate(over="ignore"):
            return self.rows.mean(self.loss.value(self.rows.y, scores_of(self.loss, self.raw)))

    def scores(self, train: Scorer | None, held: Scorer, raw: Array | None) -> dict[str, float]:
        """Scores of the training rows, and of held-out rows with raw predictions `raw`."""
        found = {} if train is None else {"train": train(self.raw)}
        return found if raw is None else {**found, "validation": held(raw)}

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
        """Rows drawn for this iteration; an empty array stands for all rows."""
        if self.plan.subsample >= 1.0:
            return NO_ROWS
        n = len(self.rows.y)
        size = max(1, int(self.plan.subsample * n))
        chosen = random.choice(n, size=size, replace=False, shuffle=False)
        return np.sort(chosen).astype(np.uint32)

    def _losses_of_others(self, now: Round) -> tuple[float, float]:
        others, rows = now.out_of_bag, self.rows
        part = Rows(None, rows.y[others], None if rows.weight is None else rows.weight[others])
        first, last = (
            part.mean(self.loss.value(part.y, scores_of(self.loss, raw[others])))
            for raw in (now.before, now.raw)
        )
        return first, last


def has_unit_curvature(loss: Subdifferentiable, leaf_update: str) -> bool:
    """Whether trees are fitted to the slopes by plain least squares."""
    return loss.quadratic or not takes_newton_steps(loss, leaf_update)


def derivatives(
    loss: Subdifferentiable, leaf_update: str, y: Array, raw: Array
) -> tuple[Array, Array | None]:
    """Slope and (for Newton steps) curvature, (n, n_columns)."""
    z, shape = scores_of(loss, raw), raw.shape
    if has_unit_curvature(loss, leaf_update):
        return loss.gradient(y, z).reshape(shape), None
    assert isinstance(loss, Curved)
    slope, curvature = loss.gradient_and_curvature(y, z)
    return slope.reshape(shape), curvature.reshape(shape)


def diverged(loss: Subdifferentiable, n_rounds: int) -> ParameterError:
    """The error for gradients that are not finite."""
    return ParameterError(
        f"Boosting diverged: the gradients of the {loss.name} loss are no longer finite after "
        f"{n_rounds} iterations. Lower learning_rate."
    )


def scores_of(loss: Subdifferentiable, raw: Array) -> Array:
    """Raw predictions in the shape that the loss expects: one column per class, or one number."""
    return raw if loss.columns == "per class" else raw[:, 0]


def no_better(scores: Sequence[float], patience: int, tolerance: float) -> bool:
    """Whether none of the last `patience` scores exceeds the one before them by `tolerance`."""
    if len(scores) <= patience:
        return False
    reference = scores[-patience - 1] + tolerance
    return not any(score > reference for score in scores[-patience:])
