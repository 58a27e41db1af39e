"""Iteratively reweighted least squares: minimise a parabola that touches F from above, and repeat.

A residual loss ρ(r) lies below ½ω r² + const with ω = ρ′(r)/r, and touches it at the current r. The
sum of these parabolas is a weighted least-squares problem; its solution cannot raise F. For the
logistic loss and its kin the name is also used for `Newton`, whose weights are the curvatures ρ″.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.smooth.newton import newton_direction


@dataclass(frozen=True)
class IRLS(Method):
    """θ ← argmin of the quadratic that touches F at θ from above: a weighted least-squares fit.

    Cost per step: O(n d²) for the weighted Gram matrix over n rows and O(d³) for the solve; O(d²)
    memory. F never rises (where a weight is capped, at residuals near 0, up to that cap).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Median:
    ...     data = np.array([1.0, 2.0, 40.0])
    ...     def value(self, theta):
    ...         return float(np.abs(theta - self.data).sum())
    ...     def majoriser(self, theta):
    ...         weight = 1 / np.maximum(np.abs(theta - self.data), 1e-9)
    ...         return (weight @ (theta - self.data)).reshape(1), weight.sum().reshape(1, 1)
    >>> th.minimise(Median(), th.optimizers.IRLS(), np.zeros(1)).theta.round(6)
    array([2.])
    """

    name = "irls"
    needs = ("value", "majoriser")
    gap_kind = "largest entry of the majoriser's gradient"

    def start(self, problem: Any, theta: Array) -> State:
        return _state(problem, theta)

    def advance(self, problem: Any, state: State) -> State:
        direction = newton_direction(state.memory["hessian"], state.memory["gradient"])
        return _state(problem, state.theta + direction)


def _state(problem: Any, theta: Array) -> State:
    gradient, hessian = problem.majoriser(theta)
    memory = {"gradient": gradient, "hessian": hessian}
    return State(theta, problem.value(theta), largest_entry(gradient), memory)
