"""Names of files and of their columns: what can be read, and what each column is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from thetahat.foundation.errors import DataError

STANDARD_INPUT = "-"
INDEX = "index"
"""Name of a nameless first column: data frames write the names of their rows so."""
OTHER_FORMATS = {
    ".json": "read_json",
    ".jsonl": "read_json(..., lines=True)",
    ".ndjson": "read_json(..., lines=True)",
    ".xls": "read_excel",
    ".ods": "read_excel",
    ".dta": "read_stata",
    ".sav": "read_spss",
    ".sas7bdat": "read_sas",
    ".orc": "read_orc",
    ".pkl": "read_pickle",
    ".gz": "read_csv",
    ".bz2": "read_csv",
    ".xz": "read_csv",
    ".zip": "read_csv",
}
"""Endings of other files, and the function of pandas that reads them."""


def called(path: str) -> str:
    return "Standard input" if path == STANDARD_INPUT else path


def require_supported(path: str, suffix: str) -> None:
    """Refuse files of a known format that is not read here."""
    if suffix in OTHER_FORMATS:
        raise DataError(
            f"{path}: {suffix} files are not read. Convert it to CSV or Parquet, for example with "
            f"pandas.{OTHER_FORMATS[suffix]} and to_parquet."
        )


def names_of(names: Sequence[str]) -> list[str]:
    """The names of columns; a nameless first one is the index of a data frame."""
    found = list(names)
    if len(found) > 1 and not found[0].strip() and INDEX not in found:
        found[0] = INDEX
    return found


def named_in_file(names: Sequence[str] | None, in_file: Sequence[str]) -> list[str] | None:
    """The names that columns have in the file."""
    if names is None:
        return None
    places = dict(zip(names_of(in_file), in_file, strict=True))
    return [places.get(name, name) for name in names]


def require_distinct(names: Sequence[str], path: str) -> None:
    unnamed = [place for place, name in enumerate(names) if not name.strip()]
    if unnamed:
        raise DataError(
            f"Column {unnamed[0] + 1} of {called(path)} has no name. Give every column a name in "
            "the first line."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        places = [place + 1 for place, name in enumerate(names) if name == twice[0]]
        raise DataError(
            f"{called(path)} has {len(places)} columns named {twice[0]!r} (columns "
            f"{', '.join(map(str, places))}). Give each its own name."
        )
