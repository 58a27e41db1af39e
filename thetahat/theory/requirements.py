"""What the calculators require of their numbers; each refusal names function, value and rule."""

from __future__ import annotations

from math import inf
from sys import float_info
from typing import Any

from thetahat.estimator.parameters import (
    at_least,
    check_value,
    fraction,
    inner_fraction,
    more_than,
)
from thetahat.estimator.parameters import whole as at_least_whole
from thetahat.foundation.errors import ParameterError


def positive(value: Any, name: str, who: str) -> None:
    """A number > 0."""
    check_value(value, more_than(0), name, who)


def probability(value: Any, name: str, who: str, *, closed: bool = False) -> None:
    """A number strictly between 0 and 1; with `closed`, 0 and 1 as well."""
    check_value(value, fraction if closed else inner_fraction, name, who)


def whole(value: Any, name: str, who: str, *, low: int) -> None:
    """A whole number ≥ low, and one that a float can hold, for formulas have it among floats."""
    check_value(value, at_least_whole(low), name, who)
    if value > float_info.max:
        raise ParameterError(f"{who}: {name} must be at most {float_info.max:.1e}, and it is more.")


def class_size(value: Any, who: str) -> None:
    """How many hypotheses there are: finite and ≥ 1, whole numbers of any length included."""
    check_value(value, at_least(1), "class_size", who)
    if value == inf:
        raise ParameterError(
            f"{who}: class_size=inf must be finite. For classes without end use vc_bound."
        )
