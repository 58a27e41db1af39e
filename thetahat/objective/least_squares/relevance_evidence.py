"""The evidence of a linear model with one precision per coefficient, and its maximum.

With y ~ N(Xβ, 1/α), βⱼ ~ N(0, 1/λⱼ) and Gamma priors of α and all λⱼ, the posterior of β is
N(m, Σ) with Σ = (diag(λ) + αXᵀX)⁻¹ and m = αΣXᵀy. At the maximum of the evidence, with
γⱼ = 1 − λⱼΣⱼⱼ,

    λⱼ = (γⱼ + 2λ₁)/(mⱼ² + 2λ₂),    α = (n − Σγⱼ + 2α₁)/(‖y − Xm‖² + 2α₂).

MacKay's iteration uses these as assignments. Coefficients whose precision exceeds a threshold are 0
from then on, so that later steps are cheaper: O(k³) for k coefficients that are left. The rows are
read once, for their moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.objective.least_squares.residual_squares import FEW_DIGITS
from thetahat.objective.least_squares.ridge_evidence import SMALLEST_SQUARE, Hyperprior


@dataclass(frozen=True)
class Posterior:
    """The mean of all coefficients, and the covariance of those that are left."""

    mean: Array
    covariance: Array
    left: Array
    log_volume: float
    """log |Σ|."""


@dataclass(frozen=True)
class RelevanceEvidence:
    """−log p(y | α, λ) with its hyperprior; θ is (α, λ₁, …, λ_d)."""

    gram: Array
    """XᵀX."""
    cross: Array
    """Xᵀy."""
    square: float
    """Σ y²."""
    weight: float
    threshold: float
    hyperprior: Hyperprior
    residual: Callable[[Array], float]
    """‖y − Xβ‖² from the rows, where the moments have too few digits."""

    def posterior(self, theta: Array) -> Posterior:
        """The posterior for these precisions. Cost: O(k³)."""
        alpha, precision = float(theta[0]), theta[1:]
        left = np.flatnonzero(precision < self.threshold)
        mean = np.zeros(len(precision))
        if not left.size:
            return Posterior(mean, np.empty((0, 0)), left, 0.0)
        inverse = alpha * self._gram_of(left)
        inverse.flat[:: len(left) + 1] += precision[left]
        covariance, log_volume = _inverted(inverse, precision[left])
        mean[left] = alpha * (covariance @ self.cross[left])
        return Posterior(mean, covariance, left, log_volume)

    def _gram_of(self, left: Array) -> Array:
        return self.gram if len(left) == len(self.gram) else self.gram[left][:, left]

    def misfit(self, found: Posterior) -> float:
        """‖y − Xm‖². Cost: O(k²), and O(n d) if it is small beside ‖y‖²."""
        mean = found.mean[found.left]
        image = self._gram_of(found.left) @ mean
        sum_of_squares = self.square + float(mean @ (image - 2.0 * self.cross[found.left]))
        if sum_of_squares < FEW_DIGITS * self.square:
            sum_of_squares = self.residual(found.mean)
        return max(sum_of_squares, 0.0)

    def improved(self, theta: Array, found: Posterior, misfit: float) -> Array:
        """The next precisions, which are positive.

        Without rounding errors γⱼ is between 0 and 1 and Σγⱼ is below n; they are kept there.
        """
        prior, left = self.hyperprior, found.left
        after = theta.copy()
        determined = 1.0 - theta[1 + left] * np.diagonal(found.covariance)
        determined = np.clip(determined, 0.0, 1.0)
        after[1 + left] = np.maximum(determined + 2.0 * prior.weight_shape, EPSILON) / np.maximum(
            found.mean[left] ** 2 + 2.0 * prior.weight_rate, SMALLEST_SQUARE
        )
        undetermined = max(self.weight - float(determined.sum()), 0.0)
        after[0] = max(undetermined + 2.0 * prior.noise_shape, EPSILON * self.weight) / max(
            misfit + 2.0 * prior.noise_rate, SMALLEST_SQUARE
        )
        return after

    def objective(self, theta: Array, found: Posterior, misfit: float) -> float:
        """−log p(y | α, λ) up to a constant. Cost: O(k³)."""
        prior, alpha, precision = self.hyperprior, float(theta[0]), theta[1:]
        logs = float(np.log(precision).sum())
        value = prior.weight_shape * logs
        value -= prior.weight_rate * float(precision.sum())
        value += prior.noise_shape * math.log(alpha) - prior.noise_rate * alpha
        value += 0.5 * (found.log_volume + self.weight * math.log(alpha) + logs)
        value -= 0.5 * (alpha * misfit + float(precision @ found.mean**2))
        return -value


def _inverted(matrix: Array, precision: Array) -> tuple[Array, float]:
    """The inverse of diag(λ) + αXᵀX and the logarithm of its determinant.

    Where rounding errors make the matrix singular, from the eigenvalues of
    I + αΛ^(−½)XᵀXΛ^(−½), none of which is below 1.
    """
    lapack = scipy_linalg().lapack
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if not failed:
        size = -2.0 * float(np.log(factor.flat[:: len(matrix) + 1]).sum())
        half, failed = lapack.dpotri(factor, lower=1)
    if failed:
        deviation = 1.0 / np.sqrt(precision)
        values, vectors = np.linalg.eigh(deviation[:, None] * matrix * deviation)
        values = np.maximum(values, 1.0)
        root = deviation[:, None] * vectors / np.sqrt(values)
        return root @ root.T, -float(np.log(values).sum() + np.log(precision).sum())
    found = np.tril(half)
    found += np.tril(half, -1).T
    return found, size


@dataclass(frozen=True)
class RelevanceFixedPoint(Method):
    """MacKay's assignments, until the coefficients change by less than the tolerance."""

    name: ClassVar[str] = "evidence fixed point"
    needs: ClassVar[tuple[str, ...]] = ("posterior", "improved")
    gap_kind: ClassVar[str] = "sum of the changes of the coefficients"

    def start(self, problem: Any, theta: Array) -> State:
        return _state(problem, theta, None)

    def advance(self, problem: Any, state: State) -> State:
        found, misfit = state.memory["found"], state.memory["misfit"]
        return _state(problem, problem.improved(state.theta, found, misfit), found.mean)


def _state(problem: Any, theta: Array, before: Array | None) -> State:
    """The precisions with their posterior."""
    found = problem.posterior(theta)
    misfit = problem.misfit(found)
    gap = math.inf if before is None else float(np.abs(found.mean - before).sum())
    memory = {"found": found, "misfit": misfit}
    return State(theta, problem.objective(theta, found, misfit), gap, memory)
