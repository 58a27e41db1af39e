"""Several penalties at once, where the proximal step of the sum is known exactly.

The family Σ l1|θ| + l2·θ²/2 on a box is closed under sums: strengths add up, boxes intersect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.mathematics.penalties.base import Penalty
from thetahat.mathematics.penalties.coordinatewise import CoordinateTerms, Coordinatewise


@dataclass(frozen=True)
class Combined(Coordinatewise):
    """A sum of penalties, R(θ) = Σ R_i(θ), made with ``&``. Cost: O(d) for each part.

    Only none, L2, L1, elastic net, boxes and the like can be summed: their joint prox is exact.

    Parameters
    ----------
    parts : tuple of penalties
        What is summed.

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
                raise CapabilityError(
                    f"{type(part).__name__} cannot be combined: the proximal step of the sum is "
                    f"not the steps of its parts. Combine only NoPenalty, L2, L1, ElasticNet, "
                    f"OffDiagonalL1, NonNegative and Box."
                )

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        l1, l2, lower, upper = zip(*(part.terms(shape) for part in self.parts), strict=True)
        joint = CoordinateTerms(
            sum(l1), sum(l2), reduce(np.maximum, lower), reduce(np.minimum, upper)
        )
        if np.any(joint.lower > joint.upper):
            raise ParameterError(f"{self} holds no θ: the boxes do not meet.")
        return joint


def combine(first: Penalty, second: Penalty) -> Combined:
    """The sum of two penalties; sums within sums are laid out flat."""
    parts: list[Penalty] = []
    for penalty in (first, second):
        parts.extend(penalty.parts if isinstance(penalty, Combined) else (penalty,))
    return Combined(tuple(parts))  # type: ignore[arg-type]
