"""One connected block of the graphical lasso: a Newton step, its line search and the duality gap.

F(Q) = −log det Q + tr(SQ) + α Σ_{i≠j} |q_ij|; dual: log det W + d, |w_ij − s_ij| ≤ α, w_ii = s_ii

The gap F(Q) − (log det W + d) bounds F(Q) − min F for every positive definite W that satisfies
these bounds. W is Q⁻¹, clipped to the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.tiled_cholesky import TILE, cholesky_in_place, inverse_in_place

SMALL = 16
"""Most columns of a component that starts without zeros and whose steps are solved exactly.

Its time is that of the calls, and BLAS starts no threads for it.
"""
SUFFICIENT = 1e-3
"""Share of the decrease of the model that a step must reach."""
MOST_HALVINGS = 40
ROUGH = 0.1
"""Largest relative error of a Newton direction."""
FINEST = 1e-3
"""Smallest relative error that is requested of a Newton direction."""
MOST_ROUNDS, MOST_PRODUCTS = 20, 200


@dataclass(frozen=True)
class PrecisionBlock:
    """A positive definite Q of one block, its inverse, F(Q), and the largest dual value so far."""

    covariance: Array
    alpha: float
    precision: Array
    inverse: Array
    value: float
    bound: float
    """Lower bound of the minimum."""
    steps: int = 0
    last: float = 1.0
    """Size of the last step: the largest |Δq_ij| / √(q_ii q_jj)."""
    stalled: bool = False

    @property
    def gap(self) -> float:
        return max(self.value - self.bound, 0.0)

    @classmethod
    def at(cls, covariance: Array, alpha: float, precision: Array) -> PrecisionBlock | None:
        """The block at Q, or None if Q is not positive definite."""
        found = _value_and_inverse(covariance, alpha, precision)
        if found is None:
            return None
        value, inverse = found
        bound = max(
            _dual_value(within_bounds(covariance, alpha)),
            _dual_value(_clipped(covariance, alpha, inverse)),
        )
        return cls(covariance, alpha, precision, inverse, value, bound)

    def advance(self) -> PrecisionBlock:
        """The block after one Newton step; with ``stalled`` if none lowers F."""
        S, Q, alpha = self.covariance, self.precision, self.alpha
        direction = np.empty_like(Q)
        # For few columns, an exact direction takes less time than the steps that it saves.
        is_small = len(Q) <= SMALL
        error = FINEST if is_small else min(ROUGH, max(FINEST, self.last))
        rounds = MOST_ROUNDS if is_small else min(1 + 2 * self.steps, MOST_ROUNDS)
        _native.precision_direction(
            S, Q, self.inverse, alpha, error, rounds, MOST_PRODUCTS, direction
        )
        slope = _inner(S - self.inverse, direction) + alpha * (
            _off_diagonal(Q + direction) - _off_diagonal(Q)
        )
        # Where F is flat to rounding, only the gap can show whether a step is an improvement.
        rounding = 4 * EPSILON * (len(Q) + abs(self.value))
        length = 1.0
        for _ in range(MOST_HALVINGS):
            is_flat = length * abs(slope) <= rounding
            allowed = rounding if is_flat else SUFFICIENT * length * slope
            after = self._moved(length * direction)
            if after is not None and after.value <= self.value + allowed:
                break
            length /= 2
        else:
            return replace(self, steps=self.steps + 1, stalled=True)
        if is_flat and not after.gap < self.gap:
            return replace(self, steps=self.steps + 1, last=0.0, stalled=True)
        return after

    def _moved(self, by: Array) -> PrecisionBlock | None:
        """The block after a step, or None if Q is no longer positive definite."""
        precision = self.precision + by
        found = _value_and_inverse(self.covariance, self.alpha, precision)
        if found is None:
            return None
        value, inverse = found
        scale = np.sqrt(np.einsum("ii->i", precision))
        bound = _dual_value(_clipped(self.covariance, self.alpha, inverse))
        return replace(
            self,
            precision=precision,
            inverse=inverse,
            value=value,
            bound=max(self.bound, bound),
            steps=self.steps + 1,
            last=float((np.abs(by) / scale / scale[:, None]).max()),
        )


def log_determinant(matrix: Array) -> float | None:
    """log det of a symmetric matrix, or None if it is not positive definite. Cost: O(d³/3)."""
    factor = _factor(matrix)
    return None if factor is None else 2.0 * float(np.log(np.einsum("ii->i", factor)).sum())


def inverse_of(matrix: Array) -> tuple[float, Array] | None:
    """log det and inverse of a symmetric matrix; None if it is not positive definite."""
    factor = _factor(matrix)
    if factor is None:
        return None
    log_det = 2.0 * float(np.log(np.einsum("ii->i", factor)).sum())
    if len(factor) <= SMALL:  # the entries above the diagonal are 0
        lower = _lapack().dpotri(factor, lower=True, overwrite_c=True)[0].T
        inverse = lower + lower.T
        np.einsum("ii->i", inverse)[:] *= 0.5
        return log_det, np.ascontiguousarray(inverse)
    if len(factor) <= TILE:
        with one_blas_thread():
            factor = _lapack().dpotri(factor, lower=True, overwrite_c=True)[0]
    else:
        inverse_in_place(factor)
    inverse = np.tril(factor, -1)
    inverse = inverse + inverse.T
    np.einsum("ii->i", inverse)[:] = np.einsum("ii->i", factor)
    return log_det, np.ascontiguousarray(inverse)


@cache
def _lapack() -> Any:
    return scipy_linalg().lapack


def _factor(matrix: Array) -> Array | None:
    if len(matrix) <= SMALL:
        factor, failed = _lapack().dpotrf(matrix, lower=True)
        return None if failed else factor
    if len(matrix) <= TILE:
        with one_blas_thread():
            factor, failed = _lapack().dpotrf(matrix, lower=True)
        return None if failed else factor
    factor = matrix.copy()
    return factor if cholesky_in_place(factor) else None


def _value_and_inverse(S: Array, alpha: float, Q: Array) -> tuple[float, Array] | None:
    found = inverse_of(Q)
    if found is None or not np.isfinite(found[0]):
        return None
    return -found[0] + _inner(S, Q) + alpha * _off_diagonal(Q), found[1]


def _inner(A: Array, B: Array) -> float:
    return float(np.einsum("ij,ij->", A, B))


def _off_diagonal(Q: Array) -> float:
    """Σ_{i≠j} |q_ij|"""
    sizes = np.abs(Q)
    return float(np.add.reduce(sizes, axis=None) - sizes.trace())


def _dual_value(W: Array) -> float:
    log_det = log_determinant(W)
    return -np.inf if log_det is None else log_det + len(W)


def _clipped(S: Array, alpha: float, W: Array) -> Array:
    """W moved into the bounds of the dual; it need not be positive definite."""
    clipped = np.clip(W, S - alpha, S + alpha)
    np.fill_diagonal(clipped, np.einsum("ii->i", S))
    return clipped


def within_bounds(S: Array, alpha: float) -> Array:
    """A positive definite W within the bounds: S with smaller entries off the diagonal."""
    diagonal = np.einsum("ii->i", S)
    largest = float(np.abs(S - np.diag(diagonal)).max())
    keep = 1.0 - min(1.0, alpha / largest) if largest > 0 else 0.0
    W = S * keep
    np.fill_diagonal(W, diagonal)
    return W
