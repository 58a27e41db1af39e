"""The augmented Lagrangian: Newton's method for losses with kinks, made exact by dual variables.

A loss with kinks ℓ(z) = max over m in a box of m(y − z) − … is smoothed around the dual variable of
the previous round: with −(m − anchor)²/(2·reach) under the maximum its gradient is continuous, and
a few Newton steps minimise the smoothed objective. The dual variables found there are the next
anchor. Each round brings them closer to the optimum. As soon as they identify the rows on the
kinks, the result is exact up to rounding. This is the proximal point method on the dual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.foundation.precision import SUM_ROUNDING
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.optimizers.smooth.newton import newton_direction, run_compiled
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Touch:
    """At θ: the smoothed objective with its derivatives, F itself, and bounds from the dual."""

    theta: Array
    value: float
    gradient: Array
    hessian: Array
    primal: float
    gap: float
    travel: float
    """(m − anchor)²/(2·reach), averaged over the rows: the distance moved in this round."""
    multipliers: Array
    raw: Array
    """z of every row."""


@dataclass(frozen=True)
class AugmentedLagrangian(Method):
    """The augmented Lagrangian method: minimise F smoothed around the dual variables, update them.

    Formula: m ← argmax over the box of D(m) − ‖m − m_old‖²/(2·reach), solved through its smooth
    primal by Newton steps. For the hinge and ε-insensitive losses with an L2 penalty. The rows may
    be in a file. The gap is the duality gap. Cost per step: one pass over the rows, O(n d), and
    O(d²) for each row on a kink; O(n + d²) memory.

    Parameters
    ----------
    growth : float, default=3.0
        Factor by which the smoothing reach grows from one round to the next. Larger values need
        fewer rounds with more Newton steps each. Must be greater than 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> model = th.LinearModel(loss="hinge", penalty=th.penalties.L2(alpha=0.01)).fit(X, y)
    >>> model.solution_.solver, model.coef_.round(6), round(float(model.intercept_), 6)
    ('augmented_lagrangian', array([1.]), -2.0)
    """

    growth: float = number(3.0, above=1)

    name = "augmented_lagrangian"
    needs = ("dual_form",)
    gap_kind = "duality gap"
    default_max_steps = 1000

    def run(self, problem: Any, theta: Array, monitor: Monitor) -> None:
        """Run in one compiled call if the form provides it and single steps are not reported."""
        if monitor.unobserved and (form := problem.dual_form()).is_compiled:
            theta = run_compiled(partial(form.compiled_run, self.growth), theta, monitor)
        if monitor.goes_on:
            super().run(problem, theta, monitor)

    def start(self, problem: Any, theta: Array) -> State:
        form = problem.dual_form()
        anchor = form.start()
        # Residuals of typical size should lie just inside the box.
        reach = 0.5 / max(form.at(theta, anchor, 1.0).primal, SMALLEST)
        first = _Round(form, anchor, reach, farthest=FARTHEST * reach)
        return _state(first, form.at(theta, anchor, reach))

    def advance(self, problem: Any, state: State) -> State:
        this, here = state.memory["round"], state.memory["here"]
        there = _newton_step(this, here)
        if there is not None:
            return _state(replace(this, steps=this.steps + 1), there)
        settled = here.gap <= SETTLED * abs(here.primal)
        # Rows near their kinks guide the next round, so it should start with some of them. If all
        # are settled, a larger reach would only magnify rounding errors.
        growth = self.growth if this.steps <= EASY and not settled else 1.0
        following = _Round(
            this.form,
            here.multipliers,
            min(this.reach * growth, this.farthest),
            this.farthest,
            at_rest=this.at_rest + 1 if settled or this.reach >= this.farthest else 0,
        )
        touch = following.form.at(here.theta, following.anchor, following.reach)
        return _state(following, touch, stalled=following.at_rest > 2)


EASY = 4
"""A round with at most this many Newton steps allows a larger reach in the next one."""
SETTLED = 1e-12
"""A duality gap below this share of F is rounding error."""
SMALLEST = 1e-200
FARTHEST = 1e10
"""Largest multiple of the first reach; beyond it rounding errors would grow too large."""
ENOUGH = 0.05
"""A round ends when the possible decrease is below this share of the distance moved."""
FLAT = 0.1
"""A line search ends when the slope is below this share of the slope at its start."""


@dataclass(frozen=True)
class _Round:
    """F smoothed around an anchor, and the progress of the search for its minimum."""

    form: Any
    anchor: Array
    reach: float
    farthest: float
    steps: int = 0
    at_rest: int = 0
    """Number of consecutive rounds without progress."""


def _newton_step(this: _Round, here: Touch) -> Touch | None:
    """One step towards the minimum of the smoothed objective; None if it is reached."""
    slope = largest_entry(here.gradient)
    if slope == 0.0:
        return None
    direction = newton_direction(here.hessian, here.gradient)
    promised = -float(np.sum(direction * here.gradient)) / 2
    rounding = SUM_ROUNDING * abs(here.primal)
    if promised <= ENOUGH * here.travel and here.travel > rounding:
        return None
    if promised <= rounding:
        # F is rounding error here; a full step is right if the same rows stay on their kinks.
        there: Touch = this.form.at(here.theta + direction, this.anchor, this.reach)
        return there if largest_entry(there.gradient) < slope / 2 else None
    step = this.form.flat_step(here, direction, this.anchor, this.reach, FLAT)
    there = this.form.at(here.theta + step * direction, this.anchor, this.reach)
    return there if there.value < here.value else None


def _state(this: _Round, here: Touch, stalled: bool = False) -> State:
    gap = here.gap if math.isfinite(here.gap) else math.inf
    memory = {"round": this, "here": here, "multipliers": here.multipliers}
    return State(here.theta, here.primal, gap, memory, stalled)
