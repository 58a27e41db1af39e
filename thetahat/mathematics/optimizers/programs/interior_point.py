"""Primal-dual interior point method for piecewise linear sums (Frisch, Newton, Mehrotra).

Every term has a slope a strictly between below and above, and two multipliers p, q > 0 with
s = q − p. At the optimum p·(a − below) = 0 and q·(above − a) = 0; during the run both products are
kept near a common μ that goes to 0. One Newton step on these equations is one p × p system

    (Σ w D x xᵀ + L2) Δθ = right side,    D = 1/(p/(a − below) + q/(above − a)),

which is solved twice (Mehrotra's predictor and corrector). When the gap is small, the terms at
their kinks are known and θ is the solution of their equations: exact, and zero where it is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum
from thetahat.mathematics.optimizers.programs.vertex import nearest_vertex

SHORT_OF_THE_BOUNDARY = 0.9995
"""Largest share of the distance to the nearest bound that a step may cover."""
NEAR_ENOUGH_TO_ROUND = 1e-5
"""Below this gap the exact solution is tried."""
SHORTEST_STEP = 1e-7
"""If steps are shorter than this share, rounding limits the accuracy of the equations."""
SMALLEST_PIVOT = 1e-15
TINY = 1e-300


@dataclass(frozen=True)
class InteriorPoint(Method):
    """Interior point method for quantile, absolute and ε-insensitive regression.

    These are linear programs, or quadratic programs with an L2 penalty. The gap is the duality gap
    relative to F at the start. It is an upper bound of F(θ) − min F, so it certifies the result.
    Cost per step: one weighted Gram matrix, O(n d²), and four products, O(n d); O(n) memory in
    addition to the data. Ten to thirty steps are enough for any n.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> line = np.column_stack([np.arange(4.0), np.ones(4)])
    >>> problem = th.optimizers.PiecewiseLinearSum.of_matrix(line, [1.0, 3.0, 50.0, 7.0])
    >>> solution = th.minimise(problem, th.optimizers.InteriorPoint())
    >>> solution.theta.round(9), solution.gap < 1e-12
    (array([2., 1.]), True)
    """

    name = "interior_point"
    aliases = ("frisch_newton", "linear_programming")
    needs = ("piecewise_linear",)
    gap_kind = "duality gap, as a share of the objective at the start"
    default_max_steps = 200

    def start(self, problem: Any, theta: Array) -> State:
        lines = problem.piecewise_linear()
        inside = lines.inside(theta)
        s = lines.distances(inside)
        below, above = lines.term_below, lines.term_above
        slopes = np.where((below < 0) & (above > 0), 0.0, (below + above) / 2)
        room = float(np.sum(lines.term_weight * abs(s)) / np.sum(lines.term_weight))
        room = room if room > 0 else 1.0
        memory = {
            "lines": lines,
            "s": s,
            "slopes": slopes,
            "u": slopes - below,
            "v": above - slopes,
            "p": np.maximum(-s, 0.0) + room,
            "q": np.maximum(s, 0.0) + room,
            "unit": lines.value_at(inside, s) or 1.0,
            "room": room,
            "reach": room / _column_sizes(lines),
        }
        return _state(inside, memory)

    def advance(self, problem: Any, state: State) -> State:
        memory = _step(state.memory)
        if memory is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        reached = _state(memory["theta"], memory)
        if reached.gap <= NEAR_ENOUGH_TO_ROUND:
            rounded = _rounded(reached)
            if rounded is not None:
                return rounded
        return reached


def _step(memory: dict[str, Any]) -> dict[str, Any] | None:
    """One predictor and corrector step; None if the equations can no longer be solved."""
    lines: PiecewiseLinearSum = memory["lines"]
    theta, u, v, p, q, s = (memory[key] for key in ("theta", "u", "v", "p", "q", "s"))
    weight = lines.term_weight
    live = weight > 0
    total = 2 * np.sum(weight)
    D = 1.0 / (p / u + q / v)
    matrix = lines.normal_matrix(D)
    imbalance = lines.pull_back(memory["slopes"]) + lines.l2 * theta
    solve = factored(matrix)

    def towards(to_p: Array | float, to_q: Array | float) -> tuple[Array, ...]:
        """The step after which p·u and q·v are, to first order, to_p·u and to_q·v."""
        push = (q - p) - (to_q - to_p)
        move = solve(-imbalance - lines.pull_back(D * push))
        shift = lines.along(move)
        tilt = D * (shift + push)
        return move, shift, tilt, to_p - p - p / u * tilt, to_q - q + q / v * tilt

    _, _, tilt, dp, dq = towards(0.0, 0.0)
    primal, dual = _reach(live, p, dp, q, dq), _reach(live, u, tilt, v, -tilt)
    level = np.sum(weight * (p * u + q * v)) / total
    ahead = (p + primal * dp) * (u + dual * tilt) + (q + primal * dq) * (v - dual * tilt)
    aim = level * min(1.0, np.sum(weight * ahead) / total / max(level, TINY)) ** 3
    move, shift, tilt, dp, dq = towards((aim - dp * tilt) / u, (aim + dq * tilt) / v)
    if not np.isfinite(move).all() or not np.isfinite(tilt[live]).all():
        return None
    primal, dual = _reach(live, p, dp, q, dq), _reach(live, u, tilt, v, -tilt)
    if max(primal, dual) < SHORTEST_STEP:
        return None
    if lines.l2.any():
        # With θ² terms the primal and dual steps are coupled, so both must have the same length.
        primal = dual = min(primal, dual)
    return {
        **memory,
        "theta": theta + primal * move,
        "s": s + primal * shift,
        "slopes": memory["slopes"] + dual * tilt,
        "u": _kept(live, u, dual * tilt),
        "v": _kept(live, v, -dual * tilt),
        "p": _kept(live, p, primal * dp),
        "q": _kept(live, q, primal * dq),
    }


def _kept(live: Array, values: Array, change: Array) -> Array:
    """The moved values; terms of weight 0 are excluded from all sums and stay unchanged."""
    return np.where(live, np.maximum(values + change, TINY), values)


def _reach(live: Array, first: Array, d_first: Array, second: Array, d_second: Array) -> float:
    """The longest step, up to 1, that keeps both arrays positive."""
    longest = 1.0
    for values, change in ((first, d_first), (second, d_second)):
        shrinks = live & (change < 0)
        if shrinks.any():
            most = float(np.min(-values[shrinks] / change[shrinks]))
            longest = min(longest, SHORT_OF_THE_BOUNDARY * most)
    return longest


def factored(matrix: Array) -> Any:
    """A function that solves with the matrix, by Cholesky or, if it is singular, by eigenvalues."""
    cho_factor, cho_solve = scipy_linalg().cho_factor, scipy_linalg().cho_solve

    size = np.sqrt(np.diagonal(matrix))
    scale = np.where(size > 0, size, 1.0)
    scaled = matrix / scale / scale[:, None]
    with one_blas_thread():
        try:
            factor = cho_factor(scaled)
            if np.min(np.diagonal(factor[0])) ** 2 > SMALLEST_PIVOT:
                return lambda right: cho_solve(factor, right / scale) / scale
        except (np.linalg.LinAlgError, ValueError):
            pass
        if not np.isfinite(scaled).all():
            return lambda right: np.full_like(right, np.nan)
        curvature, axes = np.linalg.eigh(scaled)
        usable = curvature > len(scale) * SMALLEST_PIVOT * curvature[-1]
        inverse = np.where(usable, 1.0 / np.where(usable, curvature, 1.0), 0.0)
    return lambda right: (axes * inverse) @ (axes.T @ (right / scale)) / scale


def _state(theta: Array, memory: dict[str, Any]) -> State:
    lines: PiecewiseLinearSum = memory["lines"]
    value = lines.value_at(theta, memory["s"])
    gap = _gap(theta, value, memory["slopes"], memory)
    return State(lines.outside(theta), value, gap, {**memory, "theta": theta})


def _gap(theta: Array, value: float, slopes: Array, memory: dict[str, Any]) -> float:
    """F(θ) minus the lower bound from the slopes, relative to F at the start.

    The imbalance of the slopes is subtracted from the bound, as if each parameter were so large
    that it changes the distances by their size at the start.
    """
    lines: PiecewiseLinearSum = memory["lines"]
    imbalance = lines.pull_back(slopes) + lines.l2 * theta
    doubt = np.sum(abs(imbalance) * np.maximum(abs(theta), memory["reach"]))
    return float((abs(value - lines.dual_value(theta, slopes)) + doubt) / memory["unit"])


def _column_sizes(lines: PiecewiseLinearSum) -> Array:
    """The root mean square of each column of A; 1 for columns of zeros."""
    size = np.sqrt(np.diagonal(lines.gram(lines.weight)) / np.sum(lines.weight))
    return np.where(size > 0, size, 1.0)


def _rounded(state: State) -> State | None:
    """The exact solution near an interior point, if the duality gap confirms it."""
    memory = state.memory
    lines: PiecewiseLinearSum = memory["lines"]
    found = nearest_vertex(
        lines,
        memory["theta"],
        memory["s"],
        memory["slopes"],
        to_bound=np.minimum(memory["u"], memory["v"]),
        to_kink=np.maximum(memory["p"], memory["q"]),
        unit=memory["room"],
    )
    if found is None:
        return None
    theta, slopes = found
    s = lines.distances(theta)
    value = lines.value_at(theta, s)
    gap = _gap(theta, value, slopes, memory)
    if not gap < 0.1 * state.gap:
        return None
    return State(
        lines.outside(theta), value, gap, {**memory, "theta": theta, "s": s, "slopes": slopes}
    )
