"""Proximal Newton: F = S + R with a twice differentiable S and R a sum of |θ_j| and θ_j² in a box.

At each θ, S is replaced by its local parabola, and compiled coordinate descent minimises the
parabola plus R. A line search makes sure that F decreases:

    δ = argmin_δ ∇S(θ)ᵀδ + ½δᵀHδ + R(θ + δ),    θ ← θ + tδ.

Only a working set of coordinates moves: those that are not zero, and those at zero that violate the
optimality conditions. The Hessian is formed on the working set alone, so that the cost is small if
few of many columns are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.precision import ROUNDING
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import violation
from thetahat.mathematics.optimizers.gap import inner
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.optimizers.smooth.newton import (
    SHORT,
    require_finite_curvature,
    run_compiled,
)
from thetahat.mathematics.optimizers.steps.line_search import SHARE
from thetahat.mathematics.parts import whole

FAST = 0.1
"""A step that leaves at most this share of the gap shows that the Hessian is still accurate."""
INNER = 0.01
"""Share of the gap to which the local model is minimised."""
SWEEPS, MOST_ROUNDS = 10, 100
HALVINGS = 12
"""Number of halvings of a step before a model with larger curvature is used."""
MOST_COMPILED = 50
"""Steps of the compiled run before the general method continues from the point reached."""
FLAT = 1e-13
"""Curvatures below this share of the largest count as zero."""


@dataclass(frozen=True)
class ProximalNewton(Method):
    """Proximal Newton: θ ← θ + tδ, where δ minimises the local parabola of S plus R.

    The minimum is found by compiled coordinate descent. Near the optimum the number of correct
    digits doubles with every new Hessian. Cost per step: one value and gradient of S, O(n d); one
    Hessian on the a coordinates of the working set, O(n a²), which is kept while steps are fast;
    sweeps of O(a²). Memory O(a²).

    Parameters
    ----------
    largest_working_set : int, default=3000
        Largest number of coordinates that move in one step. Larger values need fewer steps and more
        memory. Must be at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class SoftThreshold:
    ...     target = np.array([3.0, 0.2])
    ...     def smooth_value_and_gradient(self, theta):
    ...         error = theta - self.target
    ...         return float(error @ error) / 2, error
    ...     def nonsmooth_value(self, theta):
    ...         return float(np.abs(theta).sum())
    ...     def optimality_gap(self, theta, gradient):
    ...         inside = np.maximum(np.abs(gradient) - 1.0, 0.0)
    ...         return float(np.where(theta == 0, inside, np.abs(gradient + np.sign(theta))).max())
    ...     def separable_terms(self):
    ...         return np.ones(2), np.zeros(2), np.full(2, -np.inf), np.full(2, np.inf)
    ...     def hessian_block(self, theta, coordinates):
    ...         return np.eye(len(coordinates))
    >>> th.minimise(SoftThreshold(), th.optimizers.ProximalNewton(), np.zeros(2)).theta
    array([2., 0.])
    """

    largest_working_set: int = whole(3000, at_least=1)

    name = "proximal_newton"
    needs = (
        "smooth_value_and_gradient",
        "nonsmooth_value",
        "optimality_gap",
        "separable_terms",
        "hessian_block",
    )
    gap_kind = "distance from −∇S to the subdifferential of R"

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Run in one compiled call if the problem provides it and single steps are not reported."""
        if monitor.unobserved and hasattr(problem, "compiled_l1_newton"):
            theta = run_compiled(problem.compiled_l1_newton, theta, monitor, MOST_COMPILED)
        if monitor.goes_on:
            super().run(problem, theta, monitor)

    def start(self, problem: Any, theta: Array) -> State:
        terms = _Terms(*problem.separable_terms())
        theta = np.clip(theta, terms.lower, terms.upper)
        return _state(problem, theta, terms)

    def advance(self, problem: Any, state: State) -> State:
        terms, gradient = state.memory["terms"], state.memory["gradient"]
        working = self._working_set(state.theta, gradient, terms)
        model = state.memory["model"]
        if model is None or not np.isin(working, model.coordinates).all():
            model = _Model(working, problem.hessian_block(state.theta, working))
            require_finite_curvature(bool(np.isfinite(model.hessian).all()))
        found, step = _search(problem, state, terms, model)
        if (step < SHORT or model.is_flat) and hasattr(problem, "majoriser_block"):
            # The curvature of S differs nearby; a parabola above S cannot lead too far.
            above = _Model(working, problem.majoriser_block(state.theta, working))
            other, _ = _search(problem, state, terms, above)
            if other is not None and (found is None or other.value < found.value):
                return other
        if found is not None:
            found.memory["model"] = model if found.gap <= FAST * state.gap else None
            return found
        for cautious in model.ever_more_cautious():
            found, _ = _search(problem, state, terms, cautious)
            if found is not None:
                return found
        return State(state.theta, state.value, state.gap, state.memory, stalled=True)

    def _working_set(self, theta: Array, gradient: Array, terms: _Terms) -> Array:
        """Coordinates that are not zero or should become so; the largest violations if too many."""
        used = (theta != 0) | (terms.l1 == 0)
        inside = np.abs(gradient + terms.l1 * np.sign(theta) + terms.l2 * theta)
        pull = np.where(used, inside, np.abs(gradient) - terms.l1)
        n_used = int(used.sum())
        fresh = _most_urgent(np.where(used, 0.0, pull), max(100, 2 * n_used))
        working = np.union1d(np.flatnonzero(used), fresh)
        if len(working) <= self.largest_working_set:
            return working
        return _most_urgent(np.where(terms.free, np.inf, pull), self.largest_working_set)


