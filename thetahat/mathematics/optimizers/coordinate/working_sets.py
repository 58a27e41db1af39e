"""Coordinate descent on working sets, for least squares with |β|, β² and β ≥ 0 (compiled).

    F(β) = (1/W)·½‖r‖² + Σ_j (l1_j|β_j| + ½ l2_j β_j²),   β_j ≥ lower_j ∈ {−∞, 0}

Most of the d columns do nothing at the optimum. So F is minimised over a few of them, those in use
and those whose slopes are nearest to their threshold; then one pass over all columns gives the
duality gap, drops for good the columns that cannot be in use (gap-safe spheres), and says which
ones to take in next. The run ends when the gap of the whole problem is within the tolerance.

Straight from zero to a small penalty, more columns than there are rows would be taken in at once,
and most of them given up again. Along the path few join at a time, and nearly all of them stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.column_designs import Design, ResidualState
from thetahat.mathematics.optimizers.coordinate.gram_descent import Limits, Terms
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.parts import require_whole

INNER_SHARE = 0.3
"""The gap of a working set, as a share of what the whole problem may have."""
FEWEST_EXPECTED, FEWEST_MORE = 30, 20
"""Fewest columns that are taken in where a path tells who is likely to join, and after that."""
FAR = 4.0
"""How many times too small a penalty may be for a point of the path, and still be near."""
VANISHING = 1e-6
"""The share of the largest penalty below which solutions hardly change any more."""
FIRST_SWEEPS, ROUGH = 400, 1e-6
"""Sweeps over all columns of a small problem before it is taken for a hard one, and the share of
‖y‖² from which on a gap is one that sweeps come to soon."""
EPSILON = 1e-15
"""Moves below this share of ‖y‖ are rounding."""


@dataclass
class L1LeastSquares:
    """½‖r‖²/W + Σ_j (l1_j|β_j| + ½ l2_j β_j²) with β_j ≥ lower_j, by a `Design` of its columns.

    Parameters
    ----------
    design : Design
        The columns and the target.
    terms : Terms
        l1, l2 and lower, for the mean over the rows.
    total : float
        W, the sum of the weights.
    x_mean, y_mean : array, float
        Where the columns and the target are centred; None when there is no intercept.
    expected : array, optional
        What the slopes are likely to be near the optimum, where that is known of a path.
    """

    design: Design
    terms: Terms
    total: float
    x_mean: Array | None = None
    y_mean: float = 0.0
    expected: Array | None = None
    _last: tuple[Array, ResidualState] | None = field(default=None, repr=False)

    def l1_least_squares(self) -> L1LeastSquares:
        """Itself: what `WorkingSets` asks any problem for."""
        return self

    def with_terms(self, terms: Terms) -> L1LeastSquares:
        """The same rows under another penalty; where the last run ended is remembered."""
        return replace(self, terms=terms)

    def start(self) -> Array:
        """β = 0 and the best intercept."""
        return self.pack(np.zeros(self.design.n_columns))

    def pack(self, beta: Array) -> Array:
        """θ: β, and the intercept where there is one."""
        if self.x_mean is None:
            return beta.copy()
        return np.append(beta, self.y_mean - np.sum(self.x_mean * beta))

    def stand(self, beta: Array) -> ResidualState:
        """Where β stands, without a pass when that is known."""
        if self._last is None or not np.array_equal(self._last[0], beta):
            self.remember(beta, self.design.begin(beta, self.total * self.terms.l1))
        assert self._last is not None
        return self._last[1]

    def remember(self, beta: Array, residual_state: ResidualState) -> None:
        """Keep where β stands for the next run that begins there."""
        self._last = (beta.copy(), residual_state)


@dataclass(frozen=True)
class WorkingSets(Method):
    """Coordinate descent on growing sets of columns, with gap-safe screening and extrapolation.

    Formula: β_j ← soft(‖x_j‖²β_j + x_jᵀr, W·l1_j)/(‖x_j‖² + W·l2_j), over the columns of a working
    set until its duality gap is small; then over the next. Cost: O(n d) per pass over all columns,
    of which there are a few; O(n·s) per sweep over s columns in use, or O(s²) on their Gram matrix.
    CPU only. F never rises; but dense columns come to a small penalty by larger ones, each half of
    the one before, and on the way it is theirs that does not.

    Parameters
    ----------
    least : int
        Fewest columns that are taken into a working set beside those in use.
    once : bool
        Descend at least once, even from a start that is within the tolerance.
    first_sweeps : int
        The most sweeps over all columns of a small problem, before columns are chosen.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.eye(3, 5), np.array([3.0, 0.2, -1.0])
    >>> lasso = th.LinearModel(penalty=th.penalties.L1(1 / 6), fit_intercept=False).fit(X, y)
    >>> lasso.solution_.solver, lasso.solution_.gap_kind
    ('working_sets', 'duality gap')
    >>> lasso.coef_.round(6).tolist()
    [2.5, 0.0, -0.5, 0.0, 0.0]
    """

    least: int = 100
    once: bool = False
    first_sweeps: int = FIRST_SWEEPS

    name = "working_sets"
    needs = ("l1_least_squares",)
    gap_kind = "duality gap"
    default_max_steps = 10_000

    def __post_init__(self) -> None:
        require_whole(self, "least", at_least=1)
        require_whole(self, "first_sweeps", at_least=0)

    def start(self, problem: Any, theta: Array) -> State:
        quadratic = problem.l1_least_squares()
        terms = _sums(quadratic)
        given = np.asarray(theta[: quadratic.design.n_columns], dtype=np.float64)
        beta, empty = np.maximum(given, terms.lower), quadratic.design.squares <= 0
        if empty.any():
            beta[empty & (terms.l1 + terms.l2 > 0)] = 0.0
        state = _state(quadratic, terms, beta, quadratic.stand(beta))
        if self.once:
            state.gap = np.inf
        return state

    def advance(self, problem: Any, state: State) -> State:
        return self._advance(state, self.default_max_steps, 0.0)

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """The steps that are counted are sweeps; a working set takes as many as it needs."""
        state = self.start(problem, theta)
        monitor.begin(state)
        quadratic = state.memory["quadratic"]
        if monitor.goes_on and self.first_sweeps and sweeps_suit(quadratic, monitor.tolerance):
            self._sweep_first(state, monitor)
        if monitor.goes_on and quadratic.design.along_the_path:
            state = self._along_the_path(state, monitor)
        while monitor.goes_on:
            state = self._advance(state, monitor.max_steps - monitor.steps, monitor.tolerance)
            monitor.steps += state.memory["sweeps"] - 1
            monitor.observe(state)

    def _sweep_first(self, state: State, monitor: Monitor) -> None:
        """Over all columns; where that does not arrive, another way begins at the start."""
        most = min(self.first_sweeps, monitor.max_steps)
        swept = self._advance(state, most, monitor.tolerance, over_all=True)
        if swept.gap <= monitor.tolerance:
            monitor.steps += swept.memory["sweeps"] - 1
            monitor.observe(swept)

    def _along_the_path(self, state: State, monitor: Monitor) -> State:
        """Towards a small penalty by larger ones."""
        quadratic = state.memory["quadratic"]
        for times in _larger_penalties(state, monitor.tolerance):
            ahead = _under(_larger(quadratic, times), state)
            while monitor.goes_on and ahead.gap > monitor.tolerance and not ahead.stalled:
                ahead = self._advance(ahead, monitor.max_steps - monitor.steps, monitor.tolerance)
                state = _under(quadratic, ahead)
                monitor.steps += state.memory["sweeps"] - 1
                monitor.observe(state)
        return state

    def _advance(
        self, state: State, sweeps: int, tolerance: float, over_all: bool = False
    ) -> State:
        memory = state.memory
        quadratic, terms = memory["quadratic"], memory["terms"]
        design, beta = quadratic.design, memory["beta"].copy()
        limits = limits_of(quadratic, tolerance, sweeps, over_all)
        if over_all or design.takes_all:
            progress = design.descend_all(beta, terms, limits)
        else:
            progress = design.descend(beta, self._working_set(memory, beta), terms, limits)
        residual_state = design.residual_state(terms.l1)
        quadratic.remember(beta, residual_state)
        stalled = progress.stuck and progress.sweeps == 1
        return _state(
            quadratic, terms, beta, residual_state, memory["alive"], progress.sweeps, stalled
        )

    def _working_set(self, memory: dict[str, Any], beta: Array) -> Array:
        """The columns in use, and those nearest to being so."""
        quadratic, terms = memory["quadratic"], memory["terms"]
        room, alive = _room(quadratic, terms, beta, memory["residual_state"], memory["dual"])
        memory["alive"] = alive if memory["alive"] is None else alive & memory["alive"]
        idle = np.flatnonzero(memory["alive"] & (beta == 0))
        extra = max(self.least, int(np.count_nonzero(beta)) // 2)
        if quadratic.expected is not None:  # a path: it is known who is likely to join
            if not memory["sweeps"]:
                expected = quadratic.expected
                room = terms.l1 - np.where(terms.lower == 0, expected, np.abs(expected))
            few = FEWEST_EXPECTED if not memory["sweeps"] else FEWEST_MORE
            extra = min(extra, max(few, int(np.count_nonzero(room[idle] <= 0))))
        if len(idle) > extra:
            idle = idle[np.argpartition(room[idle], extra)[:extra]]
        return np.sort(np.concatenate([np.flatnonzero(beta), idle]))


def _state(
    quadratic: L1LeastSquares,
    terms: Terms,
    beta: Array,
    residual_state: ResidualState,
    alive: Array | None = None,
    sweeps: int = 0,
    stalled: bool = False,
) -> State:
    """The gap and value at β, and what tells which columns may still be in use at the optimum."""
    slopes, squared, with_target, slack = residual_state
    gap, scaled_gap, scale, value = _native.lasso_gap(
        beta, slopes, slack, *terms, squared, with_target
    )
    memory = {
        "quadratic": quadratic,
        "terms": terms,
        "beta": beta,
        "residual_state": residual_state,
        "dual": (scaled_gap, scale),
        "alive": alive,
        "sweeps": sweeps,
    }
    total = quadratic.total
    return State(quadratic.pack(beta), value / total, gap / total, memory, stalled)


def _larger(quadratic: L1LeastSquares, times: float) -> L1LeastSquares:
    """The same problem where l1 is so many times as large."""
    return quadratic.with_terms(quadratic.terms._replace(l1=times * quadratic.terms.l1))


def _under(quadratic: L1LeastSquares, state: State) -> State:
    """The same point where the penalty is another."""
    memory = state.memory
    quadratic.remember(memory["beta"], memory["residual_state"])
    return _state(
        quadratic,
        _sums(quadratic),
        memory["beta"],
        memory["residual_state"],
        sweeps=memory["sweeps"],
    )


def sweeps_suit(quadratic: L1LeastSquares, tolerance: float) -> bool:
    """Whether sweeps over all columns are likely to be the shortest way."""
    design = quadratic.design
    return design.is_small and tolerance * quadratic.total >= ROUGH * design.target_squared


def limits_of(
    quadratic: L1LeastSquares, tolerance: float, sweeps: int, over_all: bool = False
) -> Limits:
    """When a descent over some columns, or all, has done enough for a gap of the whole problem."""
    return Limits(
        (1.0 if over_all else INNER_SHARE) * tolerance * quadratic.total,
        EPSILON * quadratic.design.target_squared**0.5,
        sweeps,
    )


def _sums(quadratic: L1LeastSquares) -> Terms:
    """The terms for sums over the rows."""
    l1, l2, lower = quadratic.terms
    return Terms(l1 * quadratic.total, l2 * quadratic.total, lower)


def _larger_penalties(state: State, tolerance: float) -> Iterator[float]:
    """From the one of a point on the path, each half of the one before."""
    memory, quadratic = state.memory, state.memory["quadratic"]
    (l1, _, lower), slopes = memory["terms"], memory["residual_state"].slopes
    steep = np.where(lower == 0, slopes, np.abs(slopes))[l1 > 0]
    times = float(np.max(steep / l1[l1 > 0], initial=0.0))
    if times > FAR and _under(_larger(quadratic, times), state).gap <= tolerance:
        least = max(FAR, VANISHING * times)
        while times > least:
            times /= 2
            yield times


def _room(
    quadratic: L1LeastSquares,
    terms: Terms,
    beta: Array,
    residual_state: ResidualState,
    dual: tuple[float, float],
) -> tuple[Array, Array]:
    """How far each column is from being in use, and whether it may be so at the optimum."""
    scaled_gap, scale = dual
    room = np.empty_like(beta)
    _native.lasso_room(
        beta,
        residual_state.slopes,
        residual_state.slack,
        quadratic.design.squares,
        *terms,
        scale,
        room,
    )
    return room, (room <= np.sqrt(2 * scaled_gap)) | (beta != 0)
