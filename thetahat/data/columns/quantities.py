"""Numbers written as text: "$104.98", "78.4 m²", "12 %", "1.234,5".

A column has one notation: the decimal mark, separators of thousands, and one unit. It is the one
that reads most of the values, and it is remembered, so that new rows are read alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array

DECIMAL_COMMA = "decimal comma"
SEPARATED = "separated thousands"
SIGNS = "negative numbers in parentheses or with other minus signs"
CODE_DIGITS = 3
"""Smallest number of digits of codes with leading zeros; "07" may be a month or an hour."""
LEAST_READ = 0.95
"""Smallest share of the values that must be numbers."""
TRIED = 50
"""Number of values that are tried before all are."""
_CURRENCY = r"(?:US\$|[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|AUD|CAD)"
UNITS = frozenset(
    "% ‰ ° °c °f k m km cm mm µm nm m² m2 m³ m3 km² km2 cm² cm2 ha ft ft² ft2 sqft in mi mile "
    "miles yd kg g mg µg t lb lbs oz st l ml cl dl gal s sec ms min mins h hr hrs d day days "
    "wk week weeks mo month months y yr yrs year years km/h kmh mph m/s kn w kw mw kwh mwh wh "
    "hp ps j kj kcal cal v mv a ma hz khz mhz ghz b kb mb gb tb pa hpa kpa bar mbar psi mmhg "
    "mol mmol mmol/l mg/dl g/l bpm rpm dpi px pt pts pp bp bps kr "
    "usd eur gbp chf jpy pln".split()
)
"""Units that may stand at the number without a blank; after a blank any word may be a unit."""
_QUANTITY = re.compile(
    rf"""\s*(?P<sign>[-+−]?)\s*(?P<before>{_CURRENCY}?)\s*(?P<sign2>[-+−]?)
    (?P<number>[.,]?\d[\d.,'’ \u00a0\u202f]*)(?P<power>[eE][-+]?\d+)?
    (?P<blank>\s*)(?P<after>(?:[^\W\d_]|[%‰°$€£¥₹₽₩/²³"'])[^\d,;:]{{0,11}}[23]?)?\s*""",
    re.VERBOSE,
)
_IN_PARENTHESES = re.compile(rf"(?P<before>{_CURRENCY}?)\s*\((?P<number>[^-+−()]*\d[^-+−()]*)\)")
_GROUPED = {
    ".": re.compile(r"[1-9]\d{0,2}(?:([,'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?"),
    ",": re.compile(r"[1-9]\d{0,2}(?:([.'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?:,\d+)?"),
}
_PLAIN = {".": re.compile(r"\d+\.?\d*|\.\d+"), ",": re.compile(r"\d+,?\d*|,\d+")}


@dataclass(frozen=True)
class Quantities:
    """Numbers read from text, and how they were written."""

    numbers: Array
    """One number per value; NaN for a value that is not a number."""
    written: str
    """The notation: "" for the usual one, else such as "decimal comma, unit €"."""
    unread: tuple[Any, ...] = ()
    """The values that are not numbers."""

    @property
    def unit(self) -> str:
        """The unit of the numbers; "" without one."""
        return unit_of(self.written)


def unit_of(written: str) -> str:
    """The unit in a notation; "" without one."""
    return written.partition("unit ")[2]


def read_quantities(values: Sequence[Any], least: float = LEAST_READ) -> Quantities | None:
    """The numbers in values of text; None if fewer than the share `least` are numbers.

    Cost: O(values); columns of words are recognised by their first few values.
    """
    if not len(values) or are_codes(values):
        return None
    first = list(values[:TRIED])
    if sum(np.isfinite(numbers_in(first, notation(first)))) < min(least, 0.5) * len(first):
        return None
    written = notation(values)
    numbers = numbers_in(values, written)
    lost = np.flatnonzero(np.isnan(numbers))
    if lost.size > (1 - least) * len(values):
        return None
    return Quantities(numbers, written, tuple(values[k] for k in lost.tolist()))


def are_codes(values: Sequence[Any]) -> bool:
    """Whether values are digits of one length, some with leading zeros, such as postal codes."""
    width = len(str(values[0])) if len(values) else 0
    if width < CODE_DIGITS or not all(
        isinstance(each, str) and len(each) == width and each.isdecimal() for each in values
    ):
        return False
    return any(each[0] == "0" for each in values)


def notation(values: Sequence[Any]) -> str:
    """The notation that reads most values; the usual one if it reads as many."""
    if all(_plain(value) == _plain(value) for value in values):
        return ""
    texts = [value.strip() for value in values if isinstance(value, str)]
    unsigned = [_unsigned(text)[0] for text in texts]
    pairs = [
        (_QUANTITY.fullmatch(each), each != text)
        for each, text in zip(unsigned, texts, strict=True)
    ]
    read = [(each, signed or "−" in each[0]) for each, signed in pairs if each is not None]
    read = [(each, signed) for each, signed in read if _unit(each) != "not a unit"]
    parts = [each for each, _ in read]
    units = Counter(_unit(each) for each in parts)
    unit = units.most_common(1)[0][0] if units else ""
    usual, comma = (
        sum(_number(each["number"], mark) is not None for each in parts) for mark in (".", ",")
    )
    marks = []
    if comma > usual:
        marks.append(DECIMAL_COMMA)
    elif any(_GROUPED["."].fullmatch(each["number"].strip()) for each in parts):
        marks.append(SEPARATED)
    if len({signed for _, signed in read}) == 2:  # "(1)" in every row numbers something
        marks.append(SIGNS)
    return ", ".join([*marks, *([f"unit {unit}"] if unit else [])])


def mixed_units(values: Sequence[Any], least: float = LEAST_READ) -> tuple[str, ...]:
    """The units of numbers with several units, most frequent first; empty for other values.

    At least the share `least` of the values must be numbers with one of these units, and each unit
    must stand at two values or more. Cost: O(values).
    """
    found = [_QUANTITY.fullmatch(value) for value in values if isinstance(value, str)]
    known = [_unit(each) for each in found if each is not None and _reads(each)]
    units = Counter(unit for unit in known if unit and unit != "not a unit")
    often = [unit for unit, count in units.most_common() if count > 1]
    if len(often) < 2 or sum(units[unit] for unit in often) < least * len(values):
        return ()
    # After a blank any word may be a unit, so that streets and codes read alike: "12 Main".
    return tuple(often) if all(_is_known(unit) for unit in often) else ()


def numbers_in(values: Sequence[Any], written: str) -> Array:
    """The numbers in values of one notation; NaN for values that are not such numbers."""
    if not written:
        return np.array([_plain(value) for value in values], dtype=np.float64)
    mark = "," if DECIMAL_COMMA in written else "."
    unit = unit_of(written)
    return np.array([_quantity(value, mark, unit) for value in values], dtype=np.float64)


def _plain(value: Any) -> float:
    if isinstance(value, str) and "_" in value:  # Python reads "1_000"
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _quantity(value: Any, mark: str, unit: str) -> float:
    if not isinstance(value, str):
        return _plain(value)
    text, negative = _unsigned(value.strip())
    found = _QUANTITY.fullmatch(text)
    if found is None or _unit(found) not in (unit, ""):
        return np.nan
    number = _number(found["number"], mark)
    if number is None:
        return _plain(value)
    if found["power"]:
        number = float(f"{number!r}{found['power']}") if "e" not in repr(number) else np.nan
    if any(found[name] in ("-", "−") for name in ("sign", "sign2")):
        negative = not negative
    return -number if negative else number


def _unsigned(text: str) -> tuple[str, bool]:
    """A number without the parentheses or the minus after it that make it negative, if any."""
    inside = _IN_PARENTHESES.fullmatch(text)
    if inside:
        return inside["before"] + inside["number"], True
    if text[-1:] in ("-", "−") and text[-2:-1].isdigit() and text[0] not in "-+−":
        return text[:-1], True
    return text, False


def _unit(found: re.Match[str]) -> str:
    after = (found["after"] or "").strip()
    if after and after.lower() not in UNITS and after[0].isalpha():
        # "12b" is a code, "12 stars" a number with its unit. The number may have taken the blank.
        apart = found["blank"] or found["number"][-1].isspace()
        if not apart or len(after) < 2:
            return "not a unit"
    return (found["before"] or "") + after


def _reads(found: re.Match[str]) -> bool:
    return any(_number(found["number"], mark) is not None for mark in (".", ","))


def _is_known(unit: str) -> bool:
    return unit.lower() in UNITS or re.fullmatch(_CURRENCY, unit) is not None


def _number(text: str, mark: str) -> float | None:
    text = text.strip()
    grouped = _GROUPED[mark].fullmatch(text)
    if grouped:
        text = text.replace(grouped[1], "")
    elif not _PLAIN[mark].fullmatch(text):
        return None
    return float(text.replace(",", "."))
