"""Trust region: Gauss–Newton steps that stay where the linearisation is accurate.

Δθ = argmin ‖r + JΔθ‖² over ‖DΔθ‖ ≤ radius, where D contains the largest norm that each column of J
has had so far, so that steps do not depend on the units of the parameters. D is at most 1e8 times
the current norm of a column; otherwise one huge column at the start would fix its parameter. The
gain ratio

    ρ = (½‖r(θ)‖² − ½‖r(θ + Δθ)‖²) / (decrease in the linearisation)

measures how accurate the linearisation was: if ρ is small, the step is rejected and the radius
shrinks; if it is large, the radius grows. Near the minimum, where large residuals make such steps
slow, Newton's method takes the last steps. A run that has not ended after `patience` steps usually
follows a curved valley. From then on the step follows the curve, Δθ + a/2 with
a = −(JᵀJ + λD²)⁻¹Jᵀr″ and r″ the second derivative of the residuals along Δθ (geodesic
acceleration). Bounds are handled by an active set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.residuals.gauss_newton import half_square
from thetahat.mathematics.optimizers.residuals.linearised import (
    FEW,
    Linearised,
    Step,
    column_norms,
    relative_offset,
)
from thetahat.mathematics.optimizers.residuals.newton_polish import newton_step
from thetahat.mathematics.parts import number, whole

ENOUGH = 1e-4
"""Smallest gain ratio of an accepted step."""
LOST_IN_ROUNDING = 1e-11
"""Predicted decreases below this share of ½‖r‖² are rounding errors; the gap is used instead."""
MOST_TRIALS = 120
NEAR, SLOW = 1e-2, 0.1
"""Below the first gap, steps that leave more than the second share of it are Newton steps."""
LONGEST_MEMORY = 1e8
"""Largest ratio of the scale of a column to its current norm."""
PROBE = 0.1
"""Share of the step at which its curvature is measured."""
MOST_CURVED = 0.75
"""Largest curvature 2‖a/2‖/‖Δθ‖ at which the second-order correction is used."""


@dataclass(frozen=True)
class TrustRegion(Method):
    """Non-linear least squares with steps in a region where the linearisation is accurate.

    Formula: Δθ = argmin ‖r + JΔθ‖² over ‖DΔθ‖ ≤ radius; accepted if ½‖r‖² decreases by at least
    1e-4 of the decrease in the linearisation. The gap is the relative offset,
    ‖P r‖√(n−d) / ‖(I−P)r‖√d with P the projection onto the columns of J: the distance from θ to θ̂
    in standard errors. Within 1e-4 of them, and if the data are fitted exactly, it is the length of
    the next step relative to θ, if that is smaller. If J vanishes, the gap is infinite, and the run
    ends as stalled, not as converged.

    Cost per step: one Jacobian (n × d), O(n d²), and one evaluation of the residuals for each
    trial. CPU only. A problem may have ``bounds``, a pair of arrays (low, high) between which θ
    stays.

    Parameters
    ----------
    first_radius : float, default=1.0
        Initial radius of the trust region, relative to ‖Dθ‖. Smaller values make the first steps
        more cautious. Must be positive.
    patience : int, default=50
        Number of steps after which second-order corrections are used. Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> class Rosenbrock:
    ...     def residuals(self, b):
    ...         return np.array([10 * (b[1] - b[0] ** 2), 1 - b[0]])
    ...     def jacobian(self, b):
    ...         return np.array([[-20 * b[0], 10.0], [-1.0, 0.0]])
    >>> method = th.optimizers.TrustRegion()
    >>> th.minimise(Rosenbrock(), method, np.array([-1.2, 1.0])).theta.round(6)
    array([1., 1.])
    """

    first_radius: float = number(1.0, above=0)
    patience: int = whole(50, at_least=0)

    name = "trust_region"
    aliases = ("trf",)
    needs = ("residuals", "jacobian")
    gap_kind = "relative offset"
    default_max_steps = 2000

    def start(self, problem: Any, theta: Array) -> State:
        residuals = problem.residuals(theta)
        here = _Place.of(problem, theta, residuals, half_square(residuals))
        if here is None:
            return State(theta, math.inf, math.inf)
        size = float(np.linalg.norm(here.scale * theta))
        return here.state(radius=self.first_radius * (size or 1.0), steps=0, slow=False)

    def advance(self, problem: Any, state: State) -> State:
        here: _Place | None = state.memory["here"]
        radius, steps = state.memory["radius"], state.memory["steps"]
        if here is None or not here.free.any():
            return State(state.theta, state.value, 0.0, state.memory)
        if state.memory["slow"]:
            finished = here.finished(problem)
            if finished is not None:
                return finished.state(radius=radius, steps=steps + 1, slow=True)
        for _ in range(MOST_TRIALS):
            step, theta = here.step(radius)
            if steps >= self.patience:
                theta = here.bent(step, problem)
            if (theta == state.theta).all():
                break
            residuals = problem.residuals(theta)
            value = half_square(residuals)
            gain = _gain(state.value, value, step.predicted)
            settled = step.predicted <= LOST_IN_ROUNDING * state.value
            there = None
            if gain > ENOUGH or (settled and math.isfinite(gain)):
                there = _Place.of(problem, theta, residuals, value, here)
            if there is not None and gain <= ENOUGH and not there.gap < 0.98 * here.gap:
                break
            radius = _next_radius(radius, step, gain if there is not None else -math.inf)
            if there is not None:
                slow = here.gap < NEAR and there.gap > SLOW * here.gap
                return there.state(radius=radius, steps=steps + 1, slow=slow)
        finished = None if state.memory["slow"] else here.finished(problem)
        if finished is not None:
            return finished.state(radius=radius, steps=steps + 1, slow=True)
        return State(state.theta, state.value, state.gap, state.memory, stalled=True)


@dataclass(frozen=True)
class _Place:
    """A point with its residuals, Jacobian and factored linearisation."""

    theta: Array
    residuals: Array
    value: float
    """½‖r‖²."""
    jacobian: Array
    scale: Array
    bounds: tuple[Array, Array]
    free: Array
    """Parameters that are not held at a bound."""
    tangent: Linearised
    gap: float

    @classmethod
    def of(
        cls,
        problem: Any,
        theta: Array,
        residuals: Array,
        value: float,
        before: _Place | None = None,
    ) -> _Place | None:
        """The place of θ; None if residuals or their derivatives are not finite."""
        if not math.isfinite(value):
            return None
        jacobian = problem.jacobian(theta)
        bounds = _bounds(problem, theta) if before is None else before.bounds
        scales = np.zeros(len(theta)) if before is None else before.scale
        usual = cls._usual(theta, residuals, value, jacobian, bounds, scales)
        if usual is not None:
            return usual
        norms = column_norms(jacobian)
        if not np.isfinite(norms).all():
            return None
        known = norms > 0
        scale = np.where(known, norms, 1.0)
        if before is not None:
            scale = np.maximum(
                np.where(known, np.minimum(before.scale, LONGEST_MEMORY * norms), before.scale),
                norms,
            )
        low, high = bounds
        with one_blas_thread():
            slope = jacobian.T @ residuals
        free = ~(((theta <= low) & (slope > 0)) | ((theta >= high) & (slope < 0)))
        tangent = Linearised.of(jacobian[:, free], residuals, scale[free])
        gap = relative_offset(tangent, residuals, theta[free])
        return cls(theta, residuals, value, jacobian, scale, bounds, free, tangent, gap)

    @classmethod
    def _usual(
        cls,
        theta: Array,
        residuals: Array,
        value: float,
        jacobian: Array,
        bounds: tuple[Array, Array],
        before: Array,
    ) -> _Place | None:
        """The place in one compiled call, for few parameters away from bounds and limits."""
        n, d = jacobian.shape
        if d > FEW:
            return None
        square, basis = np.empty((d + 1, d + 1)), np.empty((d, d))
        scale, values, image = np.empty((3, d))
        gap = _native.trust_region_place(
            jacobian, residuals, theta, *bounds, before, scale, square, values, basis, image
        )
        if gap is None:
            return None
        all_of_them = np.ones(d, dtype=bool)
        tangent = Linearised(scale, values, basis, image, all_of_them, square, n)
        return cls(theta, residuals, value, jacobian, scale, bounds, all_of_them, tangent, gap)

    def state(self, **memory: Any) -> State:
        return State(self.theta, self.value, self.gap, {"here": self, **memory})

    def step(self, radius: float) -> tuple[Step, Array]:
        """The best step in the ball, and θ after it."""
        tangent = self.tangent
        if tangent.kept.all() and 0 < len(tangent.values) == len(self.theta) <= FEW:
            move, moved = np.empty((2, len(self.theta)))
            found = _native.trust_region_step(
                tangent.values,
                tangent.basis,
                tangent.image,
                self.scale,
                self.theta,
                *self.bounds,
                radius,
                move,
                moved,
            )
            if found is not None:
                return Step(move, *found), moved
        step = self._step_within(radius)
        return step, np.clip(self.theta + step.move, *self.bounds)

    def _step_within(self, radius: float) -> Step:
        """The best step in the ball. Parameters that would cross a bound stop there, and the others
        are solved for again.
        """
        first = self.tangent.step(radius)
        move = self._widened(first.move, self.free)
        low, high = (bound - self.theta for bound in self.bounds)
        if np.all((move >= low) & (move <= high)):
            return first._replace(move=move)
        straight, free, total = move, self.free.copy(), np.zeros(len(self.theta))
        while True:
            crossing = free & ((move < low) | (move > high))
            if not crossing.any():
                break
            total[crossing] = np.clip(move, low, high)[crossing]
            free &= ~crossing
            if not free.any():
                move = total
                break
            shifted = self.residuals + self.jacobian @ total
            inner = Linearised.of(self.jacobian[:, free], shifted, self.scale[free]).step(radius)
            move = np.where(free, self._widened(inner.move, free), total)
        candidates = (np.clip(each, low, high) for each in (move, straight))
        best = max(candidates, key=self._promise)
        length = float(np.linalg.norm(self.scale * best))
        return Step(best, length, first.damping, self._promise(best))

    @property
    def steepness(self) -> float:
        """‖D⁻¹Jᵀr‖/‖r‖ over the free parameters: 0 at a minimum, at most √d."""
        with one_blas_thread():
            slope = (self.jacobian.T @ self.residuals) / self.scale
        size = float(np.linalg.norm(self.residuals))
        return float(np.linalg.norm(slope[self.free])) / size if size > 0 else 0.0

    def finished(self, problem: Any) -> _Place | None:
        """The end of Newton's step, if it is much nearer to the minimum."""
        step = newton_step(problem, self.theta, self.scale, self.bounds, self.free)
        if step is None:
            return None
        theta = np.clip(self.theta + step, *self.bounds)
        residuals = problem.residuals(theta)
        value = half_square(residuals)
        if not value <= (1 + LOST_IN_ROUNDING) * self.value:
            return None
        there = _Place.of(problem, theta, residuals, value, self)
        return there if there is not None and there.steepness < SLOW * self.steepness else None

    def _widened(self, move: Array, free: Array) -> Array:
        """A step of the free parameters as a step of all parameters."""
        whole = np.zeros(len(self.theta))
        whole[free] = move
        return whole

    def _promise(self, move: Array) -> float:
        return self.value - half_square(self.residuals + self.jacobian @ move)

    def bent(self, step: Step, problem: Any) -> Array:
        """θ + Δθ with the second-order correction."""
        return np.clip(self.theta + step.move + self._bend(problem, step), *self.bounds)

    def _bend(self, problem: Any, step: Step) -> Array:
        """a/2, or 0 if the curvature of the residuals is too large to trust the second order."""
        ahead = problem.residuals(np.clip(self.theta + PROBE * step.move, *self.bounds))
        second = 2 / PROBE * ((ahead - self.residuals) / PROBE - self.jacobian @ step.move)
        slope = (self.jacobian.T @ second)[self.free]
        if np.isfinite(slope).all():
            half = -0.5 * self._widened(self.tangent.solve(slope, step.damping), self.free)
            if 2 * np.linalg.norm(self.scale * half) <= MOST_CURVED * step.length:
                return half
        return np.zeros(len(self.theta))


def _bounds(problem: Any, theta: Array) -> tuple[Array, Array]:
    low, high = getattr(problem, "bounds", None) or (-math.inf, math.inf)
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if low.shape == high.shape == theta.shape:
        return low, high
    # Copies, because compiled code takes contiguous numbers only.
    return np.broadcast_to(low, theta.shape).copy(), np.broadcast_to(high, theta.shape).copy()


def _gain(before: float, after: float, predicted: float) -> float:
    if not math.isfinite(after) or not predicted > 0:
        return -math.inf
    return (before - after) / predicted


def _next_radius(radius: float, step: Step, gain: float) -> float:
    if gain < 0.25:
        return min(radius, step.length) * (0.5 if gain >= 0 else 0.25)
    if gain > 0.75 or step.damping == 0:
        return max(radius, 2 * step.length)
    return radius
