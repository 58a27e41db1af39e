"""The dual form of a risk with an L2 penalty, with one variable per row.

For losses with a box dual (see `losses.box_dual`) and shares sᵢ = wᵢ/Σw,

    F(θ) = Σ sᵢ ℓ(yᵢ, zᵢ) + λ/2‖β‖²  ≥  D(m) = Σ sᵢ (mᵢyᵢ − kink|mᵢ| − curvature·mᵢ²/2) − λ/2‖β(m)‖²

with β(m) = Σ sᵢ mᵢ xᵢ/λ; at the optimum both are equal. An intercept without a penalty adds the
constraint Σ sᵢ mᵢ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source, kernel_weights
from thetahat.foundation.cached import cached_property
from thetahat.foundation.precision import SUM_ROUNDING
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.box_dual import BoxDual, DualBox
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import Touch
from thetahat.mathematics.optimizers.smooth.newton import SINGULAR, NewtonRun
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.predictor import LinearPredictor, in_double
from thetahat.objective.row_losses import FEW, compact_rows, in_rows
from thetahat.objective.sums import Sums


@dataclass(frozen=True)
class DualForm:
    """Passes over the rows, in memory or in files, with one dual variable per row."""

    predictor: LinearPredictor
    loss: BoxDual
    strength: float
    """λ."""
    source: Source

    def start(self) -> Array:
        """The dual variables at the start: all 0."""
        return np.zeros(len(self._targets))

    @cached_property
    def _targets(self) -> Array:
        if isinstance(self.source, InMemory):
            return np.ascontiguousarray(self.source.y, dtype=np.float64)
        return self.source.map_rows(lambda block: np.asarray(block.y, dtype=np.float64))

    @cached_property
    def _weights(self) -> Array:
        return weights_of_rows(self.source)

    @cached_property
    def _shares(self) -> Array:
        return self._weights / self._weights.sum()

    def at(self, theta: Array, anchor: Array, reach: float) -> Touch:
        """The smooth function that touches F, its derivatives and the dual variables at θ."""
        state = self.source.row_state(multipliers=0.0, raw=0.0)
        smooth, loss, dual, travel, pull, bend = state.reduce(
            _touch_sums, self.predictor, self._targets, self._box, theta, anchor, reach
        ).means()
        intercept = self.predictor.split(theta)[1]
        weights = self._strengths
        diagonal = np.einsum("ii->i", bend)
        diagonal += weights
        shrinkage = float(np.sum(weights * theta * theta)) / 2
        pulled, balance = self.predictor.split(pull)
        dual_value = float(dual) - float(np.sum(pulled * pulled)) / (2 * self.strength)
        # If Σ s·m is not exactly 0, D is a bound for this intercept only; add what that can cost.
        slope = abs(float(balance)) * (1.0 + abs(float(intercept)))
        primal = float(loss) + shrinkage
        return Touch(
            theta=theta,
            value=float(smooth) + shrinkage,
            gradient=weights * theta - pull,
            hessian=bend,
            primal=primal,
            gap=max(0.0, primal - dual_value - float(balance) * float(intercept)) + slope,
            travel=float(travel),
            multipliers=state.values("multipliers"),
            raw=state.values("raw"),
        )

    def flat_step(
        self, here: Touch, direction: Array, anchor: Array, reach: float, flat: float
    ) -> float:
        """t > 0 where the slope of the touching function is `flat` times that at t = 0.

        The full step is tried first, then doubled or bracketed, then false position; compiled, O(n)
        for each trial after one pass over the rows.
        """
        across = self.source.map_rows(lambda block: self.predictor.raw(block.X, direction))
        shrunk, box = self._strengths * direction, self._box
        level, rise = float(np.sum(shrunk * here.theta)), float(np.sum(shrunk * direction))
        return _native.flat_step(
            self._targets, here.raw, across, anchor, self._shares, box.lower, box.upper,
            box.kink, box.curvature, reach, level, rise, flat,
        )  # fmt: skip

    @property
    def is_compiled(self) -> bool:
        """Whether `compiled_run` supports the rows: one dense block and few parameters."""
        source = self.source
        if not isinstance(source, InMemory) or source.n_rows > source.block_rows:
            return False
        few = self.predictor.n_parameters <= FEW and float(self._weights.sum()) > 0
        return few and in_rows(source.X)

    def compiled_run(
        self, growth: float, theta: Array, tolerance: float, max_steps: int
    ) -> NewtonRun:
        """All rounds from θ until the duality gap is within the tolerance."""
        assert isinstance(self.source, InMemory)
        box, found, multipliers = self._box, np.array(theta, dtype=np.float64), self.start()
        weight = kernel_weights(self.source.weight)
        result = _native.kink_newton(
            self.source.X, found, self.predictor.constant, self._targets,
            weight, np.ascontiguousarray(box.lower), np.ascontiguousarray(box.upper), box.kink,
            box.curvature, self._strengths, self.strength, float(self._weights.sum()), growth,
            SUM_ROUNDING, SINGULAR, tolerance, max_steps, multipliers,
        )  # fmt: skip
        return NewtonRun(found, *result, multipliers)

    @cached_property
    def _box(self) -> DualBox:
        return self.loss.dual_box(self._targets)

    @cached_property
    def _strengths(self) -> Array:
        """λ for every coefficient, 0 for an intercept."""
        coef, _ = self.predictor.split(self.predictor.zeros())
        return self.predictor.pack(np.full_like(coef, self.strength), 0.0)


def weights_of_rows(source: Source) -> Array:
    """The weights of all rows; those in memory need no pass over blocks."""
    if isinstance(source, InMemory):
        return np.ascontiguousarray(source.row_weights, dtype=np.float64)
    weight = source.map_rows(lambda block: block.row_weights)
    return np.ascontiguousarray(weight, dtype=np.float64)


def _touch_sums(
    block: Block,
    state: dict[str, Array],
    predictor: LinearPredictor,
    y: Array,
    box: DualBox,
    theta: Array,
    anchor: Array,
    reach: float,
) -> Sums:
    """Sums of the touching function, of ℓ, of the dual's terms, of m·x and of its curvature.

    Writes the multipliers and the raw predictions of the rows.
    """
    rows = slice(block.start, block.start + block.n_rows)
    z, m, sums = state["raw"], state["multipliers"], np.empty(4)
    weight = kernel_weights(block.weight)
    given = y[rows], anchor[rows], weight, box.lower[rows], box.upper[rows]
    how = box.kink, box.curvature, reach
    if in_rows(block.X) and len(theta) <= FEW:
        pulled, gram = np.empty_like(theta), np.empty((len(theta), len(theta)))
        _native.rounded_sums(
            block.X, theta, predictor.constant, *given, *how, z, m, sums, pulled, gram
        )
    else:
        X = in_double(block.X)
        z[:] = predictor.raw(X, theta)
        pull, bend = np.empty_like(z), np.empty_like(z)
        _native.rounded_rows(z, *given, *how, m, pull, bend, sums)
        pulled, gram = predictor.pullback(X, pull), predictor.gram(X, bend)
    total = float(weight.sum()) if weight.size else float(block.n_rows)
    return Sums(total, (*sums.tolist(), pulled, gram))


@dataclass(frozen=True)
class DualRows:
    """The dual as arrays for the compiled ascent: rows, targets, shares and boxes."""

    rows: tuple[Array, ...]
    """X, or data, indices and indptr."""
    y: Array
    share: Array
    box: DualBox
    strength: float
    constant: float
    """The value of the constant column that represents the intercept; 0 for none."""
    free_intercept: bool
    n_features: int

    @classmethod
    def of(
        cls, predictor: LinearPredictor, loss: BoxDual, strength: float, source: InMemory
    ) -> DualRows:
        """The arrays of an in-memory source."""
        y = np.ascontiguousarray(source.y, dtype=np.float64)
        weight = np.asarray(source.row_weights, float)
        box, share = loss.dual_box(y), np.ascontiguousarray(weight / weight.sum())
        if isinstance(predictor, BiasColumn):
            constant = predictor.scaling
        elif predictor.fit_intercept:
            constant = typical_length(source.X)
        else:
            constant = 0.0
        return cls(
            rows=compact_rows(source.X),
            y=y,
            share=share,
            box=box._replace(
                lower=np.ascontiguousarray(box.lower), upper=np.ascontiguousarray(box.upper)
            ),
            strength=strength,
            constant=constant,
            free_intercept=predictor.fit_intercept,
            n_features=source.n_features,
        )

    def pack(self, theta: Array, intercept: float) -> Array:
        """The predictor's θ from the kernel's, whose last entry belongs to the constant column."""
        if self.free_intercept:
            return np.append(theta[:-1], intercept)
        return theta.copy() if self.constant else theta[:-1].copy()

    def terms(self, multipliers: Array, offset: float) -> float:
        """Σ sᵢ (mᵢ(yᵢ − offset) − kink|mᵢ| − curvature·mᵢ²/2)."""
        m, box = multipliers, self.box
        each = m * (self.y - offset) - box.kink * np.abs(m) - box.curvature / 2 * m * m
        return float(np.sum(self.share * each))


def typical_length(X: Matrix) -> float:
    """The root mean square length of a row, used as the value of the constant column."""
    entries = X.data if not isinstance(X, np.ndarray) else X
    total = float(np.sum(np.square(entries, dtype=np.float64)))
    return float(max((total / X.shape[0]) ** 0.5, 1e-150))
