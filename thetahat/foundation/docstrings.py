"""Docstrings that name only what is new: the other entries come from related classes or functions.

A classifier and its regressor share most of their parameters. The class they both extend describes
these once, and `complete` copies the descriptions into the docstring of each. `described_like` does
the same for functions.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

_SECTIONS = ("Parameters", "Returns", "Attributes", "Notes", "References", "Examples")
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)

F = TypeVar("F", bound=Callable[..., Any])


def described_like(*others: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator: parameters that a docstring leaves out are described as in other functions."""

    def described(function: F) -> F:
        if function.__doc__:
            defaults = {
                name: parameter.default
                for name, parameter in inspect.signature(function).parameters.items()
            }
            sources = [inspect.getdoc(other) or "" for other in others]
            function.__doc__ = _with_parameters(
                inspect.cleandoc(function.__doc__), sources, defaults
            )
        return function

    return described


def complete(cls: type, defaults: Mapping[str, Any]) -> None:
    """Fill the sections "Parameters" and "Attributes" of a docstring from the base classes.

    The parameters get the order of `defaults`, which maps their names to their default values;
    inherited attributes follow those of the class. An inherited description is shown with the
    default of this class. Cost: O(length of the docstrings).
    """
    if not cls.__doc__:  # python -OO
        return
    text = inspect.cleandoc(cls.__doc__)
    bases = [inspect.cleandoc(base.__doc__) for base in cls.__mro__[1:] if base.__doc__]
    text = _with_parameters(text, bases, defaults)
    own = _entries(text, "Attributes")
    attributes = own | {
        name: entry for name, entry in _inherited(bases, "Attributes").items() if name not in own
    }
    if len(attributes) > len(own):
        text = _with_section(text, "Attributes", attributes.values())
    cls.__doc__ = text


def _with_parameters(text: str, sources: Sequence[str], defaults: Mapping[str, Any]) -> str:
    """The docstring with a description of each parameter, in the order of `defaults`."""
    own = _entries(text, "Parameters")
    missing = [name for name in defaults if name not in own]
    if not missing:
        return text
    inherited = _inherited(sources, "Parameters")
    described = own | {
        name: _with_default(inherited[name], defaults[name])
        for name in missing
        if name in inherited
    }
    return _with_section(
        text, "Parameters", [described[name] for name in defaults if name in described]
    )


def _inherited(bases: Iterable[str], title: str) -> dict[str, str]:
    """Entries of a section of the base classes; the nearest class wins."""
    found: dict[str, str] = {}
    for text in bases:
        for name, entry in _entries(text, title).items():
            found.setdefault(name, entry)
    return found


def _entries(text: str, title: str) -> dict[str, str]:
    """Entries of a section by name; an entry of several names ("a, b : int") stands under each."""
    begin, end = _bounds(text, title)
    parts = [part.rstrip() for part in _ENTRY.split(text[begin:end]) if part.strip()]
    return {name: part for part in parts for name in part.partition(" :")[0].split(", ")}


def _bounds(text: str, title: str) -> tuple[int, int]:
    """Where the entries of a section begin and end, or twice where a missing one belongs."""
    head = re.search(rf"^{title}\n-+\n", text, re.MULTILINE)
    later = "|".join(_SECTIONS[_SECTIONS.index(title) + 1 :])
    begin = head.end() if head else 0
    end = re.compile(rf"^(?:{later})\n-+\n", re.MULTILINE).search(text, begin)
    stop = end.start() if end else len(text)
    return (begin, stop) if head else (stop, stop)


def _with_section(text: str, title: str, entries: Iterable[str]) -> str:
    begin, end = _bounds(text, title)
    before = (
        text[:begin] if begin < end else f"{text[:end].rstrip()}\n\n{title}\n{'-' * len(title)}\n"
    )
    return "\n".join([before.rstrip(), *dict.fromkeys(entries), "", text[end:]]).rstrip()


def _with_default(entry: str, value: Any) -> str:
    """The entry with the default value of this class in its first line."""
    head, _, body = entry.partition("\n")
    kind, given, default = head.partition("default=")
    try:
        if not given or ast.literal_eval(default) == value:
            return entry
    except (ValueError, SyntaxError):
        return entry
    shown = f'"{value}"' if isinstance(value, str) else repr(value)
    return f"{kind}default={shown}\n{body}"
