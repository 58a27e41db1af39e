"""Sweeps and jumps on the Gram matrix: minimise ½βᵀGβ − cᵀβ + Σ_j (l1_j|β_j| + ½ l2_j β_j²).

Sweeps of coordinate descent soon find which coefficients are not zero, and their signs s; from
there on they creep. On that face F is a parabola, whose minimum solves

    (G_SS + diag(l2_S)) β_S = c_S − l1_S∘s_S.

A jump goes there if F falls on the way: with the coefficients that would change sign set to zero,
or else to the first point where one does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread

Array = Any

SWEEPS_PER_JUMP = 5
SWEEPS_WITHOUT_JUMPS = 100
MOST_JUMPS = 5
"""Jumps in a row while coefficients reach zero."""
LARGE_FACE = 300
"""Columns in use beyond which sweeps are cheaper than a second jump."""
LIFTS = (1e-13, 1e-9)
"""Shares that are added to the diagonal, so that a face of dependent columns has a factor too."""


class Terms(NamedTuple):
    """l1, l2 and the lower bound (0 or −∞) of every column, for sums over the rows."""

    l1: Array
    l2: Array
    lower: Array

    def of(self, columns: Array) -> Terms:
        """The terms of some columns."""
        return Terms(*(np.ascontiguousarray(term[columns]) for term in self))


class Limits(NamedTuple):
    """When a descent ends: the gap, the smallest move, the most sweeps."""

    tolerance: float
    floor: float
    sweeps: int


class Progress(NamedTuple):
    """What a descent did."""

    sweeps: int
    gap: float
    stuck: bool
    """Whether the last sweep moved nothing beyond rounding."""


def descend_on_gram(
    gram: Array, start: Array, target_squared: float, terms: Terms, beta: Array, limits: Limits
) -> tuple[Progress, Array]:
    """Minimise over all of β, in place; the leading entries of `gram` are those of its columns.

    Returns the progress and the slopes c − Gβ at its end.
    """
    count, used = len(beta), 0
    with one_blas_thread():
        slopes = start - gram[:count, :count] @ beta if beta.any() else start.copy()
        while True:
            jumps = _jump(gram, start, terms, beta, slopes)
            most = SWEEPS_PER_JUMP if jumps else SWEEPS_WITHOUT_JUMPS
            sweeps, gap, stuck = _native.descend_gram(
                gram, start, target_squared, *terms, beta, slopes, limits.tolerance, limits.floor,
                min(most, limits.sweeps - used),
            )  # fmt: skip
            used += sweeps
            if gap <= limits.tolerance or stuck or used >= limits.sweeps:
                return Progress(used, gap, stuck), slopes


def _jump(gram: Array, start: Array, terms: Terms, beta: Array, slopes: Array) -> bool:
    """To the minimum of the face of β, in place; False where there is no step to it."""
    for _ in range(MOST_JUMPS):
        face = np.flatnonzero(beta)
        if not face.size:
            return True
        here = beta[face]
        step = _step(gram, terms, face, here, slopes[face])
        if step is None:
            return False
        there = here + step
        turned = np.sign(there) != np.sign(here)
        first = np.min(-here[turned] / step[turned], initial=1.0)
        before, columns = _value(start, terms, beta, slopes), gram[face, : len(beta)]
        for target in (np.where(turned, 0.0, there), _up_to(first, here, step, turned)):
            trial, trial_slopes = beta.copy(), slopes - (target - here) @ columns
            trial[face] = target
            if _value(start, terms, trial, trial_slopes) < before:
                beta[:], slopes[:] = trial, trial_slopes
                break
        else:
            return True
        if not turned.any() or len(face) > LARGE_FACE:
            return True
    return True


def _step(gram: Array, terms: Terms, face: Array, here: Array, slopes: Array) -> Array | None:
    """(G_SS + diag(l2))⁻¹ times the slope of F; dependent columns lead far, to the next zero."""
    aim = slopes - terms.l1[face] * np.sign(here) - terms.l2[face] * here
    for lift in LIFTS:
        within = gram[np.ix_(face, face)]
        diagonal = within.reshape(-1)[:: len(face) + 1]
        diagonal += terms.l2[face]
        diagonal *= 1 + lift
        try:
            factor = np.linalg.cholesky(within)
        except np.linalg.LinAlgError:
            continue
        step = aim.copy()
        _native.solve_cholesky(factor, step)
        if np.isfinite(step).all():
            return step
    return None


def _up_to(first: float, here: Array, step: Array, turned: Array) -> Array:
    """The point where the first coefficient reaches zero, exactly."""
    target = here + first * step
    target[turned & (np.abs(target) <= 1e-12 * np.abs(here))] = 0.0
    return target


def _value(start: Array, terms: Terms, beta: Array, slopes: Array) -> float:
    smooth = -np.sum(beta * (start + slopes)) / 2
    return float(smooth + np.sum(terms.l1 * np.abs(beta) + terms.l2 / 2 * beta * beta))
