"""Newton's method from products with the Hessian, for Huber's loss on sparse rows of many columns.

A step solves H·p = −∇F by conjugate gradients to a few digits, more of them near the optimum. H is
that of F, or of a parabola above F where the step along the first one had to be shortened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.steps.line_search import Point, backtrack

ROUGH = 0.2
"""Share of the gradient that conjugate gradients may leave, far from the optimum."""
MOST_PRODUCTS = 300
SHORT = 0.25
"""A shorter share of a step shows that the local parabola does not describe F nearby."""


@dataclass(frozen=True)
class NewtonByProducts(Method):
    """Truncated Newton steps; the problem gives v ↦ Hv and the diagonal of H at a point."""

    name = "newton"
    needs = ("value_and_gradient", "curvature_products")
    default_max_steps = 100

    def start(self, problem: Any, theta: Array) -> State:
        point = Point.at(problem, theta)
        gap = largest_entry(point.gradient)
        return State(theta, point.value, gap, {"point": point, "first": gap})

    def advance(self, problem: Any, state: State) -> State:
        here, first = state.memory["point"], state.memory["first"]
        share = min(ROUGH, (state.gap / first) ** 0.5)
        reached, length = None, 0.0
        for above in (False, True):
            product, diagonal = problem.curvature_products(here.theta, above=above)
            with one_blas_thread():
                direction = solved(product, diagonal, -here.gradient, share)
            found = backtrack(problem, here, direction, 1.0)
            if found is not None and (reached is None or found[0].value < reached.value):
                reached, length = found
            if length >= SHORT:
                break
        if reached is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        gap = largest_entry(reached.gradient)
        return State(reached.theta, reached.value, gap, {"point": reached, "first": first})


def solved(product: Callable[[Array], Array], diagonal: Array, right: Array, share: float) -> Array:
    """v with ‖Hv − right‖ ≤ share·‖right‖, by conjugate gradients scaled by 1/diag H."""
    scale = 1.0 / np.where(diagonal > 0, diagonal, max(float(diagonal.max()), 1e-300))
    found, residual = np.zeros_like(right), right.copy()
    step = scale * residual
    along, square = step, inner(residual, step)
    enough = share * float(np.sqrt(inner(right, right)))
    for _ in range(MOST_PRODUCTS):
        image = product(along)
        bend = inner(along, image)
        if not bend > 0:
            return found if found.any() else along
        length = square / bend
        found += length * along
        residual -= length * image
        if inner(residual, residual) ** 0.5 <= enough:
            break
        step = scale * residual
        last, square = square, inner(residual, step)
        along = step + (square / last) * along
    return found
