"""How a text file writes its rows: the delimiter, found from its first lines, and numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

DELIMITERS = (",", ";", "\t", "|")
_LINES = 200
"""Number of lines from which the delimiter is found."""
_DECIMAL_COMMA = re.compile(r"[^,\w]*[\d.]*,\d+([eE][-+]?\d+)?[^,\w]*")
"""A number such as -1.234,5, perhaps with a sign of a currency or a percent sign."""


def find_delimiter(lines: Sequence[str], candidates: Sequence[str] = DELIMITERS) -> str:
    """The delimiter that splits most lines into the same number of fields, and the most.

    A delimiter that splits all lines alike, with commas only as decimal marks of numbers, comes
    before the comma. The first candidate if no line can be split. Cost: O(length of the lines).
    """
    best, most = candidates[0], (0.0, 1)
    for delimiter in candidates:
        try:
            rows = [row for row in csv.reader(lines[:_LINES], delimiter=delimiter) if row]
        except csv.Error:  # a field is too long: the lines are not split here
            continue
        if not rows:
            continue
        counts = Counter(map(len, rows))
        width, count = counts.most_common(1)[0]
        if width > 1 and count == len(rows) and _has_only_decimal_commas(rows):
            return delimiter
        if width > 1 and (count / len(rows), width) > most:
            best, most = delimiter, (count / len(rows), width)
    return best


def _has_only_decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Whether some fields have commas, and all of these are numbers with decimal commas."""
    found = [field for row in rows for field in row if "," in field]
    return bool(found) and all(map(_DECIMAL_COMMA.fullmatch, found))


def is_number(text: str, decimal: str) -> bool:
    """Whether Arrow reads this text as a number, with a decimal point or comma."""
    if decimal == ",":
        text = text.translate({ord("."): ",", ord(","): "."})
    if "_" in text or not text.isascii():
        return False  # Python reads "1_000" and digits of other scripts, Arrow does not
    try:
        float(text)
    except ValueError:
        return False
    return True
