"""Text from files, made safe to print.

Names and labels may hold characters that move the cursor of a terminal, change its colours or turn
the direction of the text. They are shown as escapes instead.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters as ``\u001b``, except those in `keep`.

    These escapes are also valid inside of JSON strings. Cost: O(length).
    """
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"
