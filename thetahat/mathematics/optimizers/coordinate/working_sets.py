"""Coordinate descent on working sets, for least squares with |β|, β² and β ≥ 0 (compiled).

    F(β) = (1/W)·½‖r‖² + Σ_j (l1_j|β_j| + ½ l2_j β_j²),   β_j ≥ lower_j ∈ {−∞, 0}

Most of the d columns have coefficient 0 at the optimum. So F is minimised over a few of them: the
active ones and those whose slopes are nearest to their threshold. Then one pass over all columns
gives the duality gap, permanently removes columns that cannot be active (gap-safe spheres), and
shows which columns to add next. When the gap of the whole problem is within the tolerance, the
active columns are descended once more, until a sweep would hardly move any coefficient: F is flat
near its minimum, so a small gap alone allows coefficients that are several per cent off.

Going directly from zero to a small penalty would add more columns than there are rows, and most of
them would be removed again. Along the path of penalties few columns join at a time and most stay.
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
"""The gap of a working set, as a share of the allowed gap of the whole problem."""
FEWEST_EXPECTED, FEWEST_MORE = 30, 20
"""Smallest number of added columns if the path predicts which columns join, and after that."""
FAR = 4.0
"""Ratio of penalties up to which a point of the path counts as near."""
VANISHING = 1e-6
"""Below this share of the largest penalty, solutions hardly change any more."""
FIRST_SWEEPS, ROUGH = 400, 1e-6
"""Number of sweeps over all columns of a small problem before it counts as difficult, and the share
of ‖y‖² above which sweeps reach a gap quickly."""
EPSILON = 1e-15
"""Moves below this share of ‖y‖ are rounding errors."""
LEAST_SHARE, EXACT_SHARE, SLOPE_ROUNDING = 1e-7, 1e-9, 1e-12
"""How far a sweep may still move a coefficient, relative to the largest one, at least: in general,
and where jumps are cheap. Moves below the last share of ‖y‖ are rounding errors of the slopes."""
MOST_POLISHING = 20
"""Number of working sets after which coefficients count as settled."""


@dataclass
class L1LeastSquares:
    """½‖r‖²/W + Σ_j (l1_j|β_j| + ½ l2_j β_j²) with β_j ≥ lower_j, for a `Design` of the columns.

    Parameters
    ----------
    design : Design
        The columns of X and the target.
    terms : Terms
        The terms l1, l2 and lower, relative to the mean over the rows.
    total : float
        Sum of the row weights (W).
    x_mean, y_mean : array, float
        Means that were subtracted from columns and target; None without an intercept.
    expected : array, optional
        Estimates of the slopes near the optimum, if they are known from a path.
    """

    design: Design
    terms: Terms
    total: float
    x_mean: Array | None = None
    y_mean: float = 0.0
    expected: Array | None = None
    _last: tuple[Array, ResidualState] | None = field(default=None, repr=False)

    def l1_least_squares(self) -> L1LeastSquares:
        """Return the problem itself, in the form that `WorkingSets` needs."""
        return self

    def with_terms(self, terms: Terms) -> L1LeastSquares:
        """The same rows with another penalty; the end point of the last run is kept."""
        return replace(self, terms=terms)

    def start(self) -> Array:
        """β = 0 and the best intercept."""
        return self.pack(np.zeros(self.design.n_columns))

    def pack(self, beta: Array) -> Array:
        """θ: β, and the intercept if there is one."""
        if self.x_mean is None:
            return beta.copy()
        return np.concatenate((beta, (self.y_mean - (self.x_mean * beta).sum(),)))

    def stand(self, beta: Array) -> ResidualState:
        """The state at β, without a pass over the data if it is known."""
        if self._last is None or not np.array_equal(self._last[0], beta):
            self.remember(beta, self.design.begin(beta, self.total * self.terms.l1))
        assert self._last is not None
        return self._last[1]

    def remember(self, beta: Array, residual_state: ResidualState) -> None:
        """Keep the state at β for the next run that starts there."""
        self._last = (beta.copy(), residual_state)


@dataclass(frozen=True)
class WorkingSets(Method):
    """Coordinate descent on growing sets of columns, with gap-safe screening and extrapolation.

    Formula: β_j ← soft(‖x_j‖²β_j + x_jᵀr, W·l1_j)/(‖x_j‖² + W·l2_j), over the columns of a working
    set until its duality gap is small; then over the next. F never increases for a fixed penalty.
    With dense columns, a small penalty is approached through larger ones, each half of the one
    before. CPU only. Cost: O(n d) for each of a few passes over all columns; O(n·s) per sweep over
    s active columns, or O(s²) on their Gram matrix.

    Parameters
    ----------
    least : int, default=100
        Smallest number of columns that are added to a working set beside the active ones. Must be
        at least 1.
    once : bool, default=False
        Whether to descend at least once, even from a start that is within the tolerance.
    first_sweeps : int, default=400
        Largest number of sweeps over all columns of a small problem before working sets are used.
        Must be non-negative.
    polish : bool, default=True
        Whether to iterate, when the gap is within the tolerance, until the coefficients settle too.
        Paths of many penalties do not use it where it would cost a multiple of their time.

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
    polish: bool = True

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
        """Run with sweeps as the counted steps; a working set makes as many as it needs."""
        state = self.start(problem, theta)
        if self.polish:
            _settle(state, monitor.tolerance)
        monitor.begin(state)
        quadratic, far = state.memory["quadratic"], state.gap > monitor.tolerance
        if monitor.goes_on and far and self.first_sweeps:
            if sweeps_suit(quadratic, monitor.tolerance):
                state = self._sweep_first(state, monitor)
                far = state.gap > monitor.tolerance
        if monitor.goes_on and far and quadratic.design.along_the_path:
            state = self._along_the_path(state, monitor)
        polished = 0
        while monitor.goes_on:
            polished += state.gap <= monitor.tolerance
            state = self._advance(state, monitor.max_steps - monitor.steps, monitor.tolerance)
            _observe(monitor, state, enough=not self.polish or polished >= MOST_POLISHING)

    def _sweep_first(self, state: State, monitor: Monitor) -> State:
        """Sweep over all columns; if that does not converge, return to the start."""
        most = min(self.first_sweeps, monitor.max_steps)
        swept = self._advance(state, most, monitor.tolerance, over_all=True)
        if swept.gap > monitor.tolerance:
            return state
        _observe(monitor, swept, enough=not self.polish)
        return swept

    def _along_the_path(self, state: State, monitor: Monitor) -> State:
        """Approach a small penalty through larger ones."""
        quadratic = state.memory["quadratic"]
        for times in _larger_penalties(state, monitor.tolerance):
            ahead = _under(_larger(quadratic, times), state)
            while monitor.goes_on and ahead.gap > monitor.tolerance and not ahead.stalled:
                ahead = self._advance(ahead, monitor.max_steps - monitor.steps, monitor.tolerance)
                state = _under(quadratic, ahead)
                _observe(monitor, state, enough=not self.polish)
        return state

    def _advance(
        self, state: State, sweeps: int, tolerance: float, over_all: bool = False
    ) -> State:
        memory = state.memory
        quadratic, terms = memory["quadratic"], memory["terms"]
        design, beta = quadratic.design, memory["beta"].copy()
        polishes = state.gap <= tolerance
        limits = limits_of(quadratic, tolerance, sweeps, over_all)
        if polishes or (self.polish and design.settles_at_once):
            limits = limits._replace(share=share_of(quadratic, tolerance, beta))
        if over_all or design.takes_all:
            progress = design.descend_all(beta, terms, limits)
        else:
            working = _violated(memory) if polishes else self._working_set(memory, beta)
            progress = design.descend(beta, working, terms, limits)
        residual_state = design.residual_state(terms.l1)
        quadratic.remember(beta, residual_state)
        stalled = progress.stuck and progress.sweeps == 1
        return _state(
            quadratic, terms, beta, residual_state, memory["alive"], progress.sweeps, stalled
        )

    def _working_set(self, memory: dict[str, Any], beta: Array) -> Array:
        """The active columns, and those nearest to becoming active."""
        quadratic, terms = memory["quadratic"], memory["terms"]
        room, alive = _room(quadratic, terms, beta, memory["residual_state"], memory["dual"])
        memory["alive"] = alive if memory["alive"] is None else alive & memory["alive"]
        idle = np.flatnonzero(memory["alive"] & (beta == 0))
        extra = max(self.least, int(np.count_nonzero(beta)) // 2)
        if quadratic.expected is not None:  # on a path the columns that join are predictable
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
    """The gap and value at β, and which columns may still be active at the optimum."""
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


def _observe(monitor: Monitor, state: State, enough: bool = False) -> None:
    """Report a descent, whose sweeps are the counted steps."""
    if not enough:
        _settle(state, monitor.tolerance)
    monitor.steps += state.memory["sweeps"] - 1
    monitor.observe(state)


def _settle(state: State, tolerance: float) -> None:
    """Find out whether coefficients whose gap is small are accurate themselves."""
    if state.gap <= tolerance:
        memory = state.memory
        design, at = memory["quadratic"].design, memory["residual_state"]
        move, size = _native.lasso_move(
            memory["beta"], at.slopes, at.slack, design.squares, *memory["terms"]
        )
        least = SLOPE_ROUNDING * design.target_squared**0.5
        share = share_of(memory["quadratic"], tolerance, memory["beta"])
        state.settled = move <= max(share * size, least)


def share_of(quadratic: L1LeastSquares, tolerance: float, beta: Array | None = None) -> float:
    """How far a sweep may still move a coefficient, relative to the largest one.

    As far as the gap may be from zero, relative to ‖y‖². Where a jump to the minimum of the active
    columns costs little, it is always made.
    """
    design = quadratic.design
    if beta is not None and design.jumps_cheaply(int(np.count_nonzero(beta))):
        return EXACT_SHARE
    target_squared = design.target_squared
    relative = tolerance * quadratic.total / target_squared if target_squared > 0 else 0.0
    return max(relative, LEAST_SHARE)


def _violated(memory: dict[str, Any]) -> Array:
    """The active columns, and those at zero that a sweep would move."""
    (l1, _, lower), slopes = memory["terms"], memory["residual_state"].slopes
    steep = np.where(lower == 0, slopes, np.abs(slopes))
    useful = memory["quadratic"].design.squares > 0
    return np.flatnonzero((memory["beta"] != 0) | ((steep > l1) & useful))


def _larger(quadratic: L1LeastSquares, times: float) -> L1LeastSquares:
    """The same problem with l1 multiplied by `times`."""
    return quadratic.with_terms(quadratic.terms._replace(l1=times * quadratic.terms.l1))


def _under(quadratic: L1LeastSquares, state: State) -> State:
    """The same point with another penalty."""
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
    """Whether sweeps over all columns are likely to be fastest."""
    design = quadratic.design
    can_sweep = design.sweeps_all and design.is_small
    return can_sweep and tolerance * quadratic.total >= ROUGH * design.target_squared


def limits_of(
    quadratic: L1LeastSquares,
    tolerance: float,
    sweeps: int,
    over_all: bool = False,
    settles: bool = False,
) -> Limits:
    """When a descent over some columns, or all, is accurate enough for the whole problem."""
    return Limits(
        (1.0 if over_all else INNER_SHARE) * tolerance * quadratic.total,
        EPSILON * quadratic.design.target_squared**0.5,
        sweeps,
        share_of(quadratic, tolerance) if settles else np.inf,
    )


def _sums(quadratic: L1LeastSquares) -> Terms:
    """The terms for sums over the rows."""
    l1, l2, lower = quadratic.terms
    return Terms(l1 * quadratic.total, l2 * quadratic.total, lower)


def _larger_penalties(state: State, tolerance: float) -> Iterator[float]:
    """Penalties from that of a point on the path, each half of the one before."""
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
    """How far each column is from becoming active, and whether it may be active at the optimum."""
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
