"""Cutting planes for sums of maxima of linear functions, with a duality gap.

    F(w) = λ/2·‖w‖² + Σᵢ cᵢ·max over y of (Δᵢ(y) − w·ψᵢ(y))

Each maximum is over many y, too many to list. A search finds the y that attains it, and its plane
(ψ, Δ) is kept. The dual with the planes so far,

    D(a) = −λ/2·‖w‖² + Σᵢ cᵢ Σ_y aᵢ(y)Δᵢ(y),    w = Σᵢ cᵢ Σ_y aᵢ(y)ψᵢ(y)/λ,    aᵢ on the simplex,

is increased by moving weight, term by term, from the plane of the smallest value that has weight to
that of the largest (pairwise steps of Frank and Wolfe's method), and by exact steps on the planes
with weight. If this is slow, as with columns that are large relative to λ, an interior point method
finds the maximum. D never exceeds the minimum of F, so that the smallest F so far minus D bounds
the error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.dual.plane_program import plane_program
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.parts import whole

MOST_FREE = 400
"""Planes with weight up to which an exact step is made: it costs their number cubed."""
MOST_TURNS = 20
"""Turns of passes and exact steps between two searches."""
MOST_EXACT = 30
"""Most exact steps in a row, each of which drops a plane."""
TURNS_BEFORE_PROGRAM = 2
"""Turns after which the interior point method is used instead, if it is not too slow."""
LARGEST_PROGRAM = 2e9
"""Largest planes·size² for the interior point method: the operations of one of its steps."""
NEGLIGIBLE = 1e-7
"""Weights of an interior point that count as 0 when exact steps are tried."""
MOST_WORK = 2e9
"""Operations between two searches after which no further turn of passes is started."""
SLOW_PASSES = 5
"""As below, for the interior point method to take the place of passes."""
SLOW_AFTER = 50
"""Searches in which the gap must decrease by a tenth; otherwise the run ends."""
UNUSED_FOR = 20
"""Searches after which a plane without weight is dropped."""


@dataclass(frozen=True)
class CuttingPlanes(Method):
    """Cutting planes for structured losses, with pairwise dual steps between the searches.

    Formula: D(a) = −λ/2·‖w‖² + Σᵢ cᵢ Σ_y aᵢ(y)Δᵢ(y) is maximised over the planes found so far, then
    the most violated plane of every term is added. For problems with ``structured_terms``. The gap
    is the duality gap. Cost per step: one search per term, and `passes` times O(size of w) for
    each term with a violated plane. If passes are slow, the planes are the constraints of a
    quadratic program that an interior point method solves, at O(planes·size² + size³) for each of
    its steps. The run ends early if the gap hardly decreases in 50 searches.

    Parameters
    ----------
    passes : int, default=100
        Number of passes over the terms between two exact steps. More passes need fewer searches,
        which is useful if the search is slow. Must be at least 1.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model = th.StructuredSVM("multiclass", alpha=0.1).fit(X, y)
    >>> model.solution_.solver, bool(model.solution_.gap < 1e-6)
    ('cutting_planes', True)
    """

    passes: int = whole(100, at_least=1)

    name = "cutting_planes"
    needs = ("structured_terms",)
    gap_kind = "duality gap"
    default_max_steps = 1000

    def start(self, problem: Any, theta: Array) -> State:
        terms = problem.structured_terms()
        planes = Planes(terms.shares, terms.alpha, len(theta))
        return self._searched(terms, planes, State(theta, np.inf, np.inf), planes.weights())

    def advance(self, problem: Any, state: State) -> State:
        planes: Planes = state.memory["planes"]
        before = planes.dual()
        w = planes.improve(self.passes, 0.01 * state.memory["inner"], 0.01 * state.gap)
        found = self._searched(state.memory["terms"], planes, state, w)
        rounding = 1e-15 * (1.0 + abs(found.value))
        idle = not found.memory["added"] and planes.dual() <= before + rounding
        idle = idle and not found.value < state.value
        # Passes add up rounding errors in w, so that they may end too early.
        if not planes.slow and (idle or found.memory["slow"] >= SLOW_PASSES):
            planes.slow = True
        else:
            found.stalled = idle or found.memory["slow"] > SLOW_AFTER
        return found

    def _searched(self, terms: Any, planes: Planes, last: State, w: Array) -> State:
        """Search at w: F there, the gap, and a new plane for every term."""
        value, added = 0.5 * terms.alpha * float(w @ w), 0
        dual = planes.dual()
        for term, (key, plane, violation) in enumerate(terms.most_violated(w, planes.known)):
            value += float(terms.shares[term]) * violation
            if plane is not None:
                planes.add(term, key, *plane)
                added += 1
        planes.drop_unused()
        theta, best = (w, value) if value <= last.value else (last.theta, last.value)
        gap = max(best - dual, 0.0)
        mark, slow = last.memory.get("mark", np.inf), last.memory.get("slow", 0)
        memory = {
            "planes": planes,
            "terms": terms,
            "added": added,
            "inner": max(value - dual, 0.0),
            "mark": gap if gap < 0.9 * mark else mark,
            "slow": 0 if gap < 0.9 * mark else slow + 1,
        }
        return State(theta, best, gap, memory)


@dataclass
class Planes:
    """The planes of all terms, with their weights aᵢ(y); each term starts with ψ = 0, Δ = 0."""

    shares: Array
    alpha: float
    size: int
    known: list[dict[Any, int]] = field(init=False)
    """For every term the places of its planes by their keys; None is the key of the output y."""
    psi: Array = field(init=False)
    delta: Array = field(init=False)
    a: Array = field(init=False)
    term: Array = field(init=False)
    idle: Array = field(init=False)
    count: int = field(init=False)
    slow: bool = field(init=False, default=False)
    """Whether passes were too slow before; then the interior point method is used at once."""

    def __post_init__(self) -> None:
        n = len(self.shares)
        self.known = [{None: i} for i in range(n)]
        self.count = n
        self.psi, self.delta, self.a = (
            np.zeros((2 * n, self.size)),
            np.zeros(2 * n),
            np.zeros(2 * n),
        )
        self.a[:n] = 1.0
        self.term, self.idle = np.zeros(2 * n, dtype=np.intp), np.zeros(2 * n, dtype=np.intp)
        self.term[:n] = np.arange(n)

    def add(self, term: int, key: Any, psi: Array, delta: float) -> None:
        if self.count == len(self.delta):
            grown = 2 * self.count
            for name in ("psi", "delta", "a", "term", "idle"):
                old = getattr(self, name)
                new = np.zeros((grown, *old.shape[1:]), dtype=old.dtype)
                new[: self.count] = old
                setattr(self, name, new)
        at = self.count
        self.psi[at], self.delta[at], self.a[at] = psi, delta, 0.0
        self.term[at], self.idle[at] = term, 0
        self.known[term][key] = at
        self.count += 1

    def drop_unused(self) -> None:
        """Forget planes that have had no weight for many searches."""
        used = slice(0, self.count)
        self.idle[used] = np.where(self.a[used] > 0, 0, self.idle[used] + 1)
        keep = self.idle[used] <= UNUSED_FOR
        keep[: len(self.shares)] = True
        if keep.sum() > self.count // 2:
            return
        places = np.cumsum(keep) - 1
        for name in ("psi", "delta", "a", "term", "idle"):
            values = getattr(self, name)
            values[: keep.sum()] = values[used][keep]
        self.known = [
            {key: int(places[at]) for key, at in each.items() if keep[at]} for each in self.known
        ]
        self.count = int(keep.sum())

    def weights(self) -> Array:
        """w = Σᵢ cᵢ Σ_y aᵢ(y)ψᵢ(y)/λ."""
        used = slice(0, self.count)
        factor = self.a[used] * self.shares[self.term[used]] / self.alpha
        return factor @ self.psi[used]

    def dual(self) -> float:
        """D(a)."""
        used = slice(0, self.count)
        w = self.weights()
        gain = float((self.shares[self.term[used]] * self.a[used]) @ self.delta[used])
        return gain - 0.5 * self.alpha * float(w @ w)

    def improve(self, passes: int, tolerance: float, of_program: float) -> Array:
        """Increase D over the known planes until their own gap is within the tolerance; return w.

        The w of an interior point may be more accurate than that of the weights, a sum in which
        large planes cancel.
        """
        small = self.count * self.size**2 <= LARGEST_PROGRAM
        if small and self.slow:
            return self._program(of_program)
        order = np.argsort(self.term[: self.count], kind="stable")
        counts = np.bincount(self.term[: self.count], minlength=len(self.shares))
        starts = np.append(0, np.cumsum(counts))
        turns = int(np.clip(MOST_WORK / (passes * self.count * self.size), 1, MOST_TURNS))
        for _ in range(min(turns, TURNS_BEFORE_PROGRAM) if small else turns):
            gap = _native.plane_weights(
                self.psi[: self.count],
                self.delta[: self.count],
                self.a[: self.count],
                order,
                starts,
                self.shares,
                self.alpha,
                self.weights(),
                passes,
                tolerance,
            )
            for _ in range(MOST_EXACT):
                if not self._exact(self.weights()):
                    break
            if gap <= tolerance:
                return self.weights()
        self.slow = True
        return self._program(of_program) if small else self.weights()

    def _program(self, tolerance: float) -> Array:
        """Take the weights of an interior point if they increase D; return its w, or theirs."""
        used, terms = slice(0, self.count), len(self.shares)
        before, kept = self.dual(), self.a[used].copy()
        w, found = plane_program(
            self.psi[used], self.delta[used], self.term[used], self.shares, self.alpha, tolerance
        )
        self.a[used] = found
        if not self.dual() > before:
            self.a[used] = kept
        # Rounded weights have more zeros, which exact steps need; D must not decrease by it.
        exact, best = self.a[used].copy(), self.dual()
        self.a[used] = np.where(exact < NEGLIGIBLE, 0.0, exact)
        self.a[used] /= np.bincount(self.term[used], self.a[used], terms)[self.term[used]]
        for _ in range(MOST_EXACT):
            if not self._exact(self.weights()):
                break
        if self.dual() < best:
            self.a[used] = exact
        return min(w, self.weights(), key=self._value)

    def _value(self, w: Array) -> float:
        """F(w) with the known planes only."""
        used = slice(0, self.count)
        tops = np.full(len(self.shares), -np.inf)
        np.maximum.at(tops, self.term[used], self.delta[used] - self.psi[used] @ w)
        return 0.5 * self.alpha * float(w @ w) + float(self.shares @ tops)

    def _exact(self, w: Array) -> bool:
        """The maximum of D over planes with weight, or the first point where a weight becomes 0.

        Returns whether a weight became 0, so that another step may increase D further.

        Where all known planes of a term with weight have equal values, D cannot be increased: one
        linear system in the weights and these values.
        """
        used = slice(0, self.count)
        counts = np.bincount(self.term[used][self.a[used] > 0], minlength=len(self.shares))
        free = np.flatnonzero((self.a[used] > 0) & (counts[self.term[used]] > 1))
        terms, of = np.unique(self.term[free], return_inverse=True)
        # With more planes than that, w does not determine the weights, and many must vanish first.
        if not free.size or free.size - len(terms) > self.size or free.size > MOST_FREE:
            return False
        psi, scale = self.psi[free], self.shares[self.term[free]] / self.alpha
        n, m = len(free), len(terms)
        system = np.zeros((n + m, n + m))
        system[:n, :n] = (psi @ psi.T) * scale
        system[np.arange(n), n + of] = 1.0
        system[n + of, np.arange(n)] = 1.0
        values = self.delta[free] - psi @ w
        change = np.linalg.lstsq(system, np.append(values, np.zeros(m)), rcond=1e-13)[0][:n]
        falls = change < 0
        ratio = np.where(falls, self.a[free] / np.where(falls, -change, 1.0), np.inf)
        step = min(1.0, float(ratio.min(initial=np.inf)))
        before, kept = self.dual(), self.a[free].copy()
        self.a[free] = np.where(ratio <= step, 0.0, np.maximum(kept + step * change, 0.0))
        totals = np.bincount(self.term[used], self.a[used], len(self.shares))
        self.a[free] /= totals[self.term[free]]
        if self.dual() <= before:
            self.a[free] = kept
            return False
        return step < 1.0
