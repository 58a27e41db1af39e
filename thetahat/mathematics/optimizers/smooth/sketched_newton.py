"""Newton's method with the Hessian of a sample of the rows, corrected by gradient changes.

A gradient over n rows costs O(n d), a Hessian O(n d²). About 50 d rows give the Hessian with an
error of roughly a tenth, and the pairs of moves and gradient changes of L-BFGS correct the rest:

    p = −B∇F(θ),   B = L-BFGS update of H⁻¹,   H the Hessian of a sample of the rows.

Gradients and values use all rows, so the optimum does not depend on the sample.
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
from thetahat.mathematics.parts import whole

Solve = Callable[[Array], Array]
Pairs = tuple[tuple[Array, Array, float], ...]

FAST = 0.1
"""A step that leaves at most this share of the gap shows that the curvature is still accurate."""
SLOW = 0.5
"""A new sample whose step leaves more than this share of the gap was too small."""
CRAWLING = 0.75
"""If steps leave more than this share of the gap, the Hessian of all rows is used."""
STANDING, LONG = 0.9, 8
"""After this many steps that leave more than this share of the gap, the Hessian is dropped."""
GROWTH = 4
FRESH = {"pairs": (), "solve": None, "age": 0, "since": 0.0, "interval": 1, "plain": False}


@dataclass(frozen=True)
class SketchedNewton(Method):
    """Newton's method with the Hessian of a sample: θ ← θ − t B∇F(θ), B an L-BFGS update of H⁻¹.

    The Hessian is computed again when steps become slow, less and less often, and from more rows
    when a new one did not help. If none helps, the method continues as L-BFGS. Cost per step: one
    value and gradient, O(n d), and sometimes one Hessian of m ≪ n rows, O(m d²), with its factor,
    O(d³); O(d²) memory.

    Parameters
    ----------
    memory : int, default=10
        Number of pairs of moves and gradient changes that are kept. Larger values approximate the
        Hessian better and need more memory. Must be at least 1.
    rows_per_parameter : int, default=50
        Number of rows of the first sample, for each parameter. Larger values give a more accurate
        Hessian at a higher cost. Must be at least 1.

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

    memory: int = whole(10, at_least=1)
    rows_per_parameter: int = whole(50, at_least=1)

    name = "sketched_newton"
    needs = ("value_and_gradient", "curvature_sketch", "n_terms")

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
            # The pairs or the sample mislead: start again with the Hessian of all rows.
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
                # Not even the best Hessian helps: from now on use the pairs alone, as L-BFGS.
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
    # If rounding hides the curvature along a move, the pair is not used.
    return (*pairs, (move, change, bend)) if bend > 0 else pairs


def _length_of(pair: tuple[Array, Array, float]) -> float:
    """The step per unit of gradient that the last move and its gradient change suggest."""
    _, change, bend = pair
    return bend / inner(change, change)


def _direction(gradient: Array, pairs: Pairs, solve: Solve) -> Array:
    """−B∇F by the two-loop recursion, with the sampled Hessian in the middle."""
    slope, shares = gradient, []
    for move, change, bend in reversed(pairs):
        share = inner(move, slope) / bend
        shares.append(share)
        slope = slope - share * change
    step = solve(slope)
    for (move, change, bend), share in zip(pairs, reversed(shares), strict=True):
        step = step + (share - inner(change, step) / bend) * move
    return -step
