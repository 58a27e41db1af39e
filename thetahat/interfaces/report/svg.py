"""Figures as inline SVG: frames with axes, lines, bands, points and bars.

Colours are CSS classes of the page, so that figures also suit dark mode and print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 420, 300
RIGHT, TOP, BOTTOM = 14, 12, 46
CHARACTER = 7.2
"""Width of a character of a tick label."""
WIDE, NARROW = "mwMW@%&<>=+~", "fijlrtI.,:;!|'()[] "
LINE = 13
"""Height of a line of tick labels."""
LABEL = 7.4
"""Width of a character of the label of an axis."""
UNITS = ((1e12, 1e12, "T"), (1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e5, 1e3, "k"))
"""Sizes of numbers from which they are divided by a scale and get a unit."""


@dataclass
class Frame:
    """A plane with axes; coordinates are in the units of the data."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    title: str
    """Description for screen readers."""
    square: bool = False
    x_names: Sequence[str] | None = None
    """Names instead of numbers, at 0, 1, 2, …"""
    _marks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        widest = max(map(len, labels_of(ticks(*self.y_range))))
        self.left = int(max(46.0, 31 + CHARACTER * widest))
        self._names: list[list[str]] = []
        if self.x_names is not None:
            room = (WIDTH - self.left - RIGHT) / max(1, len(self.x_names)) - 6
            self._names = [wrapped(name, room) for name in self.x_names]
        self.bottom = BOTTOM + LINE * (max(map(len, self._names), default=1) - 1)

    @property
    def height(self) -> int:
        return WIDTH - self.left - RIGHT + TOP + self.bottom if self.square else HEIGHT

    def x(self, value: float) -> float:
        return self.left + _share(value, self.x_range) * (WIDTH - self.left - RIGHT)

    def y(self, value: float) -> float:
        inside = self.height - TOP - self.bottom
        return TOP + inside - _share(value, self.y_range) * inside

    def line(self, xs: Iterable[float], ys: Iterable[float], kind: str = "line") -> None:
        """Points joined in order."""
        self._marks.append(f'<polyline class="{kind}" points="{self._points(xs, ys)}"/>')

    def band(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """The area between two curves."""
        ring = self._points([*xs, *reversed(xs)], [*low, *reversed(high)])
        self._marks.append(f'<polygon class="band" points="{ring}"/>')

    def points(
        self, xs: Iterable[float], ys: Iterable[float], radius: float = 3.5, kind: str = "dot"
    ) -> None:
        """Dots."""
        self._marks += [
            f'<circle class="{kind}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius}"/>'
            for x, y in zip(xs, ys, strict=True)
        ]

    def whiskers(self, xs: Iterable[float], low: Iterable[float], high: Iterable[float]) -> None:
        """Vertical intervals."""
        self._marks += [
            f'<line class="whisker" x1="{self.x(x):.1f}" x2="{self.x(x):.1f}" '
            f'y1="{self.y(a):.1f}" y2="{self.y(b):.1f}"/>'
            for x, a, b in zip(xs, low, high, strict=True)
        ]

    def bars(self, edges: Sequence[float], heights: Sequence[float]) -> None:
        """A histogram."""
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            top, bottom = self.y(height), self.y(0.0)
            self._marks.append(
                f'<rect class="bar" x="{self.x(left):.1f}" y="{top:.1f}" '
                f'width="{max(0.5, self.x(right) - self.x(left) - 1):.1f}" '
                f'height="{bottom - top:.1f}"/>'
            )

    def note(self, x: float, y: float, text: str, kind: str = "tick", anchor: str = "end") -> None:
        """Text at a place."""
        self._marks.append(
            f'<text class="{kind}" x="{self.x(x):.1f}" y="{self.y(y):.1f}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def __str__(self) -> str:
        description = escape(self.title)
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{description}">'
            f"{self._axes()}{''.join(self._marks)}</svg>"
        )

    def _points(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, ys, strict=True))

    def _axes(self) -> str:
        bottom, parts = self.height - self.bottom, []
        heights = ticks(*self.y_range)
        for value, text in zip(heights, labels_of(heights), strict=True):
            y = self.y(value)
            parts.append(
                f'<line class="grid" x1="{self.left}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                f'y2="{y:.1f}"/>'
            )
            parts.append(
                f'<text class="tick" x="{self.left - 7}" y="{y + 4:.1f}" text-anchor="end">'
                f"{text}</text>"
            )
        for value, lines in self._along():
            for number, text in enumerate(lines):
                parts.append(
                    f'<text class="tick" x="{self.x(value):.1f}" y="{bottom + 17 + LINE * number}" '
                    f'text-anchor="middle">{escape(text)}</text>'
                )
        middle, across = (self.left + WIDTH - RIGHT) / 2, (TOP + bottom) / 2
        wide, tall = WIDTH - self.left - RIGHT, bottom - TOP
        parts.append(
            f'<line class="axis" x1="{self.left}" x2="{WIDTH - RIGHT}" y1="{bottom}" '
            f'y2="{bottom}"/>'
            f'<text class="label" x="{middle}" y="{self.height - 8}" text-anchor="middle">'
            f"{escape(shortened(self.x_label, int(wide / LABEL)))}</text>"
            f'<text class="label" x="13" y="{across}" text-anchor="middle" '
            f'transform="rotate(-90 13 {across})">'
            f"{escape(shortened(self.y_label, int(tall / LABEL)))}</text>"
        )
        return "".join(parts)

    def _along(self) -> list[tuple[float, list[str]]]:
        """The places and lines of the ticks of the horizontal axis, which do not overlap."""
        wide = WIDTH - self.left - RIGHT
        if self.x_names is not None:
            return list(enumerate(self._names))
        for most in (6, 5, 4, 3, 2):
            values = ticks(*self.x_range, most)
            texts = labels_of(values)
            if sum(map(len, texts)) * CHARACTER + 12 * len(texts) <= wide:
                break
        return [(value, [text]) for value, text in zip(values, texts, strict=True)]


