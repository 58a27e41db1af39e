"""Newton's step with the curvature of a sample of the rows, corrected by what the gradients show.

A gradient over n rows costs O(n d), a Hessian O(n d²). Some 50 d rows already give the Hessian to a
tenth or so, and L-BFGS's pairs of moves and gradient changes make up for the rest:

    p = −B∇F(θ),   B = L-BFGS update of H⁻¹,   H the Hessian of a sample of the rows.

Gradients and values are those of all rows, so the optimum is exact whatever the sample.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.steps.line_search import Point, backtrack
from thetahat.mathematics.parts import require_whole

Solve = Callable[[Array], Array]
Pairs = tuple[tuple[Array, Array, float], ...]

FAST = 0.1
"""A step that leaves at most this share of the gap shows that the curvature is still right."""
SLOW = 0.5
"""A fresh sample whose step leaves more than this share of the gap was too small."""
CRAWLING = 0.75
"""Steps that leave more than this share of the gap each call for the best curvature there is."""
STANDING, LONG = 0.9, 8
"""So many steps that leave more than this share of the gap each: that curvature does not help."""
GROWTH = 4
FRESH = {"pairs": (), "solve": None, "age": 0, "since": 0.0, "interval": 1, "plain": False}


@dataclass(frozen=True)
class SketchedNewton(Method):
    """θ ← θ − t B∇F(θ), B the L-BFGS update of the inverse Hessian of a sample of the rows.

    Cost per step: one value and gradient, O(n d), and at times one Hessian of m ≪ n rows, O(m d²),
    with its factor, O(d³); O(d²) memory. The curvature is taken anew when steps slow down, ever
    more rarely, from more rows when a fresh one did not help; where none helps, L-BFGS is left.

    Parameters
    ----------
    memory : int
        How many pairs of moves and gradient changes to keep.
    rows_per_parameter : int
        Rows of the first sample, for each parameter.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Quadratic:
    ...     n_terms, curvature = 1, np.array([2.0, 6.0])
    ...     def value_and_gradient(self, x):
    ...         return float(x @ (self.curvature * x)) / 2, self.curvature * x
    ...     def curvature_sketch(self, x, n_rows):
    ...         return lambda slope: slope / self.curvature
    >>> solution = th.minimise(Quadratic(), th.optimizers.SketchedNewton(), np.ones(2))
    >>> solution.steps, solution.theta
    (1, array([0., 0.]))
    """

    memory: int = 10
    rows_per_parameter: int = 50

    name = "sketched_newton"
    needs = ("value_and_gradient", "curvature_sketch", "n_terms")

    def __post_init__(self) -> None:
        require_whole(self, "memory", at_least=1)
        require_whole(self, "rows_per_parameter", at_least=1)

    def start(self, problem: Any, theta: Array) -> State:
        point = Point.at(problem, theta)
        rows = min(problem.n_terms, self.rows_per_parameter * max(1, theta.size))
        return _state(point, {**FRESH, "rows": rows})

    def advance(self, problem: Any, state: State) -> State:
        memory = dict(state.memory)
        here, pairs = memory["point"], memory["pairs"]
        if memory["solve"] is None:
            memory["solve"] = problem.curvature_sketch(here.theta, memory["rows"])
            memory["age"], memory["since"] = 0, state.gap
        found = backtrack(problem, here, _direction(here.gradient, pairs, memory["solve"]), 1.0)
        if found is None:
            # Pairs or sample mislead: begin again from the Hessian of all rows.
            memory["solve"], pairs = problem.curvature_sketch(here.theta, problem.n_terms), ()
            found = backtrack(problem, here, -memory["solve"](here.gradient), 1.0)
        if found is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        there = found[0]
        pairs = _with_pair(pairs, here, there)[-self.memory :]
        left = largest_entry(there.gradient) / largest_entry(here.gradient)
        memory["age"] += 1
        if left > FAST and memory["age"] >= memory["interval"] and not memory["plain"]:
            best = GROWTH * problem.n_terms
            slower = (largest_entry(there.gradient) / memory["since"]) ** (1 / memory["age"])
            if slower > CRAWLING:
                # Where not even the best curvature helps: from now on the pairs alone, as L-BFGS.
                is_long = memory["age"] >= LONG and slower > STANDING
                memory["plain"] = memory["rows"] == best and is_long
                memory["rows"] = best
            elif memory["age"] == 1 and left > SLOW and memory["rows"] < problem.n_terms:
                memory["rows"] = min(problem.n_terms, GROWTH * memory["rows"])
            memory["solve"] = None
            memory["interval"] = max(1, 2 * memory["interval"] if pairs[1:] else 1)
        if memory["plain"] and pairs:
            memory["solve"] = partial(operator.mul, _length_of(pairs[-1]))
        return _state(there, memory | {"pairs": pairs})


def _state(point: Point, memory: dict[str, Any]) -> State:
    gap = largest_entry(point.gradient)
    return State(point.theta, point.value, gap, memory | {"point": point})


def _with_pair(pairs: Pairs, here: Point, there: Point) -> Pairs:
    move, change = there.theta - here.theta, there.gradient - here.gradient
    bend = inner(move, change)
    # Where rounding hides the curvature along a move, the pair would say nothing.
    return (*pairs, (move, change, bend)) if bend > 0 else pairs


def _length_of(pair: tuple[Array, Array, float]) -> float:
    """The step for a unit of gradient that the last move and its gradient change speak for."""
    _, change, bend = pair
    return bend / inner(change, change)


def _direction(gradient: Array, pairs: Pairs, solve: Solve) -> Array:
    """−B∇F by the two-loop recursion, with the sketch in the middle."""
    slope, shares = gradient, []
    for move, change, bend in reversed(pairs):
        share = inner(move, slope) / bend
        shares.append(share)
        slope = slope - share * change
    step = solve(slope)
    for (move, change, bend), share in zip(pairs, reversed(shares), strict=True):
        step = step + (share - inner(change, step) / bend) * move
    return -step
