"""Dates written as text: the layouts that are known, and the one in which a column is written.

A layout has the codes of C's strftime. The layouts of columns of months have no day, and stand for
the first of the month. Years have four digits, so that no number, version or range is a date; those
with two digits are known in a few layouts of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from thetahat.foundation.types import Array

_DAYS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y.%m.%d",
    "%B %d, %Y",
    "%B %d %Y",
    "%d %B %Y",
    "%d-%B-%Y",
    "%d. %B %Y",
)
"""Dates without a time of day; months in words may be short (%B reads Jan and January)."""
LOOKS = {
    "%Y%m%d": r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d",
    "%m/%d/%y": r"\d{1,2}/\d{1,2}/\d\d",
    "%d/%m/%y": r"\d{1,2}/\d{1,2}/\d\d",
    "%d.%m.%y": r"\d\d\.\d\d\.\d\d",
    "%d-%B-%y": r"\d{1,2}-[^\W\d_]+-\d\d",
}
"""Layouts that other text may fit by chance, and how their text must look."""
MONTHS = ("%Y-%m", "%Y/%m", "%m/%Y", "%B %Y", "%B-%Y")
_TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S%.f", "%I:%M %p", "%I:%M:%S %p")
_ISO = ("%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f")
_ZONED = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z")
DATE_LAYOUTS = (
    *MONTHS,
    *_DAYS,
    *LOOKS,
    *(f"{day} {time}" for day in _DAYS for time in _TIMES),
    *_ISO,
    *_ZONED,
)
"""All layouts; of two that read as many values, the earlier one counts."""
TRIED = 50
"""Number of values that are tried before all are."""
FOUR_DIGITS = r"(?:^|\D)\d{4}(?:\D|$)"
"""A year in full, alone among its digits."""

_PATTERNS = {
    "%Y": r"(?P<Y>\d{4})",
    "%y": r"(?P<y>\d\d)",
    "%m": r"(?P<m>\d{1,2})",
    "%d": r"(?P<d>\d{1,2})",
    "%B": r"(?P<B>[^\W\d_]{3,9})",
    "%H": r"(?P<H>\d{1,2})",
    "%I": r"(?P<I>\d{1,2})",
    "%M": r"(?P<M>\d\d)",
    "%S": r"(?P<S>\d\d)",
    "%.f": r"\.\d{1,9}",
    "%p": r"(?P<p>[AaPp][Mm])",
}
_NAMES = dict(
    enumerate(
        "january february march april may june july august september october november "
        "december".split(),
        start=1,
    )
)
_ORDINAL_OF_1970 = date(1970, 1, 1).toordinal()


def alike_layouts(layout: str) -> tuple[str, ...]:
    """Other layouts that cannot be taken for this one with day and month exchanged.

    They read single values of a column that are written with or without a time of day.
    """
    day = layout.split(" ")[0].split("T")[0] if "%B" not in layout else layout
    own = [each for each in DATE_LAYOUTS if each.startswith(day)]
    clear = [each for each in DATE_LAYOUTS if each.startswith("%Y") or "%B" in each]
    return tuple(each for each in dict.fromkeys([*own, *clear]) if each != layout)


def read_dates(values: Sequence[Any]) -> Array | None:
    """Days since 1970 of texts that are all dates in one layout; None if they are not.

    Cost: O(values); columns of other text are recognised by their first few values.
    """
    if not len(values) or not all(isinstance(value, str) for value in values):
        return None
    texts = [value.strip() for value in values]
    first = texts[:TRIED]
    readers: list[Callable[[str], datetime | None]] = [_iso]
    readers += [_reader(layout) for layout in DATE_LAYOUTS if "#z" not in layout]
    for reader in readers:
        if all(reader(text) is not None for text in first):
            found = [reader(text) for text in texts]
            if all(each is not None for each in found):
                return np.array([days_of(each) for each in found if each is not None])
    return None


def _iso(text: str) -> datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _reader(layout: str) -> Callable[[str], datetime | None]:
    """Read by a pattern, as strptime is slow and knows the months of one language at a time."""
    pattern = re.escape(layout)
    for code, digits in _PATTERNS.items():
        pattern = pattern.replace(re.escape(code), digits)
    match = re.compile(pattern).fullmatch
    looks = re.compile(LOOKS.get(layout, ".*")).fullmatch

    def read(text: str) -> datetime | None:
        found = match(text) if looks(text) else None
        return None if found is None else _datetime(found.groupdict())

    return read


def _datetime(parts: dict[str, str]) -> datetime | None:
    year = int(parts["Y"]) if "Y" in parts else 2000 + int(parts["y"]) - 100 * (parts["y"] > "68")
    month = int(parts["m"]) if "m" in parts else _month(parts["B"].lower())
    hour = int(parts.get("H", 0))
    if "I" in parts:
        hour = int(parts["I"]) % 12 + 12 * (parts["p"].lower() == "pm")
    rest = (int(parts.get("M", 0)), int(parts.get("S", 0)))
    try:
        return datetime(year, month, int(parts.get("d", 1)), hour, *rest)
    except ValueError:
        return None


def _month(word: str) -> int:
    """The number of a month by its name in full or its first three letters; 0 for other words."""
    return next((k for k, name in _NAMES.items() if word in (name, name[:3])), 0)


def days_of(when: date) -> float:
    """Days since 1970, in UTC where a time zone is given."""
    days = float(when.toordinal() - _ORDINAL_OF_1970)
    if not isinstance(when, datetime):
        return days
    shift = when.utcoffset()
    seconds = 3600 * when.hour + 60 * when.minute + when.second + when.microsecond / 1e6
    return days + (seconds - (0.0 if shift is None else shift.total_seconds())) / 86_400.0
