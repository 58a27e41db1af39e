"""The words in the names of columns."""

from __future__ import annotations

import re

TIME_WORDS = frozenset(
    "time date datetime timestamp year month day week hour minute quarter period epoch ts when "
    "season zeit datum jahr monat tag woche".split()
)
PROPERTY_WORDS = frozenset(
    "birth born dob birthday birthdate built construction constructed founded expiry expires "
    "model renovated made manufactured".split()
)
"""A date with such a name is a property of what the row describes, not the time of the row."""
IDENTIFIER_WORDS = frozenset("id ids uuid guid key index rownames rowid nr no number".split())
GROUP_WORDS = frozenset(
    "patient subject customer client user person participant member household session student "
    "employee speaker driver player account device machine sensor".split()
)
"""What rows may belong to; a column of such a name, without further words, names groups."""


def name_words(name: str) -> list[str]:
    """The words of a column's name in small letters: "dateOfBirth" and "date_of_birth" alike."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return [word for word in re.split(r"[\W_\d]+", apart.lower()) if word]
