"""Huber's loss with unknown noise scale: coefficients and scale as one convex problem.

    F(β, b, σ) = (Σ wᵢ (σ + H(rᵢ/σ)·σ) + α‖β‖²)/(Σ wᵢ),   r = y − xᵀβ − b,
    H(u) = u² while |u| ≤ ε, then 2ε|u| − ε²

Rows with |u| ≤ ε (inner rows) have a quadratic loss, all others a linear one, so the Hessian is the
Gram matrix of the inner rows. It is formed once; afterwards only rows that become or cease to be
inner rows are added or subtracted, and a pass over the rows costs O(n d).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.row_state import Rows
from thetahat.data.source import Block, Source
from thetahat.foundation.cached import cached_property
from thetahat.foundation.precision import SUM_ROUNDING
from thetahat.foundation.products import product
from thetahat.foundation.types import Array, SparseMatrix
from thetahat.mathematics.losses.constants import weighted_quantile
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.newton import Newton, newton_direction
from thetahat.objective.least_squares.by_products import least_squares_by_products
from thetahat.objective.predictor import LinearPredictor, in_double
from thetahat.objective.row_losses import FEW, in_rows, rows_of
from thetahat.objective.sums import Sums

MOST_CHANGES = 0.25
"""Share of rows that may become or cease to be inner before the Gram matrix is formed again."""
SAMPLED = 10
"""The start is the optimum over every tenth row, if there are enough rows."""
ROWS_PER_PARAMETER = 20
REWEIGHTED, FALLS = 4, 0.7
"""The most reweighted fits at the start, which go on while the scale falls to this share."""
SMALLEST_SCALE = 1e-10
"""Scales below this share of the scale of y count as 0."""
BALANCED = 1e-4
"""Allowed error of the slopes relative to their bounds; the bound on F has its square."""
NONE = np.empty(0, dtype=bool)
TO_NORMAL = 1.482602218505602
"""The median of |r| times this is the standard deviation of normal noise."""


@dataclass(frozen=True)
class HuberWithScale:
    """F(β, b, σ) with value, gradient and Hessian, θ = (β, b, σ).

    Cost: O(n d²) for the first point, then O(n d), and O(d²) for each row that becomes or ceases to
    be inner; O(n) bytes and O(d²) memory.
    """

    predictor: LinearPredictor
    epsilon: float
    alpha: float
    source: Source
    has_hessian: bool = True
    """Whether the Gram matrix of the inner rows is formed; without it there are only gradients."""
    _seen: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def description(self) -> str:
        """The problem as text for messages."""
        return "Huber's loss with its scale"

    @cached_property
    def total(self) -> Sums:
        """Σw, and Σ w·(y, y²)."""
        return self.source.reduce(_target_sums)

    @property
    def penalty(self) -> float:
        """The factor of ‖β‖² relative to the mean loss."""
        return self.alpha / self.total.weight

    @property
    def floor(self) -> float:
        """The smallest σ that counts as positive."""
        first, second = self.total.means()
        spread = math.sqrt(max(second - first * first, 0.0))
        return max(SMALLEST_SCALE * spread, SUM_ROUNDING * math.sqrt(second), 1e-90)

    def start(self) -> Array:
        """The optimum over a tenth of the rows; a reweighted least-squares fit if there are few."""
        source = self.source
        if not self.has_hessian:
            return self._start_by_products()
        fewest = ROWS_PER_PARAMETER * SAMPLED * self.predictor.n_parameters
        if isinstance(source, InMemory) and source.n_rows >= fewest and source.y is not None:
            rows = slice(None, None, SAMPLED)
            weight = None if source.weight is None else source.weight[rows]
            if weight is None or weight.sum() > 0:
                X = source.X[rows] if source.is_sparse else np.asarray(source.X[rows])
                fewer = replace(source, X=X, y=source.y[rows], weight=weight)
                sample = replace(self, source=fewer, alpha=self.alpha / SAMPLED, _seen={})
                found = minimise(sample, Newton(), tolerance=1e-6).theta
                found[-1] = max(found[-1], 2 * self.floor)
                return found
        fit = source.reduce(_least_squares_sums, self.predictor)
        found = self._with_median_scale(newton_direction(fit.parts[0], -fit.parts[1]))
        for _ in range(REWEIGHTED):
            last, reach = float(found[-1]), self.epsilon * float(found[-1])
            sums = source.reduce(_reweighted_sums, self.predictor, found[:-1], reach)
            _, pull, gram = sums.parts
            found = self._with_median_scale(found[:-1] + newton_direction(gram, -pull))
            if found[-1] > FALLS * last:
                break
        return found

    def _start_by_products(self) -> Array:
        """The least-squares fit with the same penalty, to a few digits."""
        fit, _ = least_squares_by_products(
            self.source,
            "lsqr",
            ridge=max(self.alpha, self.floor),
            intercept=self.predictor.fit_intercept,
            tolerance=1e-4,
            max_steps=None,
            watch=None,
        )
        return self._with_median_scale(self.predictor.pack(fit.coef[:, 0], float(fit.intercept[0])))

    def _with_median_scale(self, linear: Array) -> Array:
        size = self.source.map_rows(
            lambda block: abs(block.y - self.predictor.raw(block.X, linear))
        )
        weight = None
        if self.source.has_weight:
            weight = self.source.map_rows(lambda block: block.row_weights)
        scale = TO_NORMAL * float(weighted_quantile(size, weight))
        return np.append(linear, max(scale, 2 * self.floor))

    def start_at(self, linear: Array) -> Array:
        """These coefficients, with the mean of |r| as the scale."""
        found = self.source.reduce(_size_sums, self.predictor, linear)
        return np.append(linear, max(float(found.means()[0]), 2 * self.floor))

    def value(self, theta: Array) -> float:
        """F."""
        return self.value_and_gradient(theta)[0]

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """F and ∇F; infinite if σ is not above the smallest scale."""
        linear, sigma, epsilon = theta[:-1], float(theta[-1]), self.epsilon
        if not sigma > self.floor:
            return math.inf, np.full_like(theta, np.nan)
        if np.array_equal(self._seen.get("theta", ()), theta):
            return self._seen["value"], self._seen["gradient"].copy()
        params = self.predictor, linear, epsilon * sigma
        if not self.has_hessian:
            found = self.source.reduce(_gradient_sums, *params)
        elif self._seen.get("is_near"):
            found = self._seen["rows"].look(_row_sums, *params, True)
        else:  # the state of the rows is where the rows are, which may be other processes
            if "rows" not in self._seen:
                self._seen["rows"] = self.source.row_state(inside=False)
            found = self._seen["rows"].reduce(_row_sums, *params, False)
        squares, beyond, sizes, near, far, gram, changes = found.parts
        if not self.has_hessian:
            gram = np.zeros((1, 1))
        elif self._seen.get("is_near"):
            gram = self._seen["gram"] + gram
            self._seen["is_near"] = changes <= MOST_CHANGES * self.source.n_rows
        else:  # later points compare their inner rows with this one
            self._seen.update(gram=gram, is_near=True)
        self._seen.update(theta=theta.copy(), squares=squares, pull=near, inner=gram)
        total = self.total.weight
        coef = self.predictor.split(linear)[0]
        kept = 1.0 - epsilon**2 * beyond / total
        value = sigma * kept + (squares / sigma + 2 * epsilon * sizes) / total
        slope = -2 / total * (near / sigma + epsilon * far)
        slope += self.predictor.pack(2 * self.penalty * coef, 0.0)
        value = float(value + self.penalty * float(np.sum(coef * coef)))
        gradient = np.append(slope, kept - squares / total / sigma**2)
        self._seen.update(value=value, gradient=gradient.copy())
        return value, gradient

    def hessian(self, theta: Array) -> Array:
        """∇²F, from the sums that the gradient stored."""
        if not np.array_equal(self._seen.get("theta", ()), theta):
            self.value_and_gradient(theta)
        return self._bend(theta, self._seen["squares"], self._seen["pull"], self._seen["inner"])

    def _bend(self, theta: Array, squares: float, pull: Array, gram: Array) -> Array:
        """The Hessian of Σ w r²/σ, given the sums over its rows, plus that of the penalty."""
        sigma, total, p = float(theta[-1]), self.total.weight, len(theta)
        hessian = np.empty((p, p))
        hessian[:-1, :-1] = 2 / total / sigma * gram
        ridge = np.full(self.predictor.n_features, 2 * self.penalty)
        hessian[np.arange(p - 1), np.arange(p - 1)] += self.predictor.pack(ridge, 0.0)
        hessian[:-1, -1] = hessian[-1, :-1] = 2 / total / sigma**2 * pull
        hessian[-1, -1] = 2 / total * squares / sigma**3
        return hessian

    def majoriser(self, theta: Array) -> tuple[Array, Array]:
        """∇F, and the Hessian of a function that equals F at θ and is nowhere below it.

        H(u) ≤ ω u² + const with ω = min(1, ε/|u|) at the current u, so outer rows have curvature as
        well. Cost: O(n d²).
        """
        gradient = self.value_and_gradient(theta)[1]
        found = self.source.reduce(
            _reweighted_sums, self.predictor, theta[:-1], self.epsilon * float(theta[-1])
        )
        return gradient, self._bend(theta, *found.parts)

    def curvature_products(
        self, theta: Array, *, above: bool
    ) -> tuple[Callable[[Array], Array], Array]:
        """v ↦ Hv and the diagonal of H, for sparse rows in memory.

        H is the Hessian of F, or with `above` that of the function of `majoriser`. Cost: O(nnz).
        """
        assert isinstance(self.source, InMemory)
        block, predictor = self.source.whole, self.predictor
        X, sigma, total = in_double(block.X), float(theta[-1]), self.total.weight
        residual = block.y - predictor.raw(X, theta[:-1])
        reach = self.epsilon * sigma
        share = reach / np.maximum(abs(residual), reach)
        pull = block.row_weights * (share if above else share >= 1)
        across = 2 / total / sigma**2 * predictor.pullback(X, pull * residual)
        corner = 2 / total / sigma**3 * float(np.sum(pull * residual * residual))
        ridge = predictor.pack(np.full(predictor.n_features, 2 * self.penalty), 0.0)
        factor = 2 / total / sigma

        def product(v: Array) -> Array:
            image = factor * predictor.pullback(X, pull * predictor.raw(X, v[:-1]))
            image += ridge * v[:-1] + across * v[-1]
            return np.append(image, float(across @ v[:-1]) + corner * v[-1])

        squares: SparseMatrix = X.copy()
        squares.data = squares.data * squares.data
        diagonal = factor * predictor.pullback(squares, pull) + ridge
        return product, np.append(diagonal, corner)

    def is_least_without_scale(self, linear: Array) -> bool:
        """Whether F is smallest for σ → 0, at the fit β of the absolute loss.

        F(β, σ) ≥ mean(2u·r + σ(1 − u²)) + λ‖β‖² for all |u| ≤ ε. With u = ε·sign r, and with u on
        rows of r = 0 such that the gradient in β vanishes, this bound equals F at (β, 0). It
        increases with σ if the mean of u² is at most 1. Cost: two passes, O(n d²).
        """
        total, coef = self.total.weight, self.predictor.split(linear)[0]
        found = self.source.reduce(_balance_sums, self.predictor, linear, 100 * self.floor)
        outside, pull, gram = found.parts
        pull = self.predictor.pack(total * self.penalty / self.epsilon * coef, 0.0) - pull
        balance = newton_direction(gram, -pull)
        rest = np.max(abs(gram @ balance - pull), initial=0.0)
        if not rest <= BALANCED * np.max(np.sqrt(np.diagonal(gram) * total), initial=0.0):
            return False
        found = self.source.reduce(
            _balanced_sums, self.predictor, linear, balance, 100 * self.floor
        )
        squares, beyond = found.parts
        return bool(beyond <= BALANCED and self.epsilon**2 * (outside + squares) <= total)

    def rounding(self) -> float:
        """The rounding error of gradient entries, which are sums over the rows."""
        inner = self._seen.get("inner", np.zeros((1, 1)))
        longest = math.sqrt(float(np.max(np.diagonal(inner), initial=0.0)) / self.total.weight)
        return 1e-13 * self.epsilon * max(longest, 1.0)


def _target_sums(block: Block) -> Sums:
    assert block.y is not None
    y = np.asarray(block.y, dtype=np.float64)
    weight = block.row_weights
    return Sums(float(np.sum(weight)), (float(np.sum(weight * y)), float(np.sum(weight * y * y))))


def _size_sums(block: Block, predictor: LinearPredictor, linear: Array) -> Sums:
    size = abs(block.y - predictor.raw(block.X, linear))
    return Sums(float(np.sum(block.row_weights)), (float(np.sum(block.row_weights * size)),))


def _least_squares_sums(block: Block, predictor: LinearPredictor) -> Sums:
    weight = block.row_weights
    return Sums(
        0.0, (predictor.gram(block.X, weight), predictor.pullback(block.X, weight * block.y))
    )


def _gradient_sums(block: Block, predictor: LinearPredictor, linear: Array, reach: float) -> Sums:
    """Sums for the value and the gradient."""
    return _row_sums(block, None, predictor, linear, reach, False)


def _row_sums(
    block: Block,
    rows: Rows | None,
    predictor: LinearPredictor,
    linear: Array,
    reach: float,
    compare: bool,
) -> Sums:
    """Sums for the value and the gradient, and the Gram matrix if there is a state of the rows.

    ``rows["inside"]`` marks the inner rows. It is filled, or with `compare` only read: the matrix
    is then the difference from that of the marked rows.
    """
    if rows is not None and in_rows(block.X) and predictor.n_parameters <= FEW:
        return _compiled_sums(block, predictor, linear, reach, rows["inside"], compare)
    residual, weight = block.y - predictor.raw(block.X, linear), block.row_weights
    size = abs(residual)
    inner = size <= reach
    sides = np.empty((block.n_rows, 2))
    sides[:, 0] = np.where(inner, weight * residual, 0.0)
    sides[:, 1] = np.where(inner, 0.0, weight * np.sign(residual))
    if type(block.X) is np.ndarray:
        pulls = product(in_double(block.X).T, sides)
        if predictor.fit_intercept:
            pulls = np.vstack([pulls, sides.sum(axis=0)])
    else:
        pulls = np.column_stack([predictor.pullback(block.X, side) for side in sides.T])
    outer_weight = np.where(inner, 0.0, weight)
    gram: Array | float
    if rows is None:
        gram, changes = 0.0, 0
    elif not compare:
        gram, changes = _gram_of(block, predictor, weight, inner), 0
        rows["inside"][:] = inner
    else:
        changed = np.flatnonzero(inner != rows["inside"])
        signed = np.where(inner, weight, -weight)  # rows that entered, and rows that left
        gram, changes = _gram_of(block, predictor, signed, changed), len(changed)
    return Sums(
        0.0,
        (
            float(np.sum(sides[:, 0] * residual)),
            float(np.sum(outer_weight)),
            float(np.sum(outer_weight * size)),
            pulls[:, 0],
            pulls[:, 1],
            gram,
            changes,
        ),
    )


def _reweighted_sums(block: Block, predictor: LinearPredictor, linear: Array, reach: float) -> Sums:
    """Σ wω r², Σ wω r x and Σ wω xxᵀ with ω = min(1, reach/|r|)."""
    residual = block.y - predictor.raw(block.X, linear)
    weight = block.row_weights * (reach / np.maximum(abs(residual), reach))
    pull = predictor.pullback(block.X, weight * residual)
    squares = float(np.sum(weight * residual * residual))
    return Sums(0.0, (squares, pull, predictor.gram(block.X, weight)))


def _balance_sums(block: Block, predictor: LinearPredictor, linear: Array, tiny: float) -> Sums:
    """Σ w and Σ w·sign(r)·x over rows with r ≠ 0, and Σ w xxᵀ over rows with r = 0."""
    residual = block.y - predictor.raw(block.X, linear)
    off, weight = abs(residual) > tiny, block.row_weights
    side = np.where(off, weight * np.sign(residual), 0.0)
    gram = predictor.gram(block.X, np.where(off, 0.0, weight))
    outside = float(np.sum(weight[off]))
    return Sums(0.0, (outside, predictor.pullback(block.X, side), gram))


def _balanced_sums(
    block: Block, predictor: LinearPredictor, linear: Array, balance: Array, tiny: float
) -> Sums:
    """Σ w a² and the largest excess of |a| over 1, for rows with r = 0 and a = xᵀbalance."""
    on = abs(block.y - predictor.raw(block.X, linear)) <= tiny
    slopes = predictor.raw(block.X, balance)[on]
    beyond = np.sum(np.maximum(abs(slopes[block.row_weights[on] > 0]) - 1, 0.0))
    return Sums(0.0, (float(np.sum(block.row_weights[on] * slopes**2)), float(beyond)))


def _compiled_sums(
    block: Block,
    predictor: LinearPredictor,
    linear: Array,
    reach: float,
    marks: Array,
    compare: bool,
) -> Sums:
    """The same in one compiled pass, for few columns."""
    size = predictor.n_parameters
    known, inside = (marks, np.empty_like(marks)) if compare else (NONE, marks)
    sums, pulls, gram = np.empty(3), np.empty((2, size)), np.empty((size, size))
    X, y, weight = rows_of(block)
    changes = _native.huber_sums(
        X, np.ascontiguousarray(linear), predictor.constant, y, weight, reach,
        known, inside, sums, pulls, gram,
    )  # fmt: skip
    return Sums(0.0, (*sums.tolist(), *pulls, gram, changes if compare else 0))


def _gram_of(block: Block, predictor: LinearPredictor, weight: Array, chosen: Array) -> Array:
    return predictor.gram(block.X[chosen], weight[chosen])