def interval_row(low: float, value: float, high: float, span: tuple[float, float]) -> str:
    """One interval with its estimate, over the full width of the column."""
    a, b, c = (100 * _share(each, span) for each in (low, value, high))
    return (
        '<svg class="row" height="22" width="100%" aria-hidden="true">'
        '<line class="grid" x1="0" x2="100%" y1="11" y2="11"/>'
        f'<line class="whisker" x1="{a:.2f}%" x2="{c:.2f}%" y1="11" y2="11"/>'
        f'<circle class="dot" cx="{b:.2f}%" cy="11" r="5"/></svg>'
    )


def bar_row(value: float, span: tuple[float, float], kind: str = "") -> str:
    """A bar from 0 to a value, which may be negative, over the full width of the column."""
    zero, end = 100 * _share(0.0, span), 100 * _share(value, span)
    kind = kind or ("rise" if value >= 0 else "fall")
    return (
        '<svg class="row" height="22" width="100%" aria-hidden="true">'
        f'<rect class="{kind}" x="{min(zero, end):.2f}%" y="5" height="12" '
        f'width="{abs(end - zero):.2f}%"/>'
        f'<line class="axis" x1="{zero:.2f}%" x2="{zero:.2f}%" y1="1" y2="21"/></svg>'
    )


def swarm_row(values: Sequence[float], shades: Sequence[int], span: tuple[float, float]) -> str:
    """Dots along a line, beside each other where they would overlap; shades 0 to 4 colour them."""
    stacked: dict[int, int] = {}
    dots = ""
    for value, shade in zip(values, shades, strict=True):
        share = 100 * _share(value, span)
        place = round(share / 1.2)
        number = stacked.get(place, 0)
        stacked[place] = number + 1
        offset = min(11.0, (number + 1) // 2 * 2.2) * (1 if number % 2 else -1)
        dots += f'<circle class="v{shade}" cx="{share:.1f}%" cy="{14 + offset:.1f}" r="2.4"/>'
    zero = 100 * _share(0.0, span)
    return (
        '<svg class="row swarm" height="28" width="100%" aria-hidden="true">'
        f'<line class="axis" x1="{zero:.2f}%" x2="{zero:.2f}%" y1="0" y2="28"/>{dots}</svg>'
    )


def sparkline(heights: Sequence[float]) -> str:
    """A small histogram without axes."""
    top = max(heights, default=0.0) or 1.0
    wide = 100 / max(1, len(heights))
    bars = "".join(
        f'<rect class="bar" x="{place * wide:.2f}" y="{30 - 30 * height / top:.1f}" '
        f'width="{0.86 * wide:.2f}" height="{30 * height / top:.1f}"/>'
        for place, height in enumerate(heights)
    )
    return (
        '<svg class="spark" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">'
        f"{bars}</svg>"
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two ends."""
    if not math.isfinite(low) or not math.isfinite(high) or high <= low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    found = [each * step for each in range(first, math.floor(high / step + 1e-9) + 1)]
    return found or [low]


def labels_of(values: Sequence[float]) -> list[str]:
    """The numbers of an axis, all with the same decimals and unit."""
    size = max(map(abs, values), default=0.0)
    step = min((b - a for a, b in pairwise(values)), default=size) or 1.0
    if not math.isfinite(size) or size >= 1e16 or 0 < size < 1e-4 or step < 1e-9 * size:
        return [f"{value:.4g}".replace("e+", "e").replace("-", "−") for value in values]
    fitting = (
        (scale, unit) for least, scale, unit in UNITS if size >= least and step >= scale / 1000
    )
    scale, unit = next(fitting, (1.0, ""))
    decimals = next(
        each for each in range(12) if abs(round(step / scale, each) - step / scale) < 1e-9 * step
    )
    return [_with_unit(f"{value / scale:,.{decimals}f}", unit) for value in values]


def _with_unit(text: str, unit: str) -> str:
    return text.replace("-", "−") + unit if text.strip("-0.,") else "0"


def shortened(text: str, most: int) -> str:
    """Text of at most so many characters; long text keeps its end, where names often differ."""
    if len(text) <= most:
        return text
    tail = most // 3 if most >= 12 else 0
    return f"{text[: max(1, most - 1 - tail)]}…{text[len(text) - tail :]}"


def width_of(text: str) -> float:
    """About the width of a tick label in a wide font."""
    wide, narrow = (sum(each in some for each in text) for some in (WIDE, NARROW))
    return CHARACTER * (len(text) + 0.5 * wide - 0.4 * narrow)


def wrapped(text: str, room: float) -> list[str]:
    """Text in one line or two, shortened where they are wider than the room."""
    if width_of(text) <= room:
        return [text]
    cut = max((k for k in range(1, len(text)) if width_of(text[:k]) <= room), default=1)
    blank = max(text.rfind(mark, 0, cut + 1) for mark in " -_/,")
    # A word that is cut in the middle needs most of the line.
    first = text[: blank + 1] if blank > 0 else text[:cut]
    rest = text[len(first) :].strip()
    fits = (k for k in range(len(rest), 0, -1) if width_of(shortened(rest, k)) <= room)
    return [first.strip(), shortened(rest, next(fits, 1))]


def _share(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return (value - low) / (high - low) if high > low else 0.5
