"""Legs of a path: the solutions between two penalties, nearly, from those at the two.

Let β_a and β_b minimise ½‖y − Xβ‖²/W + α·R(β) at the penalties a > b, with duality gaps g_a and
g_b. The point β = (1 − t)β_a + tβ_b has the slopes (1 − t)c_a + tc_b, without a pass over X: they
are feasible at α = (1 − t)a + tb because c_a is so at a and c_b at b, and R is convex, so

    gap(β, α) ≤ (1 − t)g_a + tg_b + t(1 − t)(a − b)(R(β_b) − R(β_a)).

The last term falls with the square of a leg's length. As long as the sum is within the tolerance,
no penalty inside a leg needs a solver: each is certified by its own gap, worked out afresh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.column_designs import ResidualState

SHORTEST, LONGER = 2, 2.0
"""The least penalties of a leg, and how many times as many it may have as the one before."""
AHEAD = 0.5
"""How far slopes are trusted to go straight on: they bend where columns join."""
HOPED, MISSED = 0.5, 2.0
"""Gaps inside a leg as shares of the tolerance: what is aimed at, and what stands for too large."""


class Milestone(NamedTuple):
    """A point of the path that is solved."""

    place: int
    alpha: float
    beta: Array
    residual_state: ResidualState


def between(one: Milestone, other: Milestone, alpha: float) -> tuple[Array, ResidualState]:
    """The point of the line through both where the penalty is α, and where it stands."""
    share = (one.alpha - alpha) / (one.alpha - other.alpha) if one.alpha > other.alpha else 1.0
    rest = 1.0 - share
    here, there = one.residual_state, other.residual_state
    product = there.with_target - float(np.sum(one.beta * there.slopes))  # r_aᵀr_b, at most:
    product += float(np.sum(np.abs(one.beta) * there.slack))
    squared = rest * rest * here.squared + share * share * there.squared
    return rest * one.beta + share * other.beta, ResidualState(
        rest * here.slopes + share * there.slopes,
        max(0.0, squared + 2 * rest * share * product),
        rest * here.with_target + share * there.with_target,
        rest * here.slack + share * there.slack,
    )


def slopes_ahead(before: Milestone, here: Milestone, alpha: float) -> Array | None:
    """The slopes half-way to α, extrapolated linearly; used to predict the active columns."""
    if not before.alpha > here.alpha:
        return None
    ahead = AHEAD * (here.alpha - alpha) / (before.alpha - here.alpha)
    slopes: Array = here.residual_state.slopes
    return slopes + ahead * (slopes - before.residual_state.slopes)


def next_length(length: int, shares: list[float]) -> int:
    """How many penalties the next leg may have, from the gaps inside the last one.

    The gaps are given as shares of the tolerance. They grow with the square of the length.
    """
    largest = max(shares, default=np.inf)
    longer = min(LONGER, np.sqrt(HOPED / largest)) if largest > 0 else LONGER
    return max(SHORTEST, int(length * longer))
