"""The delimiter of a text file, found from its first lines."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence

DELIMITERS = (",", ";", "\t", "|")
_LINES = 200
"""Number of lines from which the delimiter is found."""


def find_delimiter(lines: Sequence[str], candidates: Sequence[str] = DELIMITERS) -> str:
    """The delimiter that splits most lines into the same number of fields, and the most.

    The first candidate if no line can be split. Cost: O(length of the lines).
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
        if width > 1 and (count / len(rows), width) > most:
            best, most = delimiter, (count / len(rows), width)
    return best
