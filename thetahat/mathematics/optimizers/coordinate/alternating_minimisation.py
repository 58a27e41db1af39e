"""Alternating minimisation: some parameters at a time, the rest held still.

Each partial minimisation can only lower F, so F falls monotonically to where no part alone can
improve it. k-means (centres, assignments), EM (responsibilities, parameters), the lasso (one
coordinate at a time) and the graphical lasso (one column at a time) all work this way.
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
    """θ ← argmin over part 1, then over part 2, …, and again. F never rises.

    The problem has ``value(θ)`` and ``partial_minimisers``, a sequence of functions θ → θ that each
    minimise F over one part. `Coordinates` makes them for any F, one coordinate at a time. Cost per
    step: each partial minimisation once, and one value for each.

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
            if reached <= value:  # a partial minimiser that errs by rounding is not followed
                theta, value = tried, reached
        return State(theta, value, state.value - value)


@dataclass(frozen=True)
class Coordinates:
    """Any objective as a problem for `AlternatingMinimisation`, one coordinate at a time.

    Formula: the j-th partial minimiser is θ_j ← argmin_t F(θ₁, …, t, …, θ_d), by Brent's search on
    the line. F should be smooth, or smooth plus separable kinks: otherwise a point can be best
    along every axis without being best. Cost: a few dozen values of F per coordinate.

    Parameters
    ----------
    problem : object with ``value``
        The objective F.
    n_coordinates : int
        The size of θ.

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
        """One line search per coordinate."""
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
