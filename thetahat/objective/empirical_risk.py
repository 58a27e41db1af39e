"""The empirical risk: F(θ) = (Σ wᵢ ℓ(yᵢ, f_θ(xᵢ)))/(Σ wᵢ) + R(β), the one normalization.

F contains the mean of the losses, not their sum, so it does not grow with the data. The penalty is
a function of the parameters β that ``predictor.split`` returns, without the intercept. Sums over
rows are reductions over the source, so F does not depend on storage or the number of threads.

F = S + R: a smooth penalty is part of S; any other penalty is R and has a proximal step. A method
that needs more than the parts provide does not exist (see `requires`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.base import Curved, Loss, PiecewiseLinear, Reweightable, Targets
from thetahat.mathematics.losses.box_dual import BoxDual
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import SeparableQuadratic
from thetahat.mathematics.optimizers.coordinate.working_sets import L1LeastSquares
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum
from thetahat.mathematics.optimizers.smooth.newton import NewtonRun
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.mathematics.penalties.base import Penalty, Proximable, SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective import requirements as need
from thetahat.objective.capabilities import requires
from thetahat.objective.choose import method_for
from thetahat.objective.forms.class_dual_form import ClassDualRows
from thetahat.objective.forms.column_metric import has_metric, metric_of
from thetahat.objective.forms.compiled_cg import cg_is_compiled, compiled_newton_cg
from thetahat.objective.forms.compiled_epoch import compiled_epoch, epoch_is_compiled
from thetahat.objective.forms.compiled_l1 import compiled_l1_newton, l1_newton_is_compiled
from thetahat.objective.forms.compiled_newton import compiled_newton, newton_is_compiled
from thetahat.objective.forms.curvature_sketch import sketch_of
from thetahat.objective.forms.direct_form import direct_solution, is_direct
from thetahat.objective.forms.dual_form import DualForm, DualRows
from thetahat.objective.forms.flat_direction import flat_direction
from thetahat.objective.forms.piecewise_linear_form import best_level, piecewise_linear_form
from thetahat.objective.forms.separable_quadratic_form import separable_quadratic_form
from thetahat.objective.forms.term_block import TermBlock
from thetahat.objective.lasso.l1_least_squares import l1_problem
from thetahat.objective.predictor import LinearInParameters, LinearPredictor, Predictor
from thetahat.objective.sums import (
    gradient_sum,
    gradient_sums,
    hessian_block_sums,
    hessian_product_sums,
    hessian_sums,
    majoriser_block_sums,
    majoriser_sums,
    value_sums,
    weight_sums,
)


@dataclass(frozen=True)
class EmpiricalRisk:
    """F(θ) = (Σ wᵢ ℓ(yᵢ, f_θ(xᵢ)))/(Σ wᵢ) + R(β) over the rows of a source.

    Cost: one pass over the rows per call: O(n d) for values and gradients, O(n d²) for a Hessian.

    The predictor is f, the loss ℓ, the penalty R, a function of the parameters β without the
    intercept. The source holds the rows (x, y, w).
    """

    predictor: Predictor
    loss: Loss
    penalty: Penalty
    source: Source

    @property
    def description(self) -> str:
        """The parts as text for messages."""
        return f"the mean {need.name(self.loss)} loss with {need.name(self.penalty)}"

    @property
    def convex(self) -> bool:
        """Whether every local minimum of F is its minimum; a network has others."""
        linear = isinstance(self.predictor, LinearInParameters)
        return linear and self.loss.convex and self.penalty.convex

    def start(self) -> Array:
        """The predictor's start; the best constant if ℓ is piecewise linear in numbers; the
        least-squares fit if ℓ is not convex, which avoids far local minima."""
        predictor, loss = self.predictor, self.loss
        if isinstance(loss, PiecewiseLinear) and loss.targets is Targets.REAL:
            if isinstance(predictor, LinearPredictor) and not predictor.n_outputs:
                return best_level(predictor, loss, self.source)
        start = predictor.start()
        if loss.convex or not isinstance(loss, Reweightable):
            return start
        nearest = replace(self, loss=Squared())
        return minimise(nearest, method_for(nearest)[0], start).theta

    # All of F.

    def value(self, theta: Array) -> float:
        """F(θ)."""
        (risk,) = self._means(value_sums, theta)
        return float(risk) + float(self.penalty.value(self._coef(theta)))

    @requires(need.smooth_loss, need.smooth_penalty)
    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """F(θ) and ∇F(θ)."""
        return self._value_and_slope(theta)

    @requires(need.curved_risk, need.smooth_penalty)
    def hessian(self, theta: Array) -> Array:
        """∇²F(θ), of the size of θ squared."""
        (hessian,) = self._means(hessian_sums, theta)
        return self._with_penalty_curvature(hessian, theta)

    @property
    def flat_direction(self) -> Array | None:
        """A direction of θ in which F is constant and ∇²F singular, if there is one by design."""
        return flat_direction(self)

    @requires(need.ridge_or_no_penalty, newton_is_compiled)
    def compiled_newton(self, theta: Array, tolerance: float, max_steps: int) -> NewtonRun:
        """All steps of Newton's method from θ, compiled."""
        return compiled_newton(self, theta, tolerance, max_steps)

    @requires(has_metric)
    def metric(self) -> Array | None:
        """M with M·Mᵀ about the inverse of ∇²F, or its diagonal; None if it is about I."""
        return metric_of(self)

    @requires(need.curved_risk, need.smooth_penalty)
    def hessian_product(self, theta: Array, direction: Array) -> Array:
        """∇²F(θ)·direction, in O(n d) and without the matrix."""
        (product,) = self._means(hessian_product_sums, theta, direction)
        return product + self.penalty_curvature(theta) * direction

    @requires(cg_is_compiled)
    def compiled_newton_cg(self, theta: Array, tolerance: float, max_steps: int) -> NewtonRun:
        """All steps of Newton's method with conjugate gradients from θ, compiled."""
        return compiled_newton_cg(self, theta, tolerance, max_steps)

    @requires(need.convex_loss, need.curved_risk, need.smooth_penalty, need.rows_in_any_order)
    def curvature_sketch(self, theta: Array, n_rows: int) -> Callable[[Array], Array]:
        """slope ↦ H⁻¹·slope, with H ≈ ∇²F(θ) from about `n_rows` rows."""
        assert isinstance(self.source, InMemory)
        assert isinstance(self.loss, Curved)
        assert isinstance(self.predictor, LinearInParameters)
        curvature = self.penalty_curvature(theta)
        return sketch_of(self.source, self.predictor, self.loss, curvature, theta, n_rows)

    # F = S + R.

    @requires(need.subdifferentiable_loss, need.proximable_penalty)
    def value_and_subgradient(self, theta: Array) -> tuple[float, Array]:
        """S(θ) and an element of ∂S(θ)."""
        return self._value_and_slope(theta)

    @requires(need.smooth_loss, need.proximable_penalty)
    def smooth_value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """S(θ) and ∇S(θ)."""
        return self._value_and_slope(theta)

    @requires(need.proximable_penalty)
    def nonsmooth_value(self, theta: Array) -> float:
        """R(θ)."""
        if isinstance(self.penalty, SmoothPenalty):
            return 0.0
        return float(self.penalty.value(self._coef(theta)))

    @requires(need.proximable_penalty)
    def prox(self, theta: Array, step: float) -> Array:
        """argmin_u ½‖u − θ‖² + step·R(u); free parameters stay."""
        if isinstance(self.penalty, SmoothPenalty):
            return theta
        assert isinstance(self.penalty, Proximable)
        coef, free = self.predictor.split(theta)
        return self.predictor.pack(self.penalty.prox(coef, step), free)

    @requires(need.smooth_loss, need.proximable_penalty)
    def optimality_gap(self, theta: Array, smooth_gradient: Array) -> float:
        """Distance from −∇S(θ) to ∂R(θ); ∂R is {0} for free parameters."""
        if isinstance(self.penalty, SmoothPenalty):
            return largest_entry(smooth_gradient)
        assert isinstance(self.penalty, Proximable)
        slope, free = self.predictor.split(smooth_gradient)
        gap = float(self.penalty.optimality_gap(self._coef(theta), slope))
        return max(gap, abs(free) if isinstance(free, float) else largest_entry(free))

    @requires(need.coordinatewise_penalty)
    def separable_terms(self) -> tuple[Array, Array, Array, Array]:
        """R as l1, l2, lower and upper of every entry of θ; zeros and no bounds if R is in S."""
        assert isinstance(self.penalty, Coordinatewise)
        size = self.predictor.n_parameters
        if isinstance(self.penalty, SmoothPenalty):
            return np.zeros(size), np.zeros(size), np.full(size, -np.inf), np.full(size, np.inf)
        shape = self._coef(self.predictor.zeros()).shape
        l1, l2, lower, upper = (
            self.predictor.pack(term, free)
            for term, free in zip(
                self.penalty.kernel_terms(shape), (0.0, 0.0, -np.inf, np.inf), strict=True
            )
        )
        return l1, l2, lower, upper

    @requires(need.curved_loss, need.coordinatewise_penalty, need.restrictable)
    def hessian_block(self, theta: Array, coordinates: Array) -> Array:
        """∇²S(θ) for these entries of θ alone, from the columns of X that they multiply."""
        return self._block_mean(hessian_block_sums, theta, coordinates)

    @requires(
        need.reweightable_loss, need.coordinatewise_penalty, need.restrictable, need.one_output
    )
    def majoriser_block(self, theta: Array, coordinates: Array) -> Array:
        """The Hessian, for these entries of θ, of a quadratic that touches S at θ from above."""
        return self._block_mean(majoriser_block_sums, theta, coordinates)

    @requires(l1_newton_is_compiled)
    def compiled_l1_newton(self, theta: Array, tolerance: float, max_steps: int) -> NewtonRun:
        """All steps of the proximal Newton method from θ, compiled."""
        return compiled_l1_newton(self, theta, tolerance, max_steps)

    # Other forms, for the methods that need them.

    @requires(
        need.reweightable_loss, need.smooth_penalty, need.linear_in_parameters, need.one_output
    )
    def majoriser(self, theta: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of the weighted least-squares problem that touches F at θ."""
        gradient, hessian = self._means(majoriser_sums, theta)
        return gradient + self.penalty_slope(theta), self._with_penalty_curvature(hessian, theta)

    @requires(need.squared_loss, need.coordinatewise_penalty, need.one_output_of_columns)
    def separable_quadratic(self) -> SeparableQuadratic:
        """F as a quadratic about the mean of the rows, from one pass over them."""
        assert isinstance(self.penalty, Coordinatewise)
        return separable_quadratic_form(self._linear, self.penalty, self.source)

    @requires(need.squared_loss, need.one_output_of_columns, is_direct)
    def direct_least_squares(self, watch: Watch | None = None) -> Solution:
        """θ̂ by a factorisation of the rows, or by a search of the subsets of the columns."""
        return direct_solution(self, watch)

    @requires(need.box_dual_loss, need.positive_l2_penalty, need.one_linear_output)
    def dual_form(self) -> DualForm:
        """F and its dual with one variable per row."""
        assert isinstance(self.loss, BoxDual)
        assert isinstance(self.penalty, L2)
        return DualForm(self._linear, self.loss, self.penalty.alpha, self.source)

    @requires(
        need.box_dual_loss, need.positive_l2_penalty, need.one_linear_output, need.rows_in_any_order
    )
    def dual_rows(self) -> DualRows:
        """The dual of F as arrays, one row each."""
        assert isinstance(self.loss, BoxDual)
        assert isinstance(self.penalty, L2)
        assert isinstance(self.source, InMemory)
        return DualRows.of(self._linear, self.loss, self.penalty.alpha, self.source)

    @requires(
        need.crammer_singer_loss,
        need.positive_l2_penalty,
        need.linear_predictor,
        need.rows_in_any_order,
    )
    def class_dual_rows(self) -> ClassDualRows:
        """The dual of F as arrays, one row each, with one variable per class."""
        assert isinstance(self.penalty, L2)
        assert isinstance(self.source, InMemory)
        return ClassDualRows.of(self._linear, self.penalty.alpha, self.source)

    @requires(need.piecewise_linear_loss, need.norm_penalty, need.one_linear_output)
    def piecewise_linear(self) -> PiecewiseLinearSum:
        """F as a piecewise linear sum, for linear programming."""
        assert isinstance(self.loss, PiecewiseLinear)
        assert isinstance(self.penalty, Coordinatewise)
        return piecewise_linear_form(self._linear, self.loss, self.penalty, self.source)

    @requires(need.squared_loss, need.one_output_of_columns, need.penalised_coordinates)
    def l1_least_squares(self) -> L1LeastSquares:
        """F in terms of the columns of X or their Gram matrix."""
        assert isinstance(self.penalty, Coordinatewise)
        return l1_problem(self._linear, self.penalty, self.source)

    @property
    def n_terms(self) -> int:
        """The number of rows."""
        return self.source.n_rows

    @requires(need.subdifferentiable_loss, need.smooth_penalty)
    def sample_gradient(self, theta: Array, rows: Array) -> Array:
        """∇F estimated from some rows; over uniformly drawn rows its mean is ∇F(θ)."""
        return self.block_gradient(chosen_rows(self.source, rows), theta)

    def block_gradient(self, block: Block, theta: Array) -> Array:
        """∇F estimated from the rows of one block."""
        slope = gradient_sum(block, self.predictor, self.loss, theta)
        share = self.n_terms / (self.total_weight * block.n_rows)
        return share * slope + self.penalty_slope(theta)

    @requires(need.rows_in_their_order)
    def term_blocks(self) -> Iterator[TermBlock]:
        """The rows block by block, so that an epoch of sampled gradients is one pass over them."""
        return (TermBlock(self, block) for block in self.source.blocks())

    @requires(
        epoch_is_compiled,
        need.ridge_or_no_penalty,
        need.one_output_of_columns,
        need.rows_in_any_order,
    )
    def compiled_epoch(self, theta: Array, rows: Array, rates: Array) -> tuple[Array, Array]:
        """θ after θ ← θ − η ∇F_i(θ) for each of the rows in turn, and the mean of the iterates."""
        return compiled_epoch(self, theta, rows, rates)

    @requires(need.squared_loss, need.no_penalty, need.one_output)
    def residuals(self, theta: Array) -> Array:
        """r with F(θ) = ½‖r‖²: rᵢ = √(wᵢ/Σw)·(f_θ(xᵢ) − yᵢ)."""
        return self.source.map_rows(
            lambda block: self._root_share(block) * (self.predictor.raw(block.X, theta) - block.y)
        )

    @requires(need.squared_loss, need.no_penalty, need.linear_in_parameters, need.one_output)
    def jacobian(self, theta: Array) -> Array:
        """∂r/∂θ: the rows of the design, weighted as the residuals are; O(n d) memory."""
        assert isinstance(self.predictor, LinearInParameters)
        to_design = self.predictor.design
        return self.source.map_rows(lambda b: self._root_share(b)[:, None] * to_design(b.X))

    # Pieces.

    @cached_property
    def total_weight(self) -> float:
        """Σ wᵢ."""
        return self.source.reduce(weight_sums).weight

    @cached_property
    def contiguous_rows(self) -> Array:
        """X in the layout that the compiled steps read: dense and C-ordered."""
        assert isinstance(self.source, InMemory)
        return self.source.X if self.source.is_sparse else np.ascontiguousarray(self.source.X)

    def penalty_slope(self, theta: Array) -> Array | float:
        """∇R(θ) of a smooth penalty; 0 for free parameters and for other penalties."""
        if not isinstance(self.penalty, SmoothPenalty):
            return 0.0
        return self.predictor.pack(self.penalty.gradient(self._coef(theta)), 0.0)

    def penalty_curvature(self, theta: Array) -> Array:
        """The diagonal of ∇²R(θ) of a smooth penalty; 0 for free parameters."""
        assert isinstance(self.penalty, SmoothPenalty)
        return self.predictor.pack(self.penalty.curvature(self._coef(theta)), 0.0)

    @property
    def _linear(self) -> LinearPredictor:
        assert isinstance(self.predictor, LinearPredictor)
        return self.predictor

    def _means(self, summarise: Any, *params: Any) -> tuple[Array, ...]:
        means: tuple[Array, ...] = self.source.reduce(
            summarise, self.predictor, self.loss, *params
        ).means()
        return means

    def _block_mean(self, summarise: Any, theta: Array, coordinates: Array) -> Array:
        (hessian,) = self._means(summarise, theta, coordinates)
        if not isinstance(self.penalty, SmoothPenalty):
            return hessian
        return hessian + np.diag(self.penalty_curvature(theta)[coordinates])

    def _value_and_slope(self, theta: Array) -> tuple[float, Array]:
        risk, slope = self._means(gradient_sums, theta)
        value = float(risk)
        if isinstance(self.penalty, SmoothPenalty):
            value += float(self.penalty.value(self._coef(theta)))
        return value, slope + self.penalty_slope(theta)

    def _coef(self, theta: Array) -> Array:
        return self.predictor.split(theta)[0]

    def _with_penalty_curvature(self, hessian: Array, theta: Array) -> Array:
        bend = self.penalty_curvature(theta)
        if type(hessian) is not np.ndarray:
            return hessian + np.diag(bend)
        diagonal = np.einsum("ii->i", hessian)  # in place: a new matrix
        diagonal += bend
        return hessian

    def _root_share(self, block: Block) -> Array:
        return np.sqrt(block.row_weights / self.total_weight)
