"""Newton's method with conjugate gradients: H δ = −∇F is solved approximately, without H itself.

Conjugate gradients need only products H·v, which cost as much as a gradient. Far from the optimum
few products suffice; the residual that is left decreases with the gradient, so that the last steps
are those of Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import inner, largest_entry
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.optimizers.smooth.newton import run_compiled
from thetahat.mathematics.optimizers.steps.line_search import Point, backtrack
from thetahat.mathematics.parts import whole

LOOSE = 0.1
"""Largest share of the residual that is left."""


@dataclass(frozen=True)
class NewtonCG(Method):
    """Newton's method with conjugate gradients: θ ← θ + tδ with H(θ)δ ≈ −∇F(θ).

    Cost per step: a few products with the Hessian and one value and gradient, O(n d) each, or
    O(nnz) for sparse rows; O(n + d) memory. In one compiled run for sparse and for wide rows.

    Parameters
    ----------
    largest_products : int, default=1000
        Maximum number of products with the Hessian in one step. Larger values solve ill-conditioned
        systems better. Must be at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Quadratic:
    ...     def value_and_gradient(self, x):
    ...         return float(x[0] ** 2 + 3 * x[1] ** 2 - x[0]), np.array([2 * x[0] - 1, 6 * x[1]])
    ...     def hessian_product(self, x, direction):
    ...         return np.array([2.0, 6.0]) * direction
    >>> th.minimise(Quadratic(), th.optimizers.NewtonCG(), np.ones(2)).theta.round(6)
    array([0.5, 0. ])
    """

    largest_products: int = whole(1000, at_least=1)

    name = "newton_cg"
    needs = ("value_and_gradient", "hessian_product")
    default_max_steps = 100

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Run in one compiled call if the problem provides it and single steps are not reported."""
        if monitor.unobserved and hasattr(problem, "compiled_newton_cg"):
            theta = run_compiled(problem.compiled_newton_cg, theta, monitor)
        if monitor.goes_on:
            super().run(problem, theta, monitor)

    def start(self, problem: Any, theta: Array) -> State:
        point = Point.at(problem, theta)
        gap = largest_entry(point.gradient)
        return State(theta, point.value, gap, {"point": point, "first": gap})

    def advance(self, problem: Any, state: State) -> State:
        here, first = state.memory["point"], state.memory["first"]
        rest = min(LOOSE, state.gap / first) if first > 0 else LOOSE
        found = backtrack(problem, here, self._direction(problem, here, rest), 1.0)
        if found is None:
            return State(state.theta, state.value, state.gap, state.memory, stalled=True)
        point = found[0]
        memory = {"point": point, "first": first}
        return State(point.theta, point.value, largest_entry(point.gradient), memory)

    def _direction(self, problem: Any, here: Point, rest: float) -> Array:
        """δ with ‖Hδ + ∇F‖ ≤ rest·‖∇F‖; −∇F if there is no curvature along it."""
        residual = -here.gradient
        delta, search = np.zeros_like(residual), residual
        square = inner(residual, residual)
        enough = rest * rest * square
        for _ in range(self.largest_products):
            if not square > enough:
                break
            bent = problem.hessian_product(here.theta, search)
            curvature = inner(search, bent)
            if not curvature > 0:
                break
            delta = delta + square / curvature * search
            residual = residual - square / curvature * bent
            before, square = square, inner(residual, residual)
            search = residual + square / before * search
        return delta if delta.any() else -here.gradient
