"""Figures as inline SVG: frames with axes, lines, bands, points and bars.

Colours are CSS classes of the page, so that figures also suit dark mode and print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 44


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

    @property
    def height(self) -> int:
        return WIDTH - LEFT - RIGHT + TOP + BOTTOM if self.square else HEIGHT

    def x(self, value: float) -> float:
        low, high = self.x_range
        share = (value - low) / (high - low) if high > low else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        low, high = self.y_range
        share = (value - low) / (high - low) if high > low else 0.5
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def line(self, xs: Iterable[float], ys: Iterable[float], kind: str = "line") -> None:
        """Points joined in order."""
        self._marks.append(f'<polyline class="{kind}" points="{self._points(xs, ys)}"/>')

    def band(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """The area between two curves."""
        ring = self._points([*xs, *reversed(xs)], [*low, *reversed(high)])
        self._marks.append(f'<polygon class="band" points="{ring}"/>')

    def points(self, xs: Iterable[float], ys: Iterable[float], radius: float = 3.5) -> None:
        """Dots."""
        self._marks += [
            f'<circle class="dot" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius}"/>'
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

    def __str__(self) -> str:
        description = escape(self.title)
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{description}">'
            f"{self._axes()}{''.join(self._marks)}</svg>"
        )

    def _points(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, ys, strict=True))

    def _axes(self) -> str:
        bottom, parts = self.height - BOTTOM, []
        for value in ticks(*self.y_range):
            y = self.y(value)
            parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            parts.append(
                f'<text class="tick" x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">'
                f"{number(value)}</text>"
            )
        named: list[tuple[float, str]] = [*enumerate(self.x_names or ())]
        for value, text in named or [(each, number(each)) for each in ticks(*self.x_range)]:
            parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{bottom + 17}" '
                f'text-anchor="middle">{escape(text)}</text>'
            )
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(
            f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>'
        )
        parts.append(
            f'<text class="label" x="{middle}" y="{self.height - 8}" text-anchor="middle">'
            f"{escape(self.x_label)}</text>"
        )
        across = (TOP + bottom) / 2
        parts.append(
            f'<text class="label" x="13" y="{across}" text-anchor="middle" '
            f'transform="rotate(-90 13 {across})">{escape(self.y_label)}</text>'
        )
        return "".join(parts)


def interval_row(low: float, value: float, high: float, span: tuple[float, float]) -> str:
    """One interval with its estimate, over the full width of the column."""
    a, b, c = (100 * _share(each, span) for each in (low, value, high))
    return (
        '<svg class="row" height="22" width="100%" aria-hidden="true">'
        '<line class="grid" x1="0" x2="100%" y1="11" y2="11"/>'
        f'<line class="whisker" x1="{a:.2f}%" x2="{c:.2f}%" y1="11" y2="11"/>'
        f'<circle class="dot" cx="{b:.2f}%" cy="11" r="5"/></svg>'
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
    return [each * step for each in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """A number as written on an axis."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e−").replace("-", "−")
    return f"{value:,.4g}".replace("-", "−") if abs(value) < 1e4 else f"{value:,.0f}"


def _share(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return (value - low) / (high - low) if high > low else 0.5
