"""Conversion of numeric arguments to float64 arrays, with errors that name the argument."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array


def shown(value: Any) -> str:
    """A short form of a value for messages."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print whole numbers of several thousand digits
        return f"<a whole number of more than {int(value.bit_length() * 0.30):,} digits>"
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_float(value: Any) -> float:
    """A number as a float: infinite if it is beyond float64, and NaN if it is not a number."""
    if not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def numbers(value: Any, name: str, who: str, *, finite: bool | None = True) -> Array:
    """An array of numbers, without NaN and, if `finite`, without infinity; with both if None."""
    try:
        found = real_numbers(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"{who}: {name}={shown(value)} must be a real number or an array of real numbers."
        ) from None
    if finite is None:
        return found
    bad = ~np.isfinite(found) if finite else np.isnan(found)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        where = f"{name}[{', '.join(map(str, place))}]" if place else name
        rule = "finite" if finite else "a number or infinity"
        raise ParameterError(
            f"{who}: {where} = {found[place]:g}, but it must be {rule}. Replace or remove it."
        )
    return found


def returned_numbers(value: Any, function: str) -> Array:
    """What a function of the user has returned, as numbers of any shape."""
    try:
        return real_numbers(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"{function} returned {shown(value)}, but must return numbers."
        ) from None


def real_numbers(value: Any, dtype: Any) -> Array:
    """Real numbers of this type, where NumPy alone would drop imaginary parts, masks and units."""
    if value is None:
        raise TypeError("None is not a number")
    found = np.asarray(value)
    if found.dtype.kind in "cmM":
        raise TypeError(f"{found.dtype} is not a type of real numbers")
    if np.ma.is_masked(value):
        raise TypeError("masked values are not numbers")
    return found.astype(dtype, copy=False)


def returned_number(value: Any, function: str) -> float:
    """What a function of the user has returned, as one number."""
    found = returned_numbers(value, function)
    if found.size != 1:
        raise ParameterError(
            f"{function} returned {found.size} numbers, of shape {found.shape}, but must return "
            "one number."
        )
    return float(found.item())


def require_level(level: Any, name: str = "level") -> None:
    """Require a probability strictly between 0 and 1: a confidence level, or a share."""
    is_number = isinstance(level, int | float | np.integer | np.floating)
    if not is_number or isinstance(level, bool) or not 0 < level < 1:
        example = ", for example 0.95" if name == "level" else ""
        raise ParameterError(f"{name}={level!r} must lie strictly between 0 and 1{example}.")


def require_estimator(model: Any, who: str) -> None:
    """Require an instance that can be copied and fitted."""
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
        made = f" Make an instance: {model.__name__}()." if isinstance(model, type) else ""
        raise ParameterError(
            f"{who}: the model is {shown(model)}, which is not an estimator. Use an instance with "
            f"fit and get_params, such as th.Ridge().{made}"
        )
