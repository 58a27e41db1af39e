"""Iterative refinement: restore the digits that an ill-conditioned factorisation lost.

Given a triangle R with RᵀR ≈ XᵀX, repeat

    g = Xᵀ(y − Xβ)   in twice the working precision,      β ← β + R⁻¹R⁻ᵀ g.

Each iteration multiplies the error by about κ(X)²ε (R from Cholesky) or κ(X)ε (R from QR). If that
factor is below one, a few passes over the rows give β̂ to nearly full precision.

Cost: O(n d) per iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from thetahat import _native
from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import Frame, dense_rows
from thetahat.data.summaries.moments import Moments
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.least_squares import LinearFit

MAX_ROUNDS = 8


@dataclass(frozen=True)
class _TwofoldGradient:
    """A gradient and the rounding error of its sum."""

    value: Array
    error: Array

    def merge(self, other: _TwofoldGradient) -> _TwofoldGradient:
        total = self.value + other.value
        step = total - self.value
        lost = (self.value - (total - step)) + (other.value - step)
        return _TwofoldGradient(total, self.error + other.error + lost)


def refined(source: Source, about: Moments, fit: LinearFit, *, intercept: bool) -> LinearFit:
    """The fit with coefficients improved until the corrections are at rounding level."""
    solve_triangular = scipy_linalg().solve_triangular

    d = about.n_features
    assert fit.factor is not None
    centre = about.mean if intercept else np.zeros_like(about.mean)
    frame = Frame(centre=centre, unit=about.unit)
    x_unit, y_unit = about.unit[:d, None], about.unit[d:]
    R = fit.factor / about.unit[:d]
    coef = fit.coef * x_unit / y_unit
    level = np.zeros(coef.shape[1])
    last = np.inf
    for _ in range(MAX_ROUNDS):
        gamma = np.ascontiguousarray(np.vstack([coef, level]))
        found = source.reduce(_summarise_gradient, frame, gamma)
        gradient = (found.value + found.error).T
        with one_blas_thread():
            half = solve_triangular(R, gradient[:d], trans="T", check_finite=False)
            move = solve_triangular(R, half, check_finite=False)
        level_move = gradient[d] / about.weight if intercept else 0.0 * level
        size = float(np.max(np.abs(move) / np.maximum(np.abs(coef), np.finfo(float).tiny)))
        if not size < last:
            break
        coef, level, last = coef + move, level + level_move, size
        if size <= 4 * EPSILON:
            break
    coef = coef / x_unit * y_unit
    exact = _exact_intercept(about, coef, level * y_unit) if intercept else fit.intercept
    return replace(fit, coef=coef, intercept=exact, refined=True)


def _summarise_gradient(block: Block, frame: Frame, gamma: Array) -> _TwofoldGradient:
    k = gamma.shape[1]
    gradient, error = np.zeros((k, len(gamma))), np.zeros((k, len(gamma)))
    dense, target = dense_rows(block), to_host(block.y).astype(np.float64).reshape(-1, k)
    weight = np.empty(0) if block.weight is None else to_host(block.weight).astype(np.float64)
    _native.compensated_gradient(
        dense, target, weight, frame.centre, 1.0 / frame.unit, gamma, gradient, error
    )
    return _TwofoldGradient(gradient, error)


def _exact_intercept(about: Moments, coef: Array, level: Array) -> Array:
    """ȳ + level − x̄ᵀβ without intermediate rounding: large terms may cancel."""
    means = [Fraction(float(m)) for m in about.x_mean]
    return np.array(
        [
            float(
                Fraction(float(y_mean))
                + Fraction(float(shift))
                - sum(m * Fraction(float(c)) for m, c in zip(means, column, strict=True))
            )
            for y_mean, shift, column in zip(about.y_mean, level, coef.T, strict=True)
        ]
    )
