"""Jumps and sweeps on the Gram matrix: minimise ½βᵀGβ − cᵀβ + Σ_j (l1_j|β_j| + ½ l2_j β_j²).

On a face, where the signs s of some coefficients S are given and the others are zero, F is a
parabola, whose minimum solves

    (G_SS + diag(l2_S)) β_S = c_S − l1_S∘s_S.

A jump goes there, and is taken if F falls: coefficients that would change sign become zero, or the
jump is cut short. Then the columns whose slopes are steeper than their l1 join the face, and so on.
A column that depends on those in use cannot join them: it takes the place of one of them, where
that lowers the penalty, and Xβ stays as it is. Where jumps lead nowhere (a start far from the
optimum), sweeps of coordinate descent find the next face.
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
"""Jumps in a row; among so few columns there is one, as sweeps cost less."""
FEWEST_JOIN, JOINING, FILLING = 16, 1 / 4, 1 / 6
"""How many may join at once: at least, as a share of those in use, and of the rank that is left."""
FEWER = 4
"""After a jump that led nowhere, so many times fewer join."""
RESTING = 1e-9
"""The share of its l1 by which a column in use may miss its slope and still be at rest."""
WRONG = 1e-6
"""The share of an aim that a step may miss before its inverse is made anew."""
ROUNDING = 1e-13
"""The share of F that is no more than rounding."""
TINY = float(np.finfo(np.float64).tiny)
"""The smallest number to divide by."""


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


@dataclass
class GramPoint:
    """A point on its way down: β and its slopes c − Gβ, both changed in place."""

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
        """From β alone: many small moves leave rounding in those that follow them."""
        support = np.flatnonzero(self.beta)
        return self.start - _along(self, support, self.beta[support])

    def value(self) -> float:
        """F."""
        l1, l2, _ = self.terms
        pull = self.start + self.slopes - l2 * self.beta
        return float(np.sum(l1 * np.abs(self.beta)) - 0.5 * np.sum(self.beta * pull))

    def rests(self) -> bool:
        """Whether the columns in use are as good as they can be without others."""
        l1, l2, _ = self.terms
        pull = np.abs(self.slopes - l2 * self.beta - l1 * np.sign(self.beta))
        return bool((pull <= RESTING * l1)[self.beta != 0].all())

    def signs(self, most: int) -> Array:
        """Of β, and of the `most` steepest columns that would leave zero."""
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

    `face` keeps what is known of the columns in use from one call to the next. Returns the progress
    and the slopes c − Gβ at its end. A jump counts as a sweep.
    """
    leading, used = gram[: len(beta), : len(beta)], 0
    with one_blas_thread():
        point = GramPoint(leading, start, target_squared, terms, beta, start)
        point.slopes = point.fresh_slopes()
        swept = False
        while True:
            jumps, gap, most = 0, np.inf, SWEEPS_PER_JUMP
            if beta.any():  # else sweeps find a first face
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
    """As many as lead down: how many, and the gap after the last."""
    jumps, gap = 0, np.inf
    # The face in use first follows its own terms, unless it has done so.
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
    """To the minimum of a face with these signs, or towards it; False where F does not fall."""
    for _ in range(2):
        members = face.members
        aim = _aim(point, members, signs)
        step = face.solve(aim)
        if _go(point, members, step, signs[members]):
            return True
        if _missed(point, members, step, aim) <= WRONG:
            return False
        face.forget()  # rounding has piled up
        if len(face.move_to(point.gram, point.terms.l2, signs != 0)):
            return False
    return False


def _exchange(point: GramPoint, face: ActiveSet, outside: Array, signs: Array) -> bool:
    """Let columns that depend on members take their places where that lowers the penalty."""
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
    gained, rounding = before - point.value(), ROUNDING * abs(before)
    if gained > rounding or (gained >= -rounding and np.count_nonzero(point.beta) < in_use):
        return True
    point.beta[:], point.slopes = beta, slopes
    return False


def _go(point: GramPoint, members: Array, step: Array, sign: Array) -> bool:
    """As far along a step as F falls; False, and nowhere, where it does not."""
    return _native.follow_step(
        point.gram, members, step, sign, point.start, *point.terms, point.beta, point.slopes
    )


def _missed(point: GramPoint, members: Array, step: Array, aim: Array) -> float:
    """The share of an aim that a step misses."""
    met = _along(point, members, step)[members] + point.terms.l2[members] * step
    return float(np.abs(aim - met).max(initial=0.0) / np.abs(aim).max(initial=TINY))


def _along(point: GramPoint, members: Array, moved: Array) -> Array:
    """How the slopes fall; G is symmetric."""
    found = np.empty_like(point.beta)
    _native.combine_rows(point.gram, members, moved, found)
    return found


def _aim(point: GramPoint, members: Array, signs: Array) -> Array:
    """The slope of F on the face, downwards."""
    l1, l2, _ = point.terms
    here = point.beta[members]
    return point.slopes[members] - l1[members] * signs[members] - l2[members] * here
