"""Sets of columns of a distribution, by number or by name."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def names_of_columns(names: Any, d: int, who: str) -> tuple[Any, ...] | None:
    """The names of d columns, or None; an error unless they are d different ones."""
    if names is None:
        return None
    try:
        given = tuple(names)
        fit = len(set(given)) == len(given) == d
    except TypeError:  # no sequence, or an entry that cannot be compared with others
        fit = False
    if not fit:
        raise DataError(f"{who}: names={names!r:.80} must be {d} different names, one per column.")
    return given


def columns_of(which: Any, d: int, names: tuple[str, ...] | None, who: str) -> Array:
    """The numbers of the chosen columns, in the given order; an error if a column is invalid."""
    single = isinstance(which, str | Integral) and not isinstance(which, bool | np.bool_)
    if not single and not isinstance(which, Iterable):
        raise DataError(f"{who}: {which!r:.60} is not a column. Pass a number, a name, or several.")
    chosen = [which] if single else list(which)
    numbers = [_number(each, d, names, who) for each in chosen]
    repeated = {each for each in numbers if numbers.count(each) > 1} if numbers else set()
    if repeated:
        raise DataError(
            f"{who}: column {_label(min(repeated), names)} is listed twice. List each column once."
        )
    return np.asarray(numbers, dtype=np.intp)


def rest_of(chosen: Array, d: int) -> Array:
    """The columns that are not chosen, in ascending order."""
    left = np.ones(d, dtype=bool)
    left[chosen] = False
    return np.flatnonzero(left)


def require_proper(chosen: Array, d: int, who: str) -> None:
    """Refuse an empty set of columns, and the set of all columns."""
    if chosen.size == 0:
        raise DataError(f"{who}: no column is given. List at least 1 column to condition on.")
    if chosen.size == d:
        raise DataError(
            f"{who}: all {d} columns are given, so that none is left. Leave out at least 1 column."
        )


def require_some(chosen: Array, who: str) -> None:
    """Refuse an empty set of columns."""
    if chosen.size == 0:
        raise DataError(f"{who}: no column is chosen. List at least 1 column.")


def as_numbers(values: Any, what: str) -> Array:
    """A copy as an array of float64; an error if the values are not numbers."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must be numbers, but {values!r:.60} is given.") from None


def require_values(values: Any, count: int, who: str) -> Array:
    """One finite value per column."""
    found = np.atleast_1d(as_numbers(values, f"{who}: the values"))
    if found.shape != (count,):
        raise DataError(
            f"{who}: {count} column{'s are' if count > 1 else ' is'} given, but the values have "
            f"shape {found.shape}. Pass one value per column."
        )
    if not np.isfinite(found).all():
        worst = int(np.argmin(np.isfinite(found)))
        raise DataError(f"{who}: value {worst} is {found[worst]}; all values must be finite.")
    return found


def _number(column: Any, d: int, names: tuple[str, ...] | None, who: str) -> int:
    if isinstance(column, str):
        if names is None:
            raise DataError(
                f"{who}: column {column!r} is given by name, but the columns have no names. Pass "
                "numbers, or names=[...] when the distribution is created."
            )
        if column not in names:
            raise DataError(
                f"{who}: there is no column {column!r}; the columns are "
                f"{', '.join(map(repr, names[:20]))}{', ...' if len(names) > 20 else ''}."
            )
        return names.index(column)
    if isinstance(column, bool | np.bool_) or not isinstance(column, Integral):
        raise DataError(
            f"{who}: column {column!r:.60} must be a whole number from 0 to {d - 1}"
            + (" or a name." if names else ".")
        )
    number = int(column)
    if not 0 <= number < d:
        raise DataError(f"{who}: column {number} is out of range; use 0 to {d - 1}.")
    return number


def _label(number: int, names: tuple[str, ...] | None) -> str:
    return repr(names[number]) if names else str(number)
