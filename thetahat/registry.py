"""The methods that thetahat covers: which public names serve each, and which tests verify it.

The record is ``methods.toml``; this module reads and prints it. A method is served if it has public
names, has tests, and nothing is missing. The method index of the documentation and the command
``thetahat methods`` are generated from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Any


class State(Enum):
    """How far a method is served; the value is its mark in a printed list."""

    SERVED = "✓"
    PARTIAL = "~"
    OPEN = "·"


@dataclass(frozen=True)
class Row:
    """One method: its title, and the names and tests that serve it."""

    id: str
    title: str
    area: str
    """The letter of its area; `areas` gives the titles."""
    worked: str
    """"course" if the course teaches it, "mentioned" if the course only names it."""
    names: tuple[str, ...] = ()
    """Public names below ``thetahat``: "Ridge", "losses.Huber"."""
    tests: tuple[str, ...] = ()
    """Test ids: "tests/path/test_file.py::test_name"."""
    partial: str = ""
    """What is still missing, if the names serve only a part of the method."""

    @property
    def state(self) -> State:
        if self.partial:
            return State.PARTIAL
        return State.SERVED if self.names and self.tests else State.OPEN


@cache
def _record() -> Mapping[str, Any]:
    return tomllib.loads(files("thetahat").joinpath("methods.toml").read_text(encoding="utf-8"))


def areas() -> Mapping[str, str]:
    """Letter and title of every area, in order."""
    return dict(_record()["areas"])


def rows() -> tuple[Row, ...]:
    """Every method, in order."""
    return tuple(
        Row(**{**entry, "id": id, "names": tuple(entry["names"]), "tests": tuple(entry["tests"])})
        for id, entry in _record()["rows"].items()
    )


def served() -> tuple[Row, ...]:
    """The methods that are served in full."""
    return tuple(row for row in rows() if row.state is State.SERVED)


def as_data(selection: Iterable[Row]) -> dict[str, Any]:
    """The methods as plain data, for JSON."""
    chosen = list(selection)
    return {
        "served": _count(chosen),
        "total": len(chosen),
        "rows": [
            asdict(row) | {"area_title": areas()[row.area], "state": row.state.name.lower()}
            for row in chosen
        ],
    }


def report(selection: Iterable[Row], *, color: bool = False) -> str:
    """The methods by area, one line each, and the count at the end."""
    chosen = list(selection)
    id_width = max((len(row.id) for row in chosen), default=0)
    title_width = max((len(row.title) for row in chosen), default=0)
    lines = []
    for letter, title in areas().items():
        members = [row for row in chosen if row.area == letter]
        if not members:
            continue
        heading = f"{letter}. {title}"
        count = f"{_count(members)} of {len(members)}"
        lines.append(f"{_paint(heading, '1', color)}  {count}")
        for row in members:
            note = f"missing: {row.partial}" if row.partial else ", ".join(row.names)
            line = f"  {row.state.value} {row.id:<{id_width}}  {row.title:<{title_width}}  {note}"
            lines.append(_paint(line.rstrip(), _COLORS[row.state], color))
        lines.append("")
    lines.append(f"{_count(chosen)} of {len(chosen)} methods served")
    return "\n".join(lines)


_COLORS = {State.SERVED: "32", State.PARTIAL: "33", State.OPEN: "2"}


def _count(selection: Iterable[Row]) -> int:
    return sum(row.state is State.SERVED for row in selection)


def _paint(text: str, code: str, color: bool) -> str:
    return f"\033[{code}m{text}\033[0m" if color else text
