"""Constraints on single coefficients: R(θ) = 0 inside a box, ∞ outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.penalties.coordinatewise import CoordinateTerms, Coordinatewise


@dataclass(frozen=True)
class NonNegative(Coordinatewise):
    """The constraint θ ≥ 0: R(θ) = 0 if every θ_j ≥ 0, else ∞. Cost: O(d).

    Its prox is max(θ, 0). Combine it with ``&``: ``L1(0.1) & NonNegative()``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> (th.penalties.L1(0.5) & th.penalties.NonNegative()).prox(np.array([2.0, -2.0]), step=1.0)
    array([1.5, 0. ])
    """

    name = "non_negative"
    aliases = ("nonnegative", "positive")

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(lower=0.0)


@dataclass(frozen=True)
class Box(Coordinatewise):
    """The constraint lower ≤ θ ≤ upper: R(θ) = 0 inside, ∞ outside. Cost: O(d).

    Its prox is the nearest point of the box.

    Parameters
    ----------
    lower, upper : float or sequence of float, default=0.0 and 1.0
        The bounds, for all coefficients or one for each; may be infinite.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.Box(lower=[0.0, -np.inf], upper=1.0).prox(np.array([-3.0, -3.0]), step=1.0)
    array([ 0., -3.])
    """

    lower: float | Sequence[float] = 0.0
    upper: float | Sequence[float] = 1.0

    name = "box"

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _number_or_tuple(name, getattr(self, name)))
        lower, upper = self.lower, self.upper
        if isinstance(lower, tuple) and isinstance(upper, tuple) and len(lower) != len(upper):
            raise ParameterError(
                f"Box has {len(lower)} lower and {len(upper)} upper bounds: give one of each for "
                f"every coefficient, or one number for all."
            )
        low, high = np.asarray(lower), np.asarray(upper)
        if not np.all((low <= high) & (low < math.inf) & (high > -math.inf)):
            raise ParameterError(
                f"Box(lower={lower!r}, upper={upper!r}) holds no number: every lower bound must be "
                f"at most its upper bound, and neither may be NaN."
            )

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        return CoordinateTerms(
            lower=self._along_rows("lower", shape), upper=self._along_rows("upper", shape)
        )

    def _along_rows(self, name: str, shape: tuple[int, ...]) -> Any:
        bound = getattr(self, name)
        if not isinstance(bound, tuple):
            return bound
        if len(bound) != shape[0]:
            raise ParameterError(
                f"Box({name}=...) has {len(bound)} bounds for {shape[0]} coefficients: give one "
                f"for each, or one number for all."
            )
        return np.asarray(bound, np.float64).reshape((-1,) + (1,) * (len(shape) - 1))


def _number_or_tuple(name: str, bound: Any) -> float | tuple[float, ...]:
    """Bounds as plain numbers, so that the penalty compares and hashes."""
    try:
        if isinstance(bound, Real):
            return float(bound)
        if not isinstance(bound, str):
            return tuple(float(one) for one in bound)
    except (TypeError, ValueError):
        pass
    raise ParameterError(
        f"Box({name}={bound!r}): {name} must be a number, or one number for each coefficient."
    )
