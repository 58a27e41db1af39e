"""Docstrings hold mathematics as people read it in a terminal: |r|, coef_, a*b.

reStructuredText would take these marks for substitutions, links and emphasis. Here they are
escaped in running text; code (in backquotes, doctests, indented literal blocks) stays as it is.
"""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(``.*?``|`[^`]*`|:\w+:`[^`]*`)")
_MARK = re.compile(r"(?<!\\)(\||\*|(?<=\w)_(?!\w))")
_PARAMETER = re.compile(r"^\s*[*\w, ]+ : ")
_RULE = re.compile(r"^[\s=\-]+$")


def escape_docstring(
    app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Sphinx's autodoc-process-docstring: escape the lines in place."""
    lines[:] = escape(lines)


def escape(lines: list[str]) -> list[str]:
    """The same lines with the marks of reStructuredText escaped in running text."""
    escaped: list[str] = []
    literal_indent: int | None = None  # of the line that ended in "::"
    in_doctest = False
    for line in lines:
        indent, text = len(line) - len(line.lstrip()), line.strip()
        in_doctest = bool(text) and (in_doctest or text.startswith(">>>"))
        if literal_indent is not None and text and indent <= literal_indent:
            literal_indent = None
        if in_doctest or literal_indent is not None or _RULE.match(line) or _PARAMETER.match(line):
            escaped.append(line)
            continue
        escaped.append(escape_text(line))
        if text.endswith("::"):
            literal_indent = indent
    return escaped


def escape_text(line: str) -> str:
    """One line of running text; what stands in backquotes is left alone."""
    parts = _CODE.split(line)
    parts[::2] = [_MARK.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
