"""Non-linear least squares as a problem: F(θ) = Σ wᵢ ρ(f(xᵢ; θ) − yᵢ), ρ(r) = r²/2 by default.

Any smooth residual loss is a sum of squares: with sᵢ = sign(rᵢ)√(2wᵢρ(rᵢ)), F = ½‖s‖². So the
methods for least squares minimise F, and with ∂sᵢ/∂rᵢ = wᵢψ(rᵢ)/sᵢ, Jᵀs is its exact gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.program import Program
from thetahat.mathematics.losses.base import Curved, Targets
from thetahat.mathematics.optimizers.residuals.linearised import (
    Linearised,
    column_norms,
    relative_offset,
)
from thetahat.objective.curves.curve import Curve


@dataclass(frozen=True)
class CurveFit:
    """The residuals of a curve as a problem for the methods of non-linear least squares."""

    curve: Curve
    X: Array
    y: Array
    weight: Array
    """One per row, > 0."""
    loss: Any
    """A `Curved` loss of the residual, checked by `require_residual_loss`."""
    bounds: tuple[Array, Array]
    program: Program | None = None
    """The curve for the rows X, recorded by `Curve.settled`."""
    _last: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def residuals(self, theta: Array) -> Array:
        """s with F = ½‖s‖²; for the squared loss, √w·(f − y)."""
        return self.signed_roots(self.predicted(theta))

    def predicted(self, theta: Array) -> Array:
        """f(xᵢ; θ)."""
        return self.curve(self.X, theta) if self.program is None else self.program.values(theta)

    def signed_roots(self, predicted: Array) -> Array:
        """s for given predictions."""
        if self.loss.quadratic:
            return self.weighted(predicted - self.y)
        value = np.maximum(self.loss.value(self.y, predicted), 0.0)
        return np.sign(predicted - self.y) * np.sqrt(2 * self.weight * value)

    def jacobian(self, theta: Array) -> Array:
        """∂s/∂θ."""
        inner = self.slopes(theta)
        if self.loss.quadratic:
            return self.weighted(inner)
        predicted = self.predicted(theta)
        root = self.signed_roots(predicted)
        # At r = 0 the slope of √(2ρ) is √ρ″.
        near = np.sqrt(self.weight * np.maximum(self.loss.curvature(self.y, predicted), 0.0))
        away = np.abs(root) > 1e-8
        slope = self.weight * self.loss.gradient(self.y, predicted) / np.where(away, root, 1.0)
        return np.where(away, slope, near)[:, None] * inner

    def slopes(self, theta: Array) -> Array:
        """∂f(xᵢ; θ)/∂θ; the last ones are kept, because the end of a run asks for them again."""
        at = theta.tobytes()
        if self._last.get("theta") != at:
            slopes = (
                self.curve.jacobian(self.X, theta)
                if self.program is None
                else self.program.slopes(theta)
            )
            self._last.update(slopes=slopes, theta=at)
        found: Array = self._last["slopes"]
        return found

    def weighted(self, rows: Array) -> Array:
        """Rows times √w; unchanged if all weights are equal."""
        if self._roots is None:
            return rows
        return rows * self._roots.reshape(-1, *[1] * (rows.ndim - 1))

    @cached_property
    def _roots(self) -> Array | None:
        """√w; None if all weights are 1."""
        return None if np.all(self.weight == 1.0) else np.sqrt(self.weight)

    def gap(self, theta: Array, residuals: Array, jacobian: Array) -> float:
        """Distance of θ from θ̂ in standard errors (see `relative_offset`)."""
        if not (np.isfinite(jacobian).all() and np.isfinite(residuals).all()):
            return float("inf")
        norms = column_norms(jacobian)
        scale = np.where(norms > 0, norms, 1.0)
        return relative_offset(Linearised.of(jacobian, residuals, scale), residuals, theta)

    def require_finite_sum(self, theta: Array, who: str) -> None:
        """Raise an error if the sum of losses overflows at the start."""
        with np.errstate(over="ignore"):
            roots = self.residuals(theta)
            total = float(np.sum(roots * roots))
        if not np.isfinite(total):
            row = int(np.argmax(np.abs(roots)))
            raise ParameterError(
                f"{who}: the sum of losses is {total} at the start {self.curve.shown(theta)}: the "
                f"model is {self.curve(self.X, theta)[row]:.3g} in row {row}, and y is "
                f"{self.y[row]:.3g}. Start nearer to the targets, or measure y in larger units."
            )

    def require_residual_loss(self, who: str) -> None:
        """Raise an error unless the loss is a smooth function of f − y with its minimum at 0."""
        if not isinstance(self.loss, Curved) or self.loss.targets is not Targets.REAL:
            raise CapabilityError(
                f"{who} needs a smooth loss of real targets; {type(self.loss).__name__} is not. "
                "Use Squared, Huber, Cauchy, Forsyth, Tukey, or th.loss of a smooth function."
            )
        if self.loss.quadratic:
            return
        at_zero, around = self.loss.value(self.y, self.y), self.loss.value(self.y, self.y + 1.0)
        wrong = ~(np.abs(at_zero) <= 1e-12) | ~(around >= 0)
        if np.any(wrong):
            row = int(np.argmax(wrong))
            raise DataError(
                f"{who} needs a loss that is 0 where the prediction is right and positive "
                f"elsewhere; {self.loss.name} is {at_zero[row]:g} at y = z = {self.y[row]:g} and "
                f"{around[row]:g} at z = y + 1 (row {row}). Subtract that constant from it, or "
                "define it there."
            )