def _most_urgent(pull: Array, count: int) -> Array:
    """The `count` places with the largest positive pull, in order."""
    order = np.argsort(-pull, kind="stable")[:count]
    return np.sort(order[pull[order] > 0])


@dataclass(frozen=True)
class _Terms:
    """l1, l2, lower and upper of every coordinate."""

    l1: Array
    l2: Array
    lower: Array
    upper: Array

    @property
    def free(self) -> Array:
        """Where R is 0 and there is no bound."""
        return (self.l1 == 0) & (self.l2 == 0) & np.isinf(self.lower) & np.isinf(self.upper)

    def at(self, coordinates: Array) -> _Terms:
        parts = (self.l1, self.l2, self.lower, self.upper)
        return _Terms(*(np.ascontiguousarray(part[coordinates]) for part in parts))


@dataclass(frozen=True)
class _Model:
    """The local parabola of S on some coordinates."""

    coordinates: Array
    hessian: Array

    @property
    def is_flat(self) -> bool:
        """Whether S has no curvature along some coordinate."""
        bends = np.diagonal(self.hessian)
        return bool(bends.size) and bool(bends.min() <= FLAT * max(bends.max(), 0.0))

    def ever_more_cautious(self) -> Iterator[_Model]:
        """Models with equal and increasing curvatures: shorter and shorter gradient steps."""
        size = float(np.diagonal(self.hessian).max(initial=0.0)) or 1.0
        for power in range(0, 40, 4):
            yield _Model(self.coordinates, np.eye(len(self.coordinates)) * size * 2.0**power)

    def minimum(self, theta: Array, gradient: Array, terms: _Terms, gap: float) -> Array:
        """θ with the coordinates of the working set moved to the minimum of the parabola plus R.

        Free coordinates (intercepts) are eliminated first: they are coupled to every column, which
        would slow down the sweeps.
        """
        at, hessian = self.coordinates, self.hessian
        free = terms.free[at]
        bound, own = np.flatnonzero(~free), terms.at(at[~free])
        slope, moved = gradient[at], theta[at].copy()
        with one_blas_thread():
            inverse = np.linalg.pinv(hessian[np.ix_(free, free)], hermitian=True)
            across = hessian[np.ix_(bound, free)]
            gram = np.ascontiguousarray(hessian[np.ix_(bound, bound)] - across @ inverse @ across.T)
            _lift_flat(gram, np.diagonal(hessian)[bound])
            inner_slope = slope[bound] - across @ (inverse @ slope[free])
            inside = np.ascontiguousarray(moved[bound])
            _sweep(gram, own, inside, inner_slope, INNER * gap)
            change = inside - moved[bound]
            moved[bound] = inside
            moved[free] -= inverse @ (slope[free] + across.T @ change)
        result = theta.copy()
        result[at] = moved
        return result


def _lift_flat(gram: Array, before: Array) -> None:
    """Replace zero curvatures by the largest one; otherwise the sweeps would not move there.

    A curvature counts as zero in relation to the one of the same coordinate before the free
    coordinates were eliminated, so that the units of the columns do not matter.
    """
    diagonal = np.diagonal(gram)
    largest = float(diagonal.max(initial=0.0)) or 1.0
    flat = np.flatnonzero(diagonal <= FLAT * before)
    gram[flat, flat] = largest


def _sweep(gram: Array, terms: _Terms, theta: Array, slope: Array, tolerance: float) -> None:
    """Coordinate descent in place, until the optimality conditions hold within the tolerance."""
    parts = (terms.l1, terms.l2, terms.lower, terms.upper)
    slope = np.ascontiguousarray(slope)
    for _ in range(MOST_ROUNDS):
        if _native.quadratic_sweeps(gram, *parts, theta, slope, SWEEPS) == 0.0:
            return
        pull = slope + terms.l2 * theta
        if violation(theta, pull, terms.l1, terms.lower, terms.upper) <= tolerance:
            return


def _search(problem: Any, state: State, terms: _Terms, model: _Model) -> tuple[State | None, float]:
    """The first of θ + δ, θ + δ/2, … that decreases F by a share of the predicted decrease.

    Returned with the share of δ that was used; None and 0 if there is no such step.
    """
    target = model.minimum(state.theta, state.memory["gradient"], terms, state.gap)
    move = target - state.theta
    nonsmooth = problem.nonsmooth_value(state.theta)
    promised = inner(state.memory["gradient"], move)
    promised += problem.nonsmooth_value(target) - nonsmooth
    rounding = ROUNDING * abs(state.value)
    if not promised < rounding:
        return None, 0.0
    step = 1.0
    for _ in range(HALVINGS):
        there = state.theta + step * move if step < 1.0 else target
        found = _state(problem, there, terms)
        if math.isfinite(found.value):
            if found.value <= state.value + SHARE * step * promised and found.value < state.value:
                return found, step
            is_blunt = abs(promised) <= rounding and found.value <= state.value + rounding
            if is_blunt and found.gap < state.gap:
                return found, step
        step /= 2
    return None, 0.0


def _state(problem: Any, theta: Array, terms: _Terms) -> State:
    smooth, gradient = problem.smooth_value_and_gradient(theta)
    value = smooth + problem.nonsmooth_value(theta)
    memory = {"gradient": gradient, "terms": terms, "model": None}
    return State(theta, value, problem.optimality_gap(theta, gradient), memory)
