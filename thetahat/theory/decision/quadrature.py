"""Adaptive integration of several functions of one variable over panels.

A panel is integrated by Gauss's rule, and once more by the same rule on its two halves. The
difference is the error of the panel; panels with large errors are replaced by their halves. An
infinite range is mapped to a finite one by x = c + s·t/(1 − t²), or x = a + s·t/(1 − |t|) if one
end is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np

from thetahat.foundation.types import Array

PANELS = 64
"""Panels at the start, so that narrow parts of a density are seen."""
MOST_PANELS = 20_000
MOST_SWEEPS = 60
TOLERANCE = 1e-11
NARROWEST = 1e-13
"""Width of the narrowest panel that is halved, as a share of its distance from 0."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


@dataclass(frozen=True)
class Line:
    """An interval from `low` to `high`, which may be infinite, and its map to finite numbers."""

    low: float
    high: float
    centre: float = 0.0
    """Where most of a function on the whole line is."""
    scale: float = 1.0
    """How far it extends; without it, points far from 0 would lose digits."""

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the mapped interval."""
        if isfinite(self.low) and isfinite(self.high):
            return self.low, self.high
        return (0.0 if isfinite(self.low) else -1.0), (0.0 if isfinite(self.high) else 1.0)

    @property
    def _origin(self) -> float:
        """The point of an infinite line that is mapped to 0."""
        if isfinite(self.low):
            return self.low
        return self.high if isfinite(self.high) else self.centre

    def x(self, t: Array) -> Array:
        """The points of the line."""
        if isfinite(self.low) and isfinite(self.high):
            return t
        spread = 1.0 - t * t if self.low == -self.high else 1.0 - np.abs(t)
        return self._origin + self.scale * (t / spread)

    def t(self, x: Array) -> Array:
        """The mapped points: the inverse of `x`."""
        if isfinite(self.low) and isfinite(self.high):
            return x
        u = (x - self._origin) / self.scale
        if self.low == -self.high:
            return 2.0 * u / (1.0 + np.sqrt(1.0 + 4.0 * u * u))
        return u / (1.0 + np.abs(u))

    def slope(self, t: Array) -> Array:
        """The derivative dx/dt."""
        if isfinite(self.low) and isfinite(self.high):
            return np.ones_like(t)
        if self.low == -self.high:
            return self.scale * (1.0 + t * t) / (1.0 - t * t) ** 2
        return self.scale / (1.0 - np.abs(t)) ** 2


@dataclass(frozen=True, eq=False)
class Integral:
    """Integrals over panels that follow each other, and where the functions were evaluated."""

    panels: Array
    """Middle of each panel on the line, (p,)."""
    values: Array
    """Integral of each function over each panel, (functions, p)."""
    error: float
    """Sum of the errors of all panels: an estimate of the error of the largest integral."""
    points: Array
    """Points at which the functions were evaluated, in ascending order."""


def integrate(
    functions: Callable[[Array], Array], line: Line, breakpoints: Array | None = None
) -> Integral:
    """Integrate functions x ↦ (k, n) over a line; panels end at the breakpoints."""
    low, high = line.ends
    edges = np.linspace(low, high, PANELS + 1)
    if breakpoints is not None and len(breakpoints):
        inner = line.t(np.asarray(breakpoints, dtype=np.float64))
        edges = np.unique(np.concatenate([edges, inner[(inner > low) & (inner < high)]]))
    left, right = edges[:-1], edges[1:]
    whole = _gauss(functions, line, left, right)
    middle = (left + right) / 2
    halves = _halves(functions, line, left, middle, right)
    for _ in range(MOST_SWEEPS):
        errors = np.abs(whole - halves.sum(axis=0)).max(axis=0)
        wanted = errors > TOLERANCE / (2 * errors.size)
        wanted &= right - left > NARROWEST * np.maximum(np.abs(left), np.abs(right))
        if errors.sum() <= TOLERANCE or not wanted.any():
            break
        if errors.size + wanted.sum() > MOST_PANELS:
            break
        keep = ~wanted
        new_left = np.concatenate([left[wanted], middle[wanted]])
        new_right = np.concatenate([middle[wanted], right[wanted]])
        new_whole = np.concatenate([halves[0][:, wanted], halves[1][:, wanted]], axis=1)
        new_middle = (new_left + new_right) / 2
        new_halves = _halves(functions, line, new_left, new_middle, new_right)
        left = np.concatenate([left[keep], new_left])
        middle = np.concatenate([middle[keep], new_middle])
        right = np.concatenate([right[keep], new_right])
        whole = np.concatenate([whole[:, keep], new_whole], axis=1)
        halves = np.concatenate([halves[:, :, keep], new_halves], axis=2)
    errors = np.abs(whole - halves.sum(axis=0)).max(axis=0)
    order = np.argsort(left, kind="stable")
    left, middle, right = left[order], middle[order], right[order]
    points = _points(np.concatenate([left, middle]), np.concatenate([middle, right]))
    return Integral(
        line.x(middle),
        halves.sum(axis=0)[:, order],
        float(errors.sum()),
        np.unique(line.x(points)),
    )


def _points(left: Array, right: Array) -> Array:
    return (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * _NODES


def _gauss(functions: Callable[[Array], Array], line: Line, left: Array, right: Array) -> Array:
    t = _points(left, right)
    values = functions(line.x(t.ravel())) * line.slope(t.ravel())
    return values.reshape(-1, *t.shape) @ _WEIGHTS * ((right - left) / 2)


def _halves(
    functions: Callable[[Array], Array], line: Line, left: Array, middle: Array, right: Array
) -> Array:
    both = _gauss(functions, line, np.concatenate([left, middle]), np.concatenate([middle, right]))
    return np.stack(np.split(both, 2, axis=1))
