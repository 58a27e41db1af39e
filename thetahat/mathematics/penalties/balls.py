"""Constraints on the norm of all coefficients: R(θ) = 0 if ‖θ‖ ≤ radius, else ∞.

Minimising under the constraint ‖θ‖ ≤ radius gives the same solutions as adding strength·‖θ‖ to the
objective, where the strength is the Lagrange multiplier of the constraint. The prox of a constraint
is the projection onto its set, for any step. ∂R is {0} inside the set; on the boundary it holds the
outward normals of any length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from array_api_compat import array_namespace, device

from thetahat.foundation.types import Array
from thetahat.mathematics.parts import number
from thetahat.mathematics.penalties.base import Proximable


@dataclass(frozen=True)
class L1Ball(Proximable):
    """The constraint ‖θ‖₁ ≤ radius: the lasso in its constrained form. Cost: O(d log d).

    Its prox is the projection sign(θ)·[|θ| − t]₊, with the smallest t ≥ 0 that satisfies the
    constraint. With a small radius the solution lies at a corner or an edge of the ball, where some
    coefficients are exactly zero.

    Parameters
    ----------
    radius : float, default=1.0
        Largest allowed sum of the absolute coefficients, ‖θ‖₁. Smaller values set more
        coefficients to zero. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L1Ball(radius=1.0).prox(np.array([2.0, -1.5, 0.3]), step=1.0)
    array([ 0.75, -0.25,  0.  ])
    """

    radius: float = number(1.0, above=0)

    name = "l1_ball"

    def value(self, theta: Array) -> float:
        return _value(float(array_namespace(theta).sum(abs(theta))), self.radius, theta)

    def prox(self, theta: Array, step: float) -> Array:
        xp = array_namespace(theta)
        size = xp.reshape(xp.abs(theta), (-1,))
        if float(xp.sum(size)) <= self.radius:
            return theta
        falling = xp.sort(size, descending=True)
        count = xp.arange(1, falling.shape[0] + 1, dtype=theta.dtype, device=device(theta))
        excess = xp.cumulative_sum(falling) - self.radius
        # Entries, in decreasing order, stay as long as they exceed the threshold they imply.
        kept = int(xp.sum(xp.astype(falling * count > excess, xp.int64)))
        threshold = float(excess[kept - 1]) / kept
        return xp.sign(theta) * xp.clip(xp.abs(theta) - threshold, 0, None)

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Smallest value over multipliers λ ≥ 0 of the largest distance of −gradient to λ·∂‖θ‖₁."""
        xp = array_namespace(theta)
        norm = float(xp.sum(xp.abs(theta)))
        if _value(norm, self.radius, theta) > 0:
            return math.inf
        steepest = float(xp.max(xp.abs(gradient)))
        if norm < self.radius * (1 - _slack(theta)):
            return steepest
        # On the support −gradient·sign must equal λ; elsewhere |gradient| must not exceed it.
        pull = -gradient * xp.sign(theta)
        active = theta != 0
        nothing = xp.full_like(pull, math.inf)
        lowest = float(xp.min(xp.where(active, pull, nothing)))
        highest = float(xp.max(xp.where(active, pull, xp.abs(gradient))))
        multiplier = max(0.0, (lowest + highest) / 2)
        return max(highest - multiplier, multiplier - lowest)


@dataclass(frozen=True)
class L2Ball(Proximable):
    """The constraint ‖θ‖₂ ≤ radius: ridge in its constrained form. Cost: O(d).

    Its prox is θ·min(1, radius/‖θ‖₂). For least squares, ``Ridge(norm_bound=radius**2)`` finds the
    corresponding strength of the ridge penalty directly.

    Parameters
    ----------
    radius : float, default=1.0
        Largest allowed length of the coefficients, ‖θ‖₂. Smaller values shrink the coefficients
        more. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.L2Ball(radius=1.0).prox(np.array([3.0, -4.0]), step=1.0)
    array([ 0.6, -0.8])
    """

    radius: float = number(1.0, above=0)

    name = "l2_ball"

    def value(self, theta: Array) -> float:
        return _value(_length(theta), self.radius, theta)

    def prox(self, theta: Array, step: float) -> Array:
        norm = _length(theta)
        return theta if norm <= self.radius else theta * (self.radius / norm)

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """‖gradient‖ inside the ball; on its boundary, the distance to the inward normals."""
        norm = _length(theta)
        if _value(norm, self.radius, theta) > 0:
            return math.inf
        if norm < self.radius * (1 - _slack(theta)):
            return _length(gradient)
        xp = array_namespace(theta)
        multiplier = max(0.0, -float(xp.sum(gradient * theta)) / norm)
        return _length(gradient + theta * (multiplier / norm))


def _length(theta: Array) -> float:
    xp = array_namespace(theta)
    return math.sqrt(float(xp.sum(theta * theta)))


def _slack(theta: Array) -> float:
    """Distance from the boundary, relative to the radius, that rounding can cause."""
    return math.sqrt(float(array_namespace(theta).finfo(theta.dtype).eps))


def _value(norm: float, radius: float, theta: Array) -> float:
    return 0.0 if norm <= radius * (1 + _slack(theta)) else math.inf
