"""Checks of the numbers that the functions of this package take."""

from __future__ import annotations

from math import inf
from sys import float_info
from typing import Any

from thetahat.estimator.parameters import (
    at_least,
    check_value,
    fraction,
    infinity,
    inner_fraction,
    more_than,
)
from thetahat.estimator.parameters import whole as at_least_whole
from thetahat.foundation.errors import ParameterError

MOST_BITS = 10**6
"""Most binary digits of a count that is computed exactly."""


def positive(value: Any, name: str, who: str) -> None:
    """Require a number > 0."""
    check_value(value, more_than(0), name, who)


def probability(value: Any, name: str, who: str, *, closed: bool = False) -> None:
    """Require a number strictly between 0 and 1; with `closed`, 0 and 1 are allowed."""
    check_value(value, fraction if closed else inner_fraction, name, who)


def whole(value: Any, name: str, who: str, *, low: int) -> None:
    """Require a whole number ≥ low that can be converted to a float."""
    if isinstance(value, int) and value > float_info.max:
        raise ParameterError(f"{who}: {name} is too large; the limit is {float_info.max:.1e}.")
    check_value(value, at_least_whole(low), name, who)


def computable(bits: float, what: str, who: str, most: int = MOST_BITS) -> None:
    """Refuse a whole number of so many binary digits that it takes too long to compute."""
    if not bits <= most:
        raise ParameterError(
            f"{who}: {what} is about 2^{bits:.3g}, which is too large to compute; the limit is "
            f"2^{most}. Use smaller numbers."
        )


def class_size(value: Any, who: str) -> None:
    """Require a number of hypotheses: finite and ≥ 1, or a whole number of any size."""
    if not (isinstance(value, int) and value > float_info.max):
        check_value(value, at_least(1) | infinity, "class_size", who)
    if value == inf:
        raise ParameterError(
            f"{who}: class_size=inf must be finite. Use vc_bound for infinite classes."
        )
