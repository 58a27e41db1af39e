"""A risk with an L2 penalty through the multipliers of its rows: primal, dual, and between them.

For losses that are the best of many lines (see `losses.box_dual`), with shares sᵢ = wᵢ/Σw,

    F(θ) = Σ sᵢ ℓ(yᵢ, zᵢ) + λ/2‖β‖²  ≥  D(m) = Σ sᵢ (mᵢyᵢ − kink|mᵢ| − curvature·mᵢ²/2) − λ/2‖β(m)‖²

with β(m) = Σ sᵢ mᵢ xᵢ/λ; at the optimum both are equal. An intercept without a penalty asks for
Σ sᵢ mᵢ = 0 as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.mathematics.losses.box_dual import BoxDual, DualBox
from thetahat.mathematics.optimizers.augmented_lagrangian import Touch
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.predictor import LinearPredictor, in_double
from thetahat.objective.sums import Sums

Array = Any


@dataclass(frozen=True)
class MultiplierForm:
    """The risk as passes over its rows that carry one multiplier per row; they may be in files."""

    predictor: LinearPredictor
    loss: BoxDual
    strength: float
    """λ."""
    source: Source

    def start(self) -> Array:
        """No row has a pull."""
        return np.zeros(len(self._targets))

    @cached_property
    def _targets(self) -> Array:
        return self.source.map_rows(lambda block: np.asarray(block.y, dtype=np.float64))

    @cached_property
    def _shares(self) -> Array:
        weight = self.source.map_rows(
            lambda block: np.ones(block.n_rows) if block.weight is None else block.weight
        )
        return weight / weight.sum()

    def at(self, theta: Array, anchor: Array, reach: float) -> Touch:
        """The smooth function that touches F, its derivatives at θ, and the multipliers there."""
        multipliers, raw = np.empty_like(anchor), np.empty_like(anchor)
        smooth, loss, dual, travel, pull, bend = self.source.reduce(
            _touch_sums, self.predictor, self.loss, theta, anchor, reach, multipliers, raw
        ).means()
        intercept = self.predictor.split(theta)[1]
        weights = self._strengths
        shrinkage = float(np.sum(weights * theta * theta)) / 2
        pulled, balance = self.predictor.split(pull)
        dual_value = float(dual) - float(np.sum(pulled * pulled)) / (2 * self.strength)
        # Were Σ s·m not quite 0, D would hold for this intercept only: count what that may cost.
        slope = abs(float(balance)) * (1.0 + abs(float(intercept)))
        primal = float(loss) + shrinkage
        return Touch(
            theta=theta,
            value=float(smooth) + shrinkage,
            gradient=weights * theta - pull,
            hessian=bend + np.diag(weights),
            primal=primal,
            gap=max(0.0, primal - dual_value - float(balance) * float(intercept)) + slope,
            travel=float(travel),
            multipliers=multipliers,
            raw=raw,
        )

    def slope_along(
        self, here: Touch, direction: Array, anchor: Array, reach: float
    ) -> Callable[[float], float]:
        """t ↦ the slope at θ + t·direction of the touching function; O(n) after one pass."""
        across = self.source.map_rows(lambda block: self.predictor.raw(block.X, direction))
        y, box = self._targets, self.loss.dual_box(self._targets)
        gap, pull = y - here.raw + anchor / reach, self._shares * across
        shrunk = self._strengths * direction
        level, rise = float(np.sum(shrunk * here.theta)), float(np.sum(shrunk * direction))
        bent = box.curvature + 1 / reach

        def slope(t: float) -> float:
            shifted = gap - t * across
            if box.kink:
                shifted -= np.clip(shifted, -box.kink, box.kink)
            m = np.clip(shifted / bent, box.lower, box.upper)
            return level + t * rise - float(np.sum(m * pull))

        return slope

    @cached_property
    def _strengths(self) -> Array:
        """λ for every coefficient, 0 for an intercept."""
        coef, _ = self.predictor.split(self.predictor.zeros())
        return self.predictor.pack(np.full_like(coef, self.strength), 0.0)


def _touch_sums(
    block: Block,
    predictor: LinearPredictor,
    loss: BoxDual,
    theta: Array,
    anchor: Array,
    reach: float,
    multipliers: Array,
    raw: Array,
) -> Sums:
    """Sums of the touching function, of ℓ, of the dual's terms, of m·x and of its curvature.

    Blocks write disjoint pieces of `multipliers` and `raw`.
    """
    rows = slice(block.start, block.start + block.n_rows)
    X, before = in_double(block.X), anchor[rows]
    z = predictor.raw(X, theta)
    y = np.asarray(block.y, dtype=np.float64)
    box = loss.dual_box(y)
    shifted = y - z + before / reach
    bent = box.curvature + 1 / reach
    free = (shifted - np.clip(shifted, -box.kink, box.kink)) / bent
    m = np.clip(free, box.lower, box.upper)
    multipliers[rows], raw[rows] = m, z
    conjugate = box.kink * np.abs(m) + box.curvature / 2 * m * m
    travel = (m - before) ** 2 / (2 * reach)
    touching = m * (y - z) - conjugate - travel
    inside = (free > box.lower) & (free < box.upper) & (np.abs(shifted) >= box.kink)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return Sums(
        float(weight.sum()),
        (
            float(np.sum(weight * touching)),
            float(np.sum(weight * loss.value(y, z))),
            float(np.sum(weight * (m * y - conjugate))),
            float(np.sum(weight * travel)),
            predictor.pullback(X, weight * m),
            predictor.gram(X, weight * inside / bent),
        ),
    )


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
    """The entry of the constant column that carries the intercept; 0 for none."""
    free_intercept: bool
    n_features: int

    @classmethod
    def of(
        cls, predictor: LinearPredictor, loss: BoxDual, strength: float, source: InMemory
    ) -> DualRows:
        """The arrays of an in-memory source."""
        y = np.ascontiguousarray(source.y, dtype=np.float64)
        weight = np.ones(len(y)) if source.weight is None else np.asarray(source.weight, float)
        box, share = loss.dual_box(y), np.ascontiguousarray(weight / weight.sum())
        if isinstance(predictor, BiasColumn):
            constant = predictor.scaling
        elif predictor.fit_intercept:
            constant = _typical_length(source.X)
        else:
            constant = 0.0
        return cls(
            rows=kernel_rows(source),
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
        """The predictor's θ from the kernel's, whose last entry is the constant column's."""
        if self.free_intercept:
            return np.append(theta[:-1], intercept)
        return theta.copy() if self.constant else theta[:-1].copy()

    def terms(self, multipliers: Array, offset: float) -> float:
        """Σ sᵢ (mᵢ(yᵢ − offset) − kink|mᵢ| − curvature·mᵢ²/2)."""
        m, box = multipliers, self.box
        each = m * (self.y - offset) - box.kink * np.abs(m) - box.curvature / 2 * m * m
        return float(np.sum(self.share * each))


def _typical_length(X: Array) -> float:
    """√ of the mean squared length of a row, so that a constant column pulls as hard as they do."""
    entries = X.data if not isinstance(X, np.ndarray) else X
    total = float(np.sum(np.square(entries, dtype=np.float64)))
    return float(max((total / X.shape[0]) ** 0.5, 1e-150))


def kernel_rows(source: InMemory) -> tuple[Array, ...]:
    """The rows as the kernels that visit them in any order want them."""
    X = source.X
    if not source.is_sparse:
        return (np.ascontiguousarray(X),)
    return X.data, X.indices, X.indptr
