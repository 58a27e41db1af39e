"""Docstrings that name only what is new: the other entries come from related classes or functions.

A classifier and its regressor share most of their parameters. The class they both extend describes
these once, and `complete` copies the descriptions into the docstring of each. Methods that override
one of a base class need to describe only the arguments that differ; `described_like` does the same
for functions.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

_SECTIONS = ("Parameters", "Attributes", "Returns", "Notes", "References", "Examples")
Function = TypeVar("Function", bound=Callable[..., Any])

_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
FOREIGN = ("builtins", "abc", "sklearn.base")
"""Modules of base classes that describe no parameters."""


def complete(cls: type, defaults: Mapping[str, Any]) -> None:
    """Fill the sections "Parameters" and "Attributes" of a docstring from the base classes.

    The parameters get the order of `defaults`, which maps their names to their default values;
    inherited attributes follow those of the class. An inherited description is shown with the
    default of this class. Cost: O(length of the docstrings).
    """
    if not cls.__doc__:  # python -OO
        return
    text = inspect.cleandoc(cls.__doc__)
    ours = [base for base in cls.__mro__[1:] if base.__module__ not in FOREIGN]
    bases = [_clean(base.__doc__) for base in ours if base.__doc__]
    text = _with_parameters(text, bases, defaults)
    own = dict(_entries(text, "Attributes"))
    attributes = own | {
        name: entry for name, entry in _inherited(bases, "Attributes").items() if name not in own
    }
    if len(attributes) > len(own):
        text = _with_section(text, "Attributes", attributes.values())
    cls.__doc__ = text
    for name, method in vars(cls).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            _complete_function(method, [vars(base).get(name) for base in ours])


def described_like(*others: Callable[..., Any]) -> Callable[[Function], Function]:
    """Complete the docstring of a function from others that share arguments with it."""

    def completed(function: Function) -> Function:
        _complete_function(function, others)
        return function

    return completed


def _complete_function(function: Callable[..., Any], others: Iterable[Any]) -> None:
    """Fill "Parameters" and "Returns" from other functions, the most similar one first."""
    texts = [each.__doc__ for each in others if isinstance(each, FunctionType) and each.__doc__]
    bases = [_clean(text) for text in texts]
    if not bases:
        return
    text = inspect.cleandoc(function.__doc__ or bases[0].partition("\n\nParameters\n---")[0])
    text = _with_parameters(text, bases, _arguments(function))
    if not _entries(text, "Returns"):
        found = next(filter(None, (_entries(base, "Returns") for base in bases)), {})
        text = _with_section(text, "Returns", found.values()) if found else text
    function.__doc__ = text


def _arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a function and their defaults, named as in docstrings: ``**options``."""
    return {
        str(each.replace(annotation=each.empty, default=each.empty)): each.default
        for each in inspect.signature(function).parameters.values()
    }


def _with_parameters(text: str, bases: Sequence[str], defaults: Mapping[str, Any]) -> str:
    """The text with entries for all parameters that it or a base class describes."""
    own = dict(_entries(text, "Parameters"))
    inherited = _inherited(bases, "Parameters")
    missing = [name for name in defaults if name not in own and name in inherited]
    if not missing:
        return text
    described = own | {name: _with_default(inherited[name], defaults[name]) for name in missing}
    ordered = [described[name] for name in defaults if name in described]
    return _with_section(text, "Parameters", ordered)


def _inherited(bases: Sequence[str], title: str) -> dict[str, str]:
    """Entries of a section of the base classes, the farthest first; the nearest class wins."""
    found: dict[str, str] = {}
    for text in reversed(bases):
        found.update(_entries(text, title))
    return found


@cache
def _clean(text: str) -> str:
    return inspect.cleandoc(text)


@cache
def _entries(text: str, title: str) -> Mapping[str, str]:
    """Entries of a section by name; an entry of several names ("a, b : int") stands under each."""
    begin, end = _bounds(text, title)
    parts = [part.rstrip() for part in _ENTRY.split(text[begin:end]) if part.strip()]
    return {name: part for part in parts for name in part.partition(" :")[0].split(", ")}


def _bounds(text: str, title: str) -> tuple[int, int]:
    """Where the entries of a section begin and end, or twice where a missing one belongs."""
    head = f"\n{title}\n{'-' * len(title)}\n"
    place = text.find(head)
    begin = place + len(head) if place >= 0 else 0
    later = _SECTIONS[_SECTIONS.index(title) + 1 :]
    ends = [text.find(f"\n{each}\n{'-' * len(each)}\n", begin) for each in later]
    stop = min((end + 1 for end in ends if end >= 0), default=len(text))
    return (begin, stop) if begin else (stop, stop)


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
    shown = f'"{value}"' if isinstance(value, str) else repr(value)
    if not given or value is inspect.Parameter.empty or default == shown:
        return entry
    try:
        same = ast.literal_eval(default) == value and not isinstance(value, bool)
    except (ValueError, SyntaxError):
        return entry
    return entry if same else f"{kind}default={shown}\n{body}"
