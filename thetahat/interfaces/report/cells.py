"""Pieces of HTML that several sections of a report share: tables, figures, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time
from html import escape
from typing import Any

from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.printable import printable
from thetahat.interfaces import console

Figure = tuple[str, str, str]
"""Title, caption, and picture."""


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], kinds: str, *, best: int = -1
) -> str:
    """A table of cells that are HTML already; `heads` are text.

    `kinds` has one letter per column: t for text, n for numbers, p for a picture, and capitals for
    columns that are left out on narrow screens.
    """
    classes = [_class(each) for each in kinds]
    head = "".join(
        f"<th{kind}>{escape(text)}</th>" for text, kind in zip(heads, classes, strict=True)
    )
    body = "".join(
        ('<tr class="best">' if number == best else "<tr>")
        + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, classes, strict=True))
        + "</tr>"
        for number, row in enumerate(rows)
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _class(kind: str) -> str:
    names = {"t": "", "n": "n", "p": "picture"}[kind.lower()] + " wide" * kind.isupper()
    return f' class="{names.strip()}"' if names else ""


def figures(drawn: Sequence[Figure]) -> str:
    """Figures side by side where there is room."""
    inside = "".join(
        f"<figure><h3>{escape(title)}</h3><figcaption>{escape(caption)}</figcaption>{picture}"
        "</figure>"
        for title, caption, picture in drawn
    )
    return f'<div class="grid2">{inside}</div>' if inside else ""


def quiet(text: str, *, wide: bool = False) -> str:
    """A remark in small type; a `wide` one is left out on narrow screens."""
    return f'<p class="quiet{" wide" * wide}">{escape(text)}</p>'


def folded(label: str, inside: str) -> str:
    """Content that is shown on request."""
    return f"<details><summary>{escape(label)}</summary>{inside}</details>"


def sentence(text: str) -> str:
    """Text with a capital letter."""
    return text[:1].upper() + text[1:]


def tidy(value: float, digits: int = 3) -> str:
    """A number for people, with a minus sign."""
    return console.tidy(value, digits).replace("-", "−")


def percent(share: float) -> str:
    """A share in percent; small ones with a digit more."""
    return f"{share:.2%}" if 0 < share < 0.001 else f"{share:.1%}"


def between(interval: Interval | None, digits: int = 3) -> str:
    """The two ends of an interval."""
    if interval is None:
        return "–"
    return f"{tidy(interval.low, digits)} to {tidy(interval.high, digits)}"


def shown_value(value: Any) -> str:
    """The value of a cell of the data."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, date | time):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, float):
        return tidy(value, 4)
    text = str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def document(title: str, style: str, body: str) -> str:
    """The whole page; control characters of names and labels are shown as escapes."""
    body = printable(body, keep="\n\t")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(printable(title))}</title>'
        f"<style>{style}</style></head><body><main>{body}</main></body></html>\n"
    )
