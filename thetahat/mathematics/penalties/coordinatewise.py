"""The family R(θ) = Σ_j l1_j|θ_j| + l2_j·θ_j²/2 on the box lower_j ≤ θ_j ≤ upper_j.

No penalty, L2, L1, elastic net, non-negativity, boxes and all their sums have this form, so value,
prox and optimality gap are written once. R is a sum of convex functions of one coordinate, hence

    prox: shrink towards 0 by step·l1, divide by 1 + step·l2, clip to the box;
    ∂R:   l2·θ + l1·sign(θ); the interval l2·θ + [−l1, l1] at θ = 0; unbounded on the outer side
          where θ is at a bound.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.penalties.base import Penalty, Separable, no_exact_sum


class CoordinateTerms(NamedTuple):
    """The four terms of every coordinate: each a float for all, or an array that broadcasts."""

    l1: Any = 0.0
    l2: Any = 0.0
    lower: Any = -math.inf
    upper: Any = math.inf


def every(condition: Any) -> bool:
    """Whether a condition on terms holds for every coordinate."""
    return bool(condition.all() if isinstance(condition, np.ndarray) else condition)


class Coordinatewise(Separable):
    """A penalty defined by its `terms`, with everything that follows from them."""

    @abstractmethod
    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        """l1, l2, lower and upper for θ of this shape, as floats or NumPy arrays that broadcast."""

    def kernel_terms(self, shape: int | tuple[int, ...]) -> CoordinateTerms:
        """The terms as four float64 arrays of this shape.

        If ``shape`` is the number of coefficients, they are the arguments of the compiled
        coordinate descent:
        ``quadratic_sweeps(gram, *penalty.kernel_terms(d), theta, gradient, sweeps)``.
        """
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return CoordinateTerms(
            *(np.array(np.broadcast_to(term, shape), np.float64) for term in self.terms(shape))
        )

    def value(self, theta: Array) -> float:
        xp, (l1, l2, lower, upper) = self._terms_like(theta)
        if xp.any((theta < lower) | (theta > upper)):
            return math.inf
        return float(xp.sum(l1 * xp.abs(theta) + l2 / 2 * theta**2))

    def prox(self, theta: Array, step: float) -> Array:
        xp, (l1, l2, lower, upper) = self._terms_like(theta)
        step = float(step)
        shrunk = theta - xp.clip(theta, -step * l1, step * l1)
        return xp.clip(shrunk / (1 + step * l2), lower, upper)

    def optimality_gap(self, theta: Array, gradient: Array) -> float:
        """Largest distance of −gradient to the interval ∂R; infinite outside the box."""
        xp, (l1, l2, lower, upper) = self._terms_like(theta)
        if xp.any((theta < lower) | (theta > upper)):
            return math.inf
        slope = gradient + l2 * theta + l1 * xp.sign(theta)
        play = l1 * xp.astype(theta == 0, theta.dtype)
        # Decrease per unit of a move to the left or right; a coordinate cannot leave the box.
        leftward = xp.where(theta == lower, xp.zeros_like(slope), slope - play)
        rightward = xp.where(theta == upper, xp.zeros_like(slope), -slope - play)
        return float(xp.max(xp.clip(xp.maximum(leftward, rightward), 0, None)))

    def __and__(self, other: Penalty) -> Penalty:
        """The sum R₁(θ) + R₂(θ) as a `Combined` penalty; nested sums are flattened."""
        parts: list[Penalty] = []
        for penalty in (self, other):
            parts.extend(penalty.parts if isinstance(penalty, Combined) else (penalty,))
        return Combined(tuple(parts))  # type: ignore[arg-type]

    def _terms_like(self, theta: Array) -> tuple[Any, CoordinateTerms]:
        """The namespace of θ, and the terms as numbers or arrays of its dtype and device."""
        xp = array_namespace(theta)
        return xp, CoordinateTerms(
            *(
                float(term)
                if np.ndim(term) == 0
                else xp.asarray(term, dtype=theta.dtype, device=device(theta))
                for term in self.terms(tuple(theta.shape))
            )
        )


@dataclass(frozen=True)
class Combined(Coordinatewise):
    """A sum of penalties, R(θ) = Σ R_i(θ), made with ``&``. Cost: O(d) for each part.

    NoPenalty, L2, L1, ElasticNet, OffDiagonalL1, NonNegative and Box can be added, because the
    proximal operator of their sum is known exactly.

    Parameters
    ----------
    parts : tuple of penalties
        The penalties that are added.

    Examples
    --------
    >>> import thetahat as th
    >>> th.penalties.L1(0.1) & th.penalties.NonNegative()
    Combined(parts=(L1(alpha=0.1), NonNegative()))
    """

    parts: tuple[Coordinatewise, ...]

    name = "combined"

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, Coordinatewise):
                raise no_exact_sum(part)

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        l1, l2, lower, upper = zip(*(part.terms(shape) for part in self.parts), strict=True)
        joint = CoordinateTerms(
            sum(l1), sum(l2), reduce(np.maximum, lower), reduce(np.minimum, upper)
        )
        if np.any(joint.lower > joint.upper):
            raise ParameterError(
                f"No θ satisfies all constraints of {self}: a lower bound exceeds an upper bound. "
                f"Widen one of the boxes."
            )
        return joint
