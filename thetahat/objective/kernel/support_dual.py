"""The dual problem of support vector machines, solved by sequential minimal optimisation.

    min over β of  ½βᵀKβ + pᵀβ + κ·Σ|βᵢ|,   lower ≤ β ≤ upper,   Σβ fixed (in each of two groups)

Classification has pᵢ = −yᵢ and boxes between 0 and C·yᵢ; regression has pᵢ = −yᵢ, κ = ε and boxes
[−C, C]. The function is f(x) = Σ βᵢ k(xᵢ, x) + b, where b is the multiplier of the fixed sum.

Shrinking: variables that stay at a bound by more than the largest violation are left out for a
while, with their columns of the kernel; when the others are optimal, the derivatives of those left
out are computed by blocked products and all variables are checked. The result is optimal for all.

After very many steps of two variables, the free variables are moved to their minimum together (see
`face_step`), and again whenever as many steps have followed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.objective.kernel.face_step import minimise_on_face
from thetahat.objective.kernel.gram_rows import GramRows

WORK_PER_CALL = 2e7
"""Entries of the gradient that are updated before time and interruptions are checked."""
WORK_PER_SECOND = 2e8
"""Entries per second at least; a limit of time that is nearer than a call shortens it."""
MIN_SHRINKABLE = 1000
"""With fewer variables, nothing is gained by leaving some out."""
STEPS_BEFORE_SHRINKING = 1.0
"""Steps per variable before any is left out: bringing them back costs about as much as one each."""
WORTH_SHRINKING = 0.75
"""Variables are left out if at most this share of them stays."""
MOST_SHRINKINGS = 3
"""After so many checks of all variables that failed, none is left out any more."""
STEPS_BETWEEN_FACES = 100
"""Steps per variable before the free variables are moved together."""
LEAST_DECREASE = 1e-15
"""A smaller relative decrease of the objective in many steps is one of rounding errors."""
LEAST_STEPS = 10_000_000
"""Limit of the steps where the user gives none, or 100 per variable if that is more."""


@dataclass(frozen=True)
class BoxDual:
    """The coefficients of the problem; `split` is the number of variables in the first group."""

    linear: Array
    lower: Array
    upper: Array
    kink: float = 0.0
    split: int | None = None
    start: Array | None = None

    @property
    def bounds(self) -> list[slice]:
        """The groups whose sums are fixed."""
        m = len(self.linear)
        split = m if self.split is None else self.split
        return [slice(0, m)] if split == m else [slice(0, split), slice(split, m)]

    def part(self, which: Array) -> BoxDual:
        """The problem of some variables."""
        split = None if self.split is None else int(np.searchsorted(which, self.split))
        return replace(
            self,
            linear=self.linear[which],
            lower=np.ascontiguousarray(self.lower[which]),
            upper=np.ascontiguousarray(self.upper[which]),
            split=split,
        )

    def sides(self, beta: Array, gradient: Array) -> tuple[Array, Array]:
        """The derivatives to the right (infinite at the upper bound) and to the left."""
        rise = np.where(beta >= self.upper, np.inf, np.where(beta >= 0, self.kink, -self.kink))
        fall = np.where(beta <= self.lower, -np.inf, np.where(beta > 0, self.kink, -self.kink))
        return gradient + rise, gradient + fall

    def settled(self, beta: Array, gradient: Array) -> Array:
        """The variables that no pair would move: held at a bound or kink by all others."""
        rise, fall = self.sides(beta, gradient)
        found = np.empty(len(beta), dtype=bool)
        for group in self.bounds:
            low, high = rise[group].min(initial=np.inf), fall[group].max(initial=-np.inf)
            found[group] = (rise[group] > high) & (fall[group] < low)
        return found

    def offsets(self, beta: Array, gradient: Array) -> list[float]:
        """b of each group: the mean over the free variables, or the middle of what is allowed."""
        rise, fall = self.sides(beta, gradient)
        found = []
        for group in self.bounds:
            b = beta[group]
            free = (b > self.lower[group]) & (b < self.upper[group])
            if self.kink > 0:
                free &= b != 0
            if free.any():
                inner = gradient[group][free] + self.kink * np.sign(b[free])
                found.append(-float(inner.mean()))
                continue
            limits = (rise[group].min(initial=np.inf), fall[group].max(initial=-np.inf))
            finite = [limit for limit in limits if math.isfinite(limit)]
            found.append(-float(np.mean(finite)) if finite else 0.0)
        return found

    def gap(self, beta: Array, gradient: Array, offsets: list[float]) -> float:
        """The duality gap: a sum of terms ≥ 0, of which each is 0 at the optimum.

        Its term for row i is the loss of the row plus its conjugate at βᵢ minus their product
        (Fenchel and Young): max over t in the box of (−t·g − κ|t|) + β·g + κ|β| with g = G + b.
        """
        total = 0.0
        for group, b in zip(self.bounds, offsets, strict=True):
            g, beta_g = gradient[group] + b, beta[group]
            with np.errstate(invalid="ignore"):
                terms = beta_g * g + self.kink * np.abs(beta_g)
                best = np.maximum(
                    _finite(-self.lower[group] * g) - self.kink * np.abs(self.lower[group]),
                    _finite(-self.upper[group] * g) - self.kink * np.abs(self.upper[group]),
                )
            inside = (self.lower[group] <= 0) & (self.upper[group] >= 0)
            best = np.where(inside, np.maximum(best, 0.0), best)
            total += float(np.sum(np.maximum(terms + best, 0.0)))
        return total

    def value(self, beta: Array, gradient: Array) -> float:
        """½βᵀKβ + pᵀβ + κ·Σ|β|, from the gradient Kβ + p."""
        half = 0.5 * float(beta @ (gradient + self.linear))
        return half + self.kink * float(np.abs(beta).sum())


def _finite(products: Array) -> Array:
    """Products with 0 for 0·∞, and large numbers for infinite ones; mostly there are none."""
    return products if np.isfinite(products).all() else np.nan_to_num(products)


@dataclass(frozen=True)
class DualSolution:
    """β, the gradient Kβ + p, b of each group, and how the solver stopped."""

    beta: Array
    gradient: Array
    offsets: list[float]
    outcome: Outcome
    steps: int
    violation: float
    value: float
    gap: float
    flat: bool = False
    """Whether the function is constant up to rounding errors."""


def minimise_dual(
    rows: GramRows,
    dual: BoxDual,
    *,
    tolerance: float,
    max_steps: int | None = None,
    shrinking: bool = True,
    watch: Watch | None = None,
) -> DualSolution:
    """Steps of two variables until no pair violates optimality by more than the tolerance.

    Cost: O(m) for each step, and O(m d) for each row of the kernel that is not in the cache.
    """
    m = len(dual.linear)
    beta = np.zeros(m) if dual.start is None else dual.start.astype(np.float64)
    gradient = dual.linear.astype(np.float64)
    if dual.start is not None:
        gradient += rows.times(beta, np.arange(m))
    limit = max(LEAST_STEPS, 100 * m) if max_steps is None else max_steps
    watch = Watch() if watch is None else watch
    run = _Run(rows, dual, beta, gradient)
    outcome, steps, violation, before = None, 0, math.inf, math.inf
    next_face = STEPS_BETWEEN_FACES * m
    while outcome is None:
        work = min(WORK_PER_CALL, WORK_PER_SECOND * max(watch.remaining, 0.0))
        some = min(limit - steps, next_face - steps, int(work / max(m, 100)) + 1)
        least = max(tolerance, run.rounding())
        taken, violation, stalled = run.advance(some, least)
        steps += taken
        # Without a step no further one follows: the gain of every pair overflows or vanishes.
        stalled = stalled or violation <= least or (taken == 0 and some > 0)
        if (violation <= tolerance or stalled) and run.active is not None:
            run.restore()
        elif violation <= tolerance:
            outcome = Outcome.CONVERGED
        elif stalled or (run.active is None and run.stands_still(before)):
            outcome = Outcome.STALLED
        elif steps >= limit:
            outcome = Outcome.STEPS_EXHAUSTED
        else:
            before = dual.value(beta, gradient) if run.active is None else math.inf
            verdict = watch(steps, beta, math.nan)
            if verdict is not Verdict.GO_ON:
                late = verdict is Verdict.OUT_OF_TIME
                outcome = Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED
            elif steps >= next_face:
                run.on_face()
                next_face = steps + STEPS_BETWEEN_FACES * m
            elif shrinking and steps >= STEPS_BEFORE_SHRINKING * m:
                run.shrink()
    if run.active is not None:
        run.restore()
    offsets = dual.offsets(beta, gradient)
    value, gap = dual.value(beta, gradient), dual.gap(beta, gradient, offsets)
    return DualSolution(beta, gradient, offsets, outcome, steps, violation, value, gap)


class _Run:
    """The variables in play: all of them, or those that are not settled."""

    def __init__(self, rows: GramRows, dual: BoxDual, beta: Array, gradient: Array) -> None:
        self.rows, self.dual, self.beta, self.gradient = rows, dual, beta, gradient
        self.active: Array | None = None
        self.times_restored = 0
        self._now = (rows, dual, beta, gradient)

    def advance(self, steps: int, tolerance: float) -> tuple[int, float, bool]:
        rows, dual, beta, gradient = self._now
        split = len(beta) if dual.split is None else dual.split
        taken, violation, stalled, _ = rows.descend(
            dual.lower, dual.upper, dual.kink, split, beta, gradient, steps, tolerance
        )
        return taken, violation, stalled

    def on_face(self) -> None:
        """Move the free variables to their minimum together."""
        rows, dual, beta, gradient = self._now
        minimise_on_face(rows, dual, beta, gradient)

    def rounding(self) -> float:
        """A violation at the level of the rounding errors of the gradient Kβ + p."""
        rows, dual, beta, gradient = self._now
        entries = max(np.abs(gradient).max(initial=0.0), np.abs(dual.linear).max(initial=0.0))
        terms = np.abs(rows.diagonal).max(initial=0.0) * np.abs(beta).max(initial=0.0)
        return EPSILON * max(4.0 * float(entries), float(terms))

    def stands_still(self, before: float) -> bool:
        """Whether the objective of all variables has not decreased since it had this value."""
        value = self.dual.value(self.beta, self.gradient)
        return before - value <= LEAST_DECREASE * abs(value)

    def shrink(self) -> None:
        """Leave out the settled variables, if they are many."""
        rows, dual, beta, gradient = self._now
        if len(beta) < MIN_SHRINKABLE or self.times_restored >= MOST_SHRINKINGS:
            return
        stays = np.flatnonzero(~dual.settled(beta, gradient))
        if len(stays) > WORTH_SHRINKING * len(beta) or len(stays) < 3:
            return
        self._store()
        self.active = stays if self.active is None else self.active[stays]
        self._now = (rows.kept(stays), dual.part(stays), beta[stays], gradient[stays])

    def _store(self) -> None:
        if self.active is not None:
            _, _, beta, gradient = self._now
            self.beta[self.active], self.gradient[self.active] = beta, gradient

    def restore(self) -> None:
        """Bring all variables back; the derivatives of those left out are computed again."""
        self._store()
        left_out = np.ones(len(self.beta), dtype=bool)
        left_out[self.active] = False
        others = np.flatnonzero(left_out)
        self.gradient[others] = self.dual.linear[others] + self.rows.times(self.beta, others)
        self.rows.restored()
        self.active = None
        self.times_restored += 1
        self._now = (self.rows, self.dual, self.beta, self.gradient)
