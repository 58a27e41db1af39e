"""Alternating minimisation: minimise over some of the parameters while the others stay fixed.

Each partial minimisation can only decrease F, so F decreases until no part alone can improve it.
k-means (centres, assignments), EM (responsibilities, parameters), the lasso (one coordinate at a
time) and the graphical lasso (one column at a time) work this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State


@dataclass(frozen=True)
class AlternatingMinimisation(Method):
    """Alternating minimisation: minimise over part 1, then part 2, …, and repeat.

    F never increases. The problem has ``value(θ)`` and ``partial_minimisers``, a sequence of
    functions θ → θ that each minimise F over one part. `Coordinates` provides them for any F, one
    coordinate at a time. Cost per step: each partial minimisation once, and one value for each.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Saddle:
    ...     def value(self, x):
    ...         return float(x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 3 * x[0])
    ...     partial_minimisers = (
    ...         lambda x: np.array([(3 - x[1]) / 2, x[1]]),
    ...         lambda x: np.array([x[0], -x[0] / 2]),
    ...     )
    >>> method = th.optimizers.AlternatingMinimisation()
    >>> th.minimise(Saddle(), method, np.zeros(2), tolerance=1e-12).theta.round(5)
    array([ 2., -1.])
    """

    name = "alternating_minimisation"
    needs = ("value", "partial_minimisers")
    gap_kind = "decrease of the objective in the last round"

    def start(self, problem: Any, theta: Array) -> State:
        return State(theta, problem.value(theta), math.inf)

    def advance(self, problem: Any, state: State) -> State:
        theta, value = state.theta, state.value
        for minimise_part in problem.partial_minimisers:
            tried = minimise_part(theta)
            reached = problem.value(tried)
            if reached <= value:  # an increase by rounding errors is not accepted
                theta, value = tried, reached
        return State(theta, value, state.value - value)


@dataclass(frozen=True)
class Coordinates:
    """Turn any objective into a problem for `AlternatingMinimisation`, one coordinate at a time.

    Formula: the j-th partial minimiser is θ_j ← argmin_t F(θ₁, …, t, …, θ_d), by Brent's line
    search. F should be smooth, or smooth plus separable kinks. Otherwise a point can be optimal
    along every axis without being a minimum. Cost: a few dozen values of F per coordinate.

    Parameters
    ----------
    problem : object with ``value``
        The objective, with a method ``value(theta)`` that returns F(θ).
    n_coordinates : int
        Number of entries of θ.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Bowl:
    ...     def value(self, x):
    ...         return float((x[0] - 1) ** 2 + (x[0] + x[1]) ** 2)
    >>> problem = th.optimizers.Coordinates(Bowl(), 2)
    >>> method = th.optimizers.AlternatingMinimisation()
    >>> th.minimise(problem, method, np.zeros(2), tolerance=1e-12).theta.round(4)
    array([ 1., -1.])
    """

    problem: Any
    n_coordinates: int

    def value(self, theta: Array) -> float:
        """F(θ)."""
        return float(self.problem.value(theta))

    @property
    def partial_minimisers(self) -> Sequence[Callable[[Array], Array]]:
        """One line search for each coordinate."""
        return [self._along(j) for j in range(self.n_coordinates)]

    def _along(self, j: int) -> Callable[[Array], Array]:
        from scipy.optimize import minimize_scalar

        def minimise_part(theta: Array) -> Array:
            def moved(t: float) -> Array:
                there = np.array(theta)
                there[j] += t
                return there

            return moved(float(minimize_scalar(lambda t: self.value(moved(t))).x))

        return minimise_part
