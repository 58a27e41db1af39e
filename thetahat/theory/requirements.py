"""What the calculators require of their numbers; each refusal names function, value and rule."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from thetahat.foundation.errors import ParameterError


def positive(value: Any, name: str, who: str) -> None:
    """A number > 0."""
    if not (isinstance(value, Real) and value > 0):
        raise ParameterError(f"{who}: {name}={value!r} must be a number > 0.")


def at_least_zero(value: Any, name: str, who: str) -> None:
    """A number ≥ 0."""
    if not (isinstance(value, Real) and value >= 0):
        raise ParameterError(f"{who}: {name}={value!r} must be a number ≥ 0.")


def probability(value: Any, name: str, who: str, *, closed: bool = False) -> None:
    """A number strictly between 0 and 1; with `closed`, 0 and 1 as well."""
    inside = isinstance(value, Real) and (0 <= value <= 1 if closed else 0 < value < 1)
    if not inside:
        between = "between 0 and 1" if closed else "strictly between 0 and 1"
        raise ParameterError(f"{who}: {name}={value!r} must lie {between}.")


def whole(value: Any, name: str, who: str, *, low: int) -> None:
    """A whole number ≥ low."""
    if not (isinstance(value, Integral) and value >= low):
        raise ParameterError(f"{who}: {name}={value!r} must be a whole number ≥ {low}.")
