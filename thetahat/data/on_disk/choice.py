"""The columns of a file that are features, target and weight."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from thetahat.data.columns.schema import Column, Kind, Schema
from thetahat.data.on_disk.reader import OTHER_TEXT, Reader
from thetahat.foundation.errors import DataError

Key = str | int
"""A column by name, or by number (negative numbers count from the end)."""


@dataclass(frozen=True)
class Choice:
    """Numbers of the columns in the file, by role."""

    features: tuple[int, ...]
    targets: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns that are read, features first."""
        return self.features + self.targets + self.weights


def choose_columns(
    reader: Reader,
    features: Iterable[Key] | None,
    targets: Sequence[Key],
    weights: Sequence[Key],
    *,
    labels: bool,
) -> Choice:
    """Find the columns, and check that they are distinct and hold numbers.

    With `labels`, the target may hold text or categories instead.
    """
    index = _index(reader)
    target_places = tuple(_place(reader, index, key, "target") for key in targets)
    weight_places = tuple(_place(reader, index, key, "weight") for key in weights)
    if features is None:
        taken = {*target_places, *weight_places}
        others = (j for j, field in enumerate(reader.fields) if not field.is_index)
        places = tuple(j for j in others if j not in taken)
    else:
        keys = as_list(features, "features")
        places = tuple(_place(reader, index, key, "features") for key in keys)
    if not places:
        raise DataError(f"{reader.path}: no column is left for the features. Name at least one.")
    choice = Choice(places, target_places, weight_places)
    _require_distinct(reader, choice)
    for place in choice.columns:
        # Labels and categories are accepted; by `require_numbers` for models that need numbers.
        listed = reader.has_names if place in places else labels and place in target_places
        if reader.fields[place].kind is None or not listed:
            _require_numbers(reader, place, is_target=place in target_places)
    return choice


def as_list(columns: Key | Iterable[Key], role: str) -> list[Key]:
    """Columns as a list; raises an error for a set, which has no order."""
    if isinstance(columns, set | frozenset):
        raise DataError(
            f"{role} is a set, whose order varies between runs, but the columns of X need one. "
            f"Pass a list, such as {role}=sorted(columns)."
        )
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        return [columns]
    return list(columns)


def require_numbers(reader: Reader, features: Sequence[int]) -> None:
    """Raise an error if a column of X holds categories or text."""
    for place in features:
        _require_numbers(reader, place, is_target=False)


def schema_of(reader: Reader, places: Sequence[int]) -> Schema:
    """Names and kinds of some columns; empty if the file has no names."""
    if not reader.has_names:
        return Schema()
    fields = (reader.fields[place] for place in places)
    return Schema(tuple(Column(field.name, field.kind or Kind.NUMERIC) for field in fields))


def _index(reader: Reader) -> dict[str, int]:
    """Numbers of the columns by name; raises an error for a repeated name."""
    index: dict[str, int] = {}
    for place, field in enumerate(reader.fields):
        if reader.has_names and field.name in index:
            raise DataError(
                f"{reader.path}: columns {index[field.name]} and {place} are both named "
                f"{field.name!r}. Rename one of them."
            )
        index[field.name] = place
    return index


def _place(reader: Reader, index: dict[str, int], key: Key, role: str) -> int:
    width = len(reader.fields)
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -width <= key < width:
            raise DataError(
                f"{reader.path}: {role}={key!r}, but the file has {width} columns, numbered 0 to "
                f"{width - 1}."
            )
        return int(key) % width
    if not isinstance(key, str):
        raise DataError(
            f"{reader.path}: {role}={key!r} is not a column. Give a name, a number or a list of "
            "them."
        )
    if not reader.has_names:
        raise DataError(
            f"{reader.path}: {role}={key!r}, but the columns have no names. Give numbers, 0 to "
            f"{width - 1}."
        )
    if key not in index:
        near = get_close_matches(key, index, n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        listed = ", ".join(map(repr, list(index)[:20])) + (", ..." if width > 20 else "")
        raise DataError(
            f"{reader.path} has no column {key!r} for {role}.{hint} Its columns: {listed}."
        )
    return index[key]


def _require_distinct(reader: Reader, choice: Choice) -> None:
    roles = [
        (place, role)
        for role, places in (
            ("features", choice.features),
            ("target", choice.targets),
            ("weight", choice.weights),
        )
        for place in places
    ]
    seen: dict[int, str] = {}
    for place, role in roles:
        if place in seen:
            raise DataError(
                f"{reader.path}: column {reader.label(place)} is used for {seen[place]} and for "
                f"{role}. Use each column once."
            )
        seen[place] = role


def _require_numbers(reader: Reader, place: int, *, is_target: bool) -> None:
    field = reader.fields[place]
    if field.holds_numbers:
        return
    what = "of type " + field.type_name if field.kind is None else field.kind.value
    row, value = reader.example(place)
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d*,\d+", value):
        remedy = 'Pass decimal="," if its numbers have decimal commas'
    elif field.type_name == OTHER_TEXT:
        remedy = 'Pass the encoding of the file, such as encoding="latin-1", if it is text'
    elif is_target and field.kind is not None:
        remedy = "Name one column as target=... for labels of text"
    else:
        remedy = "Leave it out with features=[...]"
    raise DataError(
        f"{reader.path}: column {reader.label(place)} is {what} (row {row} holds {value!r}), but "
        f"it must hold numbers. {remedy}, or encode it and write the file again."
    )
