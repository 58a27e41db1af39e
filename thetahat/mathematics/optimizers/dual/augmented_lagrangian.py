"""The augmented Lagrangian: Newton's method for losses with kinks, made exact by multipliers.

A kinked loss ℓ(z) = max over m in a box of m(y − z) − … is rounded off around the multiplier of
the step before: with −(m − anchor)²/(2·reach) under the maximum it has a continuous slope, and few
Newton steps minimise the whole. The multipliers found there are the next anchor. Each round brings
them nearer to the optimum's, and once they single out the rows on the kinks the answer is exact to
rounding. It is the proximal point method on the dual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.mathematics.optimizers.smooth.newton import newton_direction
from thetahat.mathematics.parts import require_number


@dataclass(frozen=True)
class Touch:
    """At θ: the touching function with its derivatives, F itself, and what is known of the dual."""

    theta: Array
    value: float
    gradient: Array
    hessian: Array
    primal: float
    gap: float
    travel: float
    """(m − anchor)²/(2·reach), averaged over the rows: how far this round has moved them."""
    multipliers: Array
    raw: Array
    """z of every row."""


@dataclass(frozen=True)
class AugmentedLagrangian(Method):
    """θ ← argmin of F rounded off around the multipliers; multipliers ← those attained there.

    Formula: m ← argmax over the box of D(m) − ‖m − m_old‖²/(2·reach), solved through its smooth
    primal by Newton steps. For the hinge and ε-insensitive losses with an L2 penalty. Cost per
    step: one pass over the rows, O(n d), and O(d²) for each row on a kink; O(n + d²) memory. The
    rows may be in a file. The gap is the duality gap.

    Parameters
    ----------
    growth : float
        By how much the reach grows from one round to the next; > 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> model = th.LinearModel(loss="hinge", penalty=th.penalties.L2(alpha=0.01)).fit(X, y)
    >>> model.solution_.solver, model.coef_.round(6), round(float(model.intercept_), 6)
    ('augmented_lagrangian', array([1.]), -2.0)
    """

    growth: float = 3.0

    name = "augmented_lagrangian"
    needs = ("multiplier_form",)
    gap_kind = "duality gap"
    default_max_steps = 1000

    def __post_init__(self) -> None:
        require_number(self, "growth", above=1)

    def start(self, problem: Any, theta: Array) -> State:
        form = problem.multiplier_form()
        anchor = form.start()
        # Residuals of the usual size should not quite reach the edge of the box.
        reach = 0.5 / max(form.at(theta, anchor, 1.0).primal, SMALLEST)
        first = _Round(form, anchor, reach, farthest=FARTHEST * reach)
        return _state(first, form.at(theta, anchor, reach))

    def advance(self, problem: Any, state: State) -> State:
        this, here = state.memory["round"], state.memory["here"]
        there = _newton_step(this, here)
        if there is not None:
            return _state(replace(this, steps=this.steps + 1), there)
        settled = here.gap <= SETTLED * abs(here.primal)
        # Rows near their kinks tell the next round where to go, so it should begin with some; and
        # with all of them settled, a farther reach would only magnify rounding.
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
"""Newton steps of a round after which the next may reach farther."""
SETTLED = 1e-12
"""Of F: a duality gap below this share of it is a matter of rounding."""
SMALLEST = 1e-200
FARTHEST = 1e10
"""Times the first reach: beyond, rounding would be magnified into the multipliers."""
ENOUGH = 0.05
"""A round ends when what is left to gain in it is this share of how far it has come."""
FLAT = 0.1
"""A step along a direction ends where the slope is this share of the slope at its start."""
ROUNDING = 1e-14
"""Of F: differences below this share of it mean nothing."""


@dataclass(frozen=True)
class _Round:
    """F rounded off around an anchor, and how the search for its minimum goes."""

    form: Any
    anchor: Array
    reach: float
    farthest: float
    steps: int = 0
    at_rest: int = 0
    """Rounds in a row that had nothing left to find."""


def _newton_step(this: _Round, here: Touch) -> Touch | None:
    """One step towards the minimum of the rounded function; None when it is as good as there."""
    slope = largest_entry(here.gradient)
    if slope == 0.0:
        return None
    direction = newton_direction(here.hessian, here.gradient)
    promised = -float(np.sum(direction * here.gradient)) / 2
    rounding = ROUNDING * abs(here.primal)
    if promised <= ENOUGH * here.travel and here.travel > rounding:
        return None
    if promised <= rounding:
        # F can no longer tell; a full step is right if it lands on the same pieces.
        there: Touch = this.form.at(here.theta + direction, this.anchor, this.reach)
        return there if largest_entry(there.gradient) < slope / 2 else None
    step = this.form.flat_step(here, direction, this.anchor, this.reach, FLAT)
    there = this.form.at(here.theta + step * direction, this.anchor, this.reach)
    return there if there.value < here.value else None


def _state(this: _Round, here: Touch, stalled: bool = False) -> State:
    gap = here.gap if math.isfinite(here.gap) else math.inf
    memory = {"round": this, "here": here, "multipliers": here.multipliers}
    return State(here.theta, here.primal, gap, memory, stalled)
