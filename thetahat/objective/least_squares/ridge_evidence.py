"""The evidence of ridge regression as a function of its two precisions, and its maximum.

With y ~ N(Xβ, 1/α), β ~ N(0, 1/λ) and Gamma priors of α and λ, the logarithm of p(y | α, λ) is

    ½ (d log λ + n log α − α‖y − Xm‖² − λ‖m‖² − log |λI + αXᵀX| − n log 2π)
      + λ₁ log λ − λ₂ λ + α₁ log α − α₂ α,          m = (XᵀX + (λ/α) I)⁻¹Xᵀy,

and at its maximum, with γ = Σⱼ αeⱼ/(λ + αeⱼ) the number of well-determined coefficients,

    λ = (γ + 2λ₁)/(‖m‖² + 2λ₂),    α = (n − γ + 2α₁)/(‖y − Xm‖² + 2α₂).

MacKay's iteration uses these as assignments. In the basis of the eigenvectors of XᵀX each step
costs O(d²) for any n; the rows are read once, for their moments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.source import Source
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.objective.least_squares.residual_squares import FEW_DIGITS, residual_squares
from thetahat.objective.least_squares.ridge_path import RidgePath

SMALLEST_SQUARE = 1e-60
"""Lower bound of sums of squares, so that an exact fit has a large precision, not ∞."""


@dataclass(frozen=True)
class Hyperprior:
    """Shapes and rates of the Gamma priors of the noise's and the weights' precision."""

    noise_shape: float = 0.0
    noise_rate: float = 0.0
    weight_shape: float = 0.0
    weight_rate: float = 0.0


@dataclass(frozen=True)
class RidgeEvidence:
    """−log p(y | α, λ) with its hyperprior; θ is the pair (α, λ)."""

    values: Array
    """Eigenvalues of XᵀX that may differ from zero."""
    vectors: Array
    projected: Array
    """The eigenvectors times Xᵀy."""
    residual: float
    """‖y − Xβ̂‖² of least squares."""
    weight: float
    n_features: int
    smallest: float
    """The smallest sum of squared residuals that counts as positive."""
    hyperprior: Hyperprior = Hyperprior()

    @classmethod
    def of(cls, path: RidgePath, source: Source, hyperprior: Hyperprior) -> RidgeEvidence:
        """From the spectrum of the normal equations of the first target of a source."""
        d = path.vectors.shape[0]
        total = float(path.total[0])
        values, vectors, projected = path.values, path.vectors, path.projected[:, 0]
        alive = values > 0
        ratio = np.divide(projected, values, out=np.zeros_like(values), where=alive)
        residual = max(0.0, total - float(projected @ ratio))
        if residual < FEW_DIGITS * total:
            with one_blas_thread():
                coef = vectors @ ratio / path.unit
            residual = float(residual_squares(source, coef[:, None], path.x_mean, path.y_mean)[0])
        scale = total + path.weight * float(path.y_mean[0]) ** 2
        return cls(
            values=values * path.unit**2,
            vectors=vectors,
            projected=projected * path.unit,
            residual=residual,
            weight=path.weight,
            n_features=d,
            smallest=max(EPSILON**2 * scale, SMALLEST_SQUARE),
            hyperprior=hyperprior,
        )

    def in_axes(self, theta: Array) -> Array:
        """m in the basis of the eigenvectors."""
        alpha, weight = theta
        return self.projected / (self.values + weight / alpha)

    def coefficients(self, theta: Array) -> Array:
        """The posterior mean m."""
        with one_blas_thread():
            return self.vectors @ self.in_axes(theta)

    def covariance(self, theta: Array) -> Array:
        """(λI + αXᵀX)⁻¹; 1/λ in the null space of X."""
        alpha, weight = theta
        with one_blas_thread():
            inverse = (self.vectors / (weight + alpha * self.values)) @ self.vectors.T
            if len(self.values) < self.n_features:
                unreached = np.eye(self.n_features) - self.vectors @ self.vectors.T
                inverse = inverse + unreached / weight
        return (inverse + inverse.T) / 2

    def value(self, theta: Array) -> float:
        """−log evidence."""
        alpha, weight = (float(number) for number in theta)
        in_axes, prior, n = self.in_axes(theta), self.hyperprior, self.weight
        log_determinant = float(np.log(weight + alpha * self.values).sum())
        log_determinant += (self.n_features - len(self.values)) * np.log(weight)
        log_evidence = 0.5 * (
            self.n_features * np.log(weight)
            + n * np.log(alpha)
            - alpha * self.squares(in_axes, theta)
            - weight * float(in_axes @ in_axes)
            - log_determinant
            - n * np.log(2 * np.pi)
        )
        log_evidence += prior.weight_shape * np.log(weight) - prior.weight_rate * weight
        log_evidence += prior.noise_shape * np.log(alpha) - prior.noise_rate * alpha
        return -float(log_evidence)

    def squares(self, in_axes: Array, theta: Array) -> float:
        """‖y − Xm‖²: that of least squares plus the increase from shrinking."""
        alpha, weight = theta
        added = in_axes * weight / alpha
        alive = self.values > 0
        return self.residual + float(((added[alive] / np.sqrt(self.values[alive])) ** 2).sum())

    def improved(self, theta: Array) -> Array:
        """One of MacKay's steps."""
        alpha, weight = theta
        in_axes, prior = self.in_axes(theta), self.hyperprior
        determined = float((alpha * self.values / (weight + alpha * self.values)).sum())
        size = max(float(in_axes @ in_axes) + 2 * prior.weight_rate, SMALLEST_SQUARE)
        squares = max(self.squares(in_axes, theta) + 2 * prior.noise_rate, self.smallest)
        # γ ≤ n up to rounding; no later step could change a precision of 0.
        left = max(self.weight - determined + 2 * prior.noise_shape, EPSILON)
        kept = max(determined + 2 * prior.weight_shape, EPSILON)
        return np.array([left / squares, kept / size])


@dataclass(frozen=True)
class EvidenceFixedPoint(Method):
    """(α, λ) ← MacKay's step, until the coefficients no longer change. Cost: O(d²) per step."""

    name = "evidence"
    needs = ("value", "improved")
    gap_kind = "change of the coefficients"
    default_max_steps = 300

    def start(self, problem: RidgeEvidence, theta: Array) -> State:
        memory = {"coefficients": problem.coefficients(theta)}
        return State(theta, problem.value(theta), np.inf, memory)

    def advance(self, problem: RidgeEvidence, state: State) -> State:
        theta = problem.improved(state.theta)
        coefficients = problem.coefficients(theta)
        change = float(np.abs(coefficients - state.memory["coefficients"]).sum())
        return State(theta, problem.value(theta), change, {"coefficients": coefficients})
