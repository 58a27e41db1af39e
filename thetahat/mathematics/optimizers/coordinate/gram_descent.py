"""Newton jumps and sweeps on the Gram matrix: min ½βᵀGβ − cᵀβ + Σ_j (l1_j|β_j| + ½ l2_j β_j²).

If the signs s of an active set S of coefficients are fixed and the others are zero, F is a parabola
(on this face of the orthants), whose minimum solves

    (G_SS + diag(l2_S)) β_S = c_S − l1_S∘s_S.

A jump goes to this minimum and is accepted if F decreases; coefficients that would change sign
become zero, or the jump is shortened. Then the columns whose slopes exceed their l1 join, and so
on. A column that depends linearly on the active ones cannot join; it replaces one of them if that
lowers the penalty, and Xβ does not change. If jumps make no progress (after a start far from the
optimum), sweeps of coordinate descent find the next active set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.active_set import ActiveSet
from thetahat.mathematics.optimizers.coordinate.column_slopes import EXACT

SWEEPS_PER_JUMP = 5
SWEEPS_WITHOUT_JUMPS = 100
MOST_JUMPS, FEW = 20, 100
"""Largest number of consecutive jumps; with few columns one, because sweeps are cheaper."""
FEWEST_JOIN, JOINING, FILLING = 16, 1 / 4, 1 / 6
"""How many columns may join at once: a minimum, a share of the active ones and of the free rank."""
FEWER = 4
"""After a jump without progress, the number of joining columns is divided by this."""
RESTING = 1e-9
"""Share of its l1 by which the slope of an active column may be off and still count as optimal."""
WRONG = 1e-6
"""Share of the right-hand side that a step may miss before the factor is rebuilt."""
VALUE_ROUNDING = 1e-13
"""Share of F that is rounding error."""
TINY = float(np.finfo(np.float64).tiny)
"""The smallest denominator."""


class Terms(NamedTuple):
    """l1, l2 and the lower bound (0 or −∞) of every column, for sums over the rows."""

    l1: Array
    l2: Array
    lower: Array

    def of(self, columns: Array) -> Terms:
        """The terms of some columns."""
        return Terms(*(np.ascontiguousarray(term[columns]) for term in self))


class Limits(NamedTuple):
    """When a descent ends: the gap, the smallest move, the largest number of sweeps."""

    tolerance: float
    floor: float
    sweeps: int


class Progress(NamedTuple):
    """The progress of a descent."""

    sweeps: int
    gap: float
    stuck: bool
    """Whether the last sweep moved nothing by more than rounding."""


@dataclass
class GramPoint:
    """The current point: β and its slopes c − Gβ, both changed in place."""

    gram: Array
    start: Array
    target_squared: float
    terms: Terms
    beta: Array
    slopes: Array

    def gap(self) -> float:
        """The duality gap over these columns."""
        explained = float(np.sum(self.beta * self.start))
        left = self.target_squared - explained - float(np.sum(self.beta * self.slopes))
        found = _native.lasso_gap(
            self.beta, self.slopes, EXACT, *self.terms, max(0.0, left),
            self.target_squared - explained,
        )  # fmt: skip
        return float(found[0])

    def fresh_slopes(self) -> Array:
        """Slopes computed from β alone, without the rounding errors of many small updates."""
        support = np.flatnonzero(self.beta)
        return self.start - _along(self, support, self.beta[support])

    def value(self) -> float:
        """F."""
        l1, l2, _ = self.terms
        pull = self.start + self.slopes - l2 * self.beta
        return float(np.sum(l1 * np.abs(self.beta)) - 0.5 * np.sum(self.beta * pull))

    def rests(self) -> bool:
        """Whether the active columns are optimal without the others."""
        l1, l2, _ = self.terms
        pull = np.abs(self.slopes - l2 * self.beta - l1 * np.sign(self.beta))
        return bool((pull <= RESTING * l1)[self.beta != 0].all())

    def signs(self, most: int) -> Array:
        """The signs of β, and of the `most` steepest columns that would leave zero."""
        signs = np.sign(self.beta)
        if most:
            l1, _, lower = self.terms
            excess = np.where(lower == 0, self.slopes, np.abs(self.slopes)) - l1
            eager = np.flatnonzero((excess > 0) & (signs == 0))
            if len(eager) > most:
                eager = eager[np.argpartition(-excess[eager], most)[:most]]
            signs[eager] = np.sign(self.slopes[eager])
        return signs


def descend_on_gram(
    gram: Array,
    start: Array,
    target_squared: float,
    terms: Terms,
    beta: Array,
    limits: Limits,
    face: ActiveSet,
) -> tuple[Progress, Array]:
    """Minimise over all of β, in place; the leading entries of `gram` are those of its columns.

    `face` keeps the factor of the active columns from one call to the next. Returns the progress
    and the final slopes c − Gβ. A jump counts as a sweep.
    """
    leading, used = gram[: len(beta), : len(beta)], 0
    with one_blas_thread():
        point = GramPoint(leading, start, target_squared, terms, beta, start)
        point.slopes = point.fresh_slopes()
        swept = False
        while True:
            jumps, gap, most = 0, np.inf, SWEEPS_PER_JUMP
            if beta.any():  # otherwise sweeps find a first active set
                jumps, gap = _jumps(point, face, limits, used)
                most = SWEEPS_PER_JUMP if jumps else SWEEPS_WITHOUT_JUMPS
            used += jumps
            if gap <= limits.tolerance or used >= limits.sweeps:
                return Progress(used, gap, False), point.fresh_slopes() if swept else point.slopes
            swept = True
            sweeps, gap, stuck = _native.descend_gram(
                gram, start, target_squared, *terms, beta, point.slopes, limits.tolerance,
                limits.floor, min(most, limits.sweeps - used),
            )  # fmt: skip
            used += sweeps
            if gap <= limits.tolerance or stuck or used >= limits.sweeps:
                return Progress(used, gap, stuck), point.fresh_slopes()


def _jumps(point: GramPoint, face: ActiveSet, limits: Limits, used: int) -> tuple[int, float]:
    """Jump as long as F decreases; return the number of jumps and the final gap."""
    jumps, gap = 0, np.inf
    # First jump on the current active set with its own terms, unless that was done before.
    most = _most_to_join(point, face) if point.rests() else 0
    for _ in range(MOST_JUMPS if len(point.beta) > FEW else 1):
        signs = point.signs(most)
        newcomers = int(np.count_nonzero(signs) - np.count_nonzero(point.beta))
        outside = face.move_to(point.gram, point.terms.l2, signs != 0)
        exchanges = len(outside) and (newcomers <= len(outside) or point.beta[outside].any())
        if exchanges:
            falls = _exchange(point, face, outside, signs)
        else:
            signs[outside] = 0.0
            falls = _jump(point, face, signs)
        if falls:
            jumps += 1
            gap = point.gap()
            if gap <= limits.tolerance or used + jumps >= limits.sweeps:
                break
            most = 0 if exchanges else _most_to_join(point, face)
        elif most:
            most = newcomers // FEWER
            if not most:
                break
        else:
            most = _most_to_join(point, face)
    return jumps, gap


def _most_to_join(point: GramPoint, face: ActiveSet) -> int:
    in_use = np.count_nonzero(point.beta)
    room = face.most(point.terms.l2) - in_use
    return max(FEWEST_JOIN, int(min(JOINING * in_use, FILLING * room)))


def _jump(point: GramPoint, face: ActiveSet, signs: Array) -> bool:
    """Move to or towards the minimum for these signs; False if F does not decrease."""
    for _ in range(2):
        members = face.members
        aim = _aim(point, members, signs)
        step = face.solve(aim)
        if _go(point, members, step, signs[members]):
            return True
        if _missed(point, members, step, aim) <= WRONG:
            return False
        face.forget()  # rounding errors have accumulated
        if len(face.move_to(point.gram, point.terms.l2, signs != 0)):
            return False
    return False


def _exchange(point: GramPoint, face: ActiveSet, outside: Array, signs: Array) -> bool:
    """Let dependent columns replace active ones where that lowers the penalty."""
    inside, before = face.members.copy(), point.value()
    table = face.explain(point.gram, outside)
    l1, beta, slopes = point.terms.l1, point.beta.copy(), point.slopes
    in_use = np.count_nonzero(beta)
    parts = [
        [which, *(np.ascontiguousarray(of[which]) for of in (beta, signs, l1))]
        for which in (inside, outside)
    ]
    _native.exchange_columns(table, *parts[0], *parts[1])
    for which, found, *_ in parts:
        point.beta[which] = found
    point.slopes = point.fresh_slopes()
    gained, rounding = before - point.value(), VALUE_ROUNDING * abs(before)
    if gained > rounding or (gained >= -rounding and np.count_nonzero(point.beta) < in_use):
        return True
    point.beta[:], point.slopes = beta, slopes
    return False


def _go(point: GramPoint, members: Array, step: Array, sign: Array) -> bool:
    """Move along a step as far as F decreases; False, without a move, if it does not."""
    return _native.follow_step(
        point.gram, members, step, sign, point.start, *point.terms, point.beta, point.slopes
    )


def _missed(point: GramPoint, members: Array, step: Array, aim: Array) -> float:
    """The share of the right-hand side that a step misses."""
    met = _along(point, members, step)[members] + point.terms.l2[members] * step
    return float(np.abs(aim - met).max(initial=0.0) / np.abs(aim).max(initial=TINY))


def _along(point: GramPoint, members: Array, moved: Array) -> Array:
    """The decrease of the slopes; G is symmetric."""
    found = np.empty_like(point.beta)
    _native.combine_rows(point.gram, members, moved, found)
    return found


def _aim(point: GramPoint, members: Array, signs: Array) -> Array:
    """The negative slope of F for these signs."""
    l1, l2, _ = point.terms
    here = point.beta[members]
    return point.slopes[members] - l1[members] * signs[members] - l2[members] * here
