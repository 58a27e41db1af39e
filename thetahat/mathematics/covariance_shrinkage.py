"""Covariances shrunk towards a multiple of the identity, and how much to shrink them.

    Σ(ρ) = (1 − ρ) Σ̂ + ρ μ I,    μ = tr Σ̂ / d

The intensity ρ is given, or it minimises (an estimate of) the expected squared distance to the true
covariance: Ledoit and Wolf (2004), and the oracle-approximating shrinkage of Chen et al. (2010) for
Gaussian rows. Both need sums over the rows only, so they work with row weights and block by block.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array


def shrunk(covariance: Array, intensity: float) -> Array:
    """(1 − ρ) Σ̂ + ρ (tr Σ̂ / d) I, for one matrix or a stack of matrices. Cost: O(d²) each."""
    d = covariance.shape[-1]
    level = np.trace(covariance, axis1=-2, axis2=-1) / d
    result = (1.0 - intensity) * covariance
    result[..., np.arange(d), np.arange(d)] += intensity * np.asarray(level)[..., None]
    return result


def ledoit_wolf_intensity(covariance: Array, fourth: float, weight: float) -> float:
    """The intensity ρ of Ledoit and Wolf, in [0, 1]; 0 for a single column.

    Formula: ρ = min(β, δ) / δ with δ = ‖Σ̂ − μI‖² / d and β = (Σ wᵢ‖xᵢ − x̄‖⁴ / W − ‖Σ̂‖²) / (d W).

    `covariance` divides by W (maximum likelihood), `fourth` is Σ wᵢ‖xᵢ − x̄‖⁴ in the same units
    (`NormMoments.in_one_unit` gives both), and `weight` is W = Σ wᵢ. Cost: O(d²).
    """
    d = covariance.shape[0]
    if d == 1:
        return 0.0
    # In units of the mean variance, so that fourth powers stay in range.
    level = float(np.trace(covariance)) / d
    if not level > 0:
        return 0.0
    scaled = covariance / level
    size = _squares(scaled)
    spread = _distance_from_identity(scaled)
    error = (fourth / level / level / weight - size) / weight
    if error <= 0:
        return 0.0
    return 1.0 if error >= spread else error / spread


def oas_intensity(covariance: Array, weight: float) -> float:
    """The intensity ρ of oracle-approximating shrinkage, in (0, 1]; 0 for a single column.

    Formula: ρ = min(1, (‖Σ̂‖²/d² + μ²) / ((W + 1)(‖Σ̂‖²/d² − μ²/d))). The rows are assumed to be
    Gaussian. `covariance` divides by the number of rows W = `weight`. Cost: O(d²).
    """
    d = covariance.shape[0]
    if d == 1:
        return 0.0
    level = float(np.trace(covariance)) / d
    if not level > 0:
        return 1.0
    scaled = covariance / level
    mean_square = _squares(scaled) / d**2
    below = (weight + 1.0) * _distance_from_identity(scaled) / d**2
    above = mean_square + 1.0
    return 1.0 if above >= below else above / below


def _distance_from_identity(scaled: Array) -> float:
    """‖A − I‖² (Frobenius), without the cancellation of ‖A‖² − d."""
    away = scaled - np.eye(scaled.shape[0])
    return _squares(away)


def _squares(A: Array) -> float:
    """‖A‖² (Frobenius), with the same bits for any number of threads."""
    return float(np.einsum("ij,ij->", A, A))
