"""Ranges of constructor parameters: declared in the class and checked by `fit`.

A class declares ``_ranges = {"alpha": at_least(0), "solver": one_of("auto", "qr")}``.
``check_ranges(self)`` raises a `ParameterError` that names estimator, parameter, value and rule.
The constructor, which `with_parameters` makes, only stores them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError


@dataclass(frozen=True)
class Range:
    """A rule for a value: a test, and its description for error messages."""

    holds: Callable[[Any], bool]
    words: str

    def __or__(self, other: Range) -> Range:
        return Range(
            lambda value: self.holds(value) or other.holds(value), f"{self.words}, or {other.words}"
        )


LARGEST_WHOLE = 2**63 - 1
"""The largest whole number that compiled code takes."""
MOST_DRAWS = 2**31 - 1
"""Most rows that a parameter may ask to draw, as a count or as a multiple of the rows."""
MOST_MEMBERS = 10**7
"""Most members of an ensemble, whose seeds are drawn at once, and most random splits of a node."""
LARGEST_FACTOR = 1e100
"""Bound of parameters that are multiplied with the data or with each other."""


def _is_real(value: Any) -> bool:
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond 1.8e308
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def at_least(low: float, most: float | None = None) -> Range:
    """A finite number ≥ low, and at most `most` where that is given."""
    if most is None:
        return Range(lambda value: _is_real(value) and value >= low, f"a number ≥ {low:g}")
    return Range(
        lambda value: _is_real(value) and low <= value <= most,
        f"a number ≥ {low:g} and at most {most:g}",
    )


def more_than(low: float, most: float | None = None) -> Range:
    """A finite number > low, and at most `most` where that is given."""
    if most is None:
        return Range(lambda value: _is_real(value) and value > low, f"a number > {low:g}")
    return Range(
        lambda value: _is_real(value) and low < value <= most,
        f"a number > {low:g} and at most {most:g}",
    )


def between(low: float, high: float) -> Range:
    """A real number strictly between two."""
    return Range(
        lambda value: _is_real(value) and low < value < high,
        f"a number strictly between {low:g} and {high:g}",
    )


def from_to(low: float, high: float) -> Range:
    """A real number between two, or one of them."""
    return Range(
        lambda value: _is_real(value) and low <= value <= high,
        f"a number from {low:g} to {high:g}",
    )


def whole(low: int, high: int | None = None) -> Range:
    """A whole number ≥ low, and ≤ high where that is given."""
    if high is None:
        return Range(
            lambda value: _is_whole(value) and low <= value <= LARGEST_WHOLE,
            f"a whole number ≥ {low}",
        )
    return Range(
        lambda value: _is_whole(value) and low <= value <= high,
        f"a whole number from {low} to {high}",
    )


def one_of(*names: str) -> Range:
    """One of the given strings."""
    return Range(
        lambda value: isinstance(value, str) and value in names,
        "one of " + ", ".join(repr(name) for name in names),
    )


def _is_numeric(values: Any) -> bool:
    try:
        np.asarray(values, dtype=float)
        return np.asarray(values).dtype.kind not in "US"  # NumPy reads text as numbers
    except (TypeError, ValueError, OverflowError):
        return False


def _is_non_negative(values: Any) -> bool:
    if not _is_numeric(values):
        return False
    numbers = np.asarray(values, dtype=float)
    return bool(np.all((numbers >= 0) & np.isfinite(numbers)))


def _is_finite_vector(value: Any) -> bool:
    if not _is_numeric(value):
        return False
    numbers = np.asarray(value, dtype=float)
    return numbers.ndim == 1 and bool(np.isfinite(numbers).all())


finite_vector = Range(_is_finite_vector, "an array of finite numbers")
how_many_or_which = Range(
    lambda value: (
        whole(1).holds(value) or (not isinstance(value, str | Real) and _is_finite_vector(value))
    ),
    "a whole number ≥ 1 or an array of penalties",
)
real = Range(_is_real, "a number")
infinity = Range(lambda value: isinstance(value, float | np.floating) and value == math.inf, "inf")
"""For parameters that have a meaning at infinity: ``more_than(0) | infinity``."""
fraction = from_to(0, 1)
inner_fraction = between(0, 1)
positive_fraction = Range(
    lambda value: _is_real(value) and 0 < value <= 1, "a number > 0 and at most 1"
)
share_of_all = Range(
    lambda value: isinstance(value, float | np.floating) and bool(0 < value <= 1),
    "a share of the whole, more than 0 and at most 1",
)
"""A fraction of all rows or columns, as a float; an int is a count instead."""
boolean = Range(lambda value: isinstance(value, bool | np.bool_), "True or False")
none = Range(lambda value: value is None, "None")
verbosity = Range(
    lambda value: value is None or isinstance(value, bool | np.bool_) or _is_real(value),
    "True, False or a number",
)
"""For all models that print their progress."""
non_negative_array = Range(
    lambda value: isinstance(value, np.ndarray | list | tuple) and _is_non_negative(value),
    "an array of numbers ≥ 0",
)


usual_ranges = {
    "scoring": Range(
        lambda value: (
            value is None
            or isinstance(value, str)
            or (callable(value) and not isinstance(value, type))
        ),
        "None, the name of a metric, or a function of a model, X and y",
    ),
    "verbose": verbosity,
    **dict.fromkeys(
        (
            "activation",
            "code_activation",
            "kernel",
            "loss",
            "method",
            "metric",
            "penalty",
            "solver",
        ),
        Range(lambda value: not isinstance(value, np.ndarray), "a name or an object, not an array"),
    ),
}
"""Rules for parameters of many models, which their own declarations may replace."""


def check_ranges(estimator: Any) -> None:
    """Raise an error if a parameter is outside its declared range."""
    usual = {name: rule for name, rule in usual_ranges.items() if hasattr(estimator, name)}
    for name, rule in (usual | estimator._ranges).items():
        check_value(getattr(estimator, name), rule, name, type(estimator).__name__)


def check_value(value: Any, rule: Range, name: str, who: str) -> None:
    """Raise an error if the value of a parameter or argument breaks its rule."""
    if not _holds(rule, value):
        hint = ""
        if isinstance(value, str):
            close = get_close_matches(value, _quoted(rule.words), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
            hint = " This number is too large."
        elif isinstance(value, float | np.floating) and not math.isfinite(value):
            hint = f" Set {name} to a finite number."
        elif isinstance(value, Decimal | Fraction):
            hint = f" Convert it: float({name})."
        raise ParameterError(f"{who}: {name}={_shown(value)} must be {rule.words}.{hint}")


def _holds(rule: Range, value: Any) -> bool:
    try:
        return bool(rule.holds(value))
    except (TypeError, ValueError, OverflowError):  # not a value that the rule can check
        return False


def _shown(value: Any) -> str:
    """The value for an error message, without the middle of a long one."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write numbers of more than 4300 digits
        return "a number of more than 4300 digits"
    return text if len(text) <= 200 else f"{text[:60]}...{text[-20:]}"


def _quoted(words: str) -> list[str]:
    return words.split("'")[1::2]


def numpy_parameters(attributes: dict[str, Any]) -> dict[str, Any]:
    """The parameters that are numbers or Booleans of NumPy. A fit reads them as Python's, so that a
    product of small ones does not overflow, and compiled code takes them."""
    return {
        name: value
        for name, value in attributes.items()
        if isinstance(value, np.number | np.bool_) and not name.startswith("_") and name[-1:] != "_"
    }


def of_python(numbers: dict[str, Any]) -> dict[str, Any]:
    """The same numbers as Python's; `item` would leave a long double as it is."""
    return {
        name: float(value) if isinstance(value, np.floating) else value.item()
        for name, value in numbers.items()
    }


def continues(attributes: dict[str, Any]) -> bool:
    """Whether ``warm_start`` asks to start from the last fit; an invalid value counts as yes."""
    given = attributes.get("warm_start", False)
    return np.ndim(given) > 0 or bool(given)
