"""Expectations under a density, by adaptive integration on a logarithmic scale.

The line is cut at the median m. Each half is mapped to t ≥ 0 so that its end is at infinity. The
distance from a finite end is (m − end)·e^{−t}. If only the other end is finite, the distance from
that one is (m − end)·e^t; if both are infinite, x = m ± s·sinh t. In t, poles of a density at a
finite end and heavy tails both become exponential decay, which panels of Gauss's rule resolve.
Weights are products of logarithms, so that they do not underflow before the function grows. What
lies beyond the last number of float64 is extrapolated; if that is not possible, it is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

Function = Callable[[Array], Array]

LEVELS = np.array([1e-12, 1e-9, 1e-6, 1e-3, 0.02, 0.1, 0.25])
"""Probabilities of a tail at whose quantiles panels end."""
LEAST_LOG = -800.0
"""Logarithm of a weight with which no float64 makes a sum."""
LARGEST_LOG = 708.0
OUTER_PANELS = 16
MOST_PANELS = 4000
MOST_SWEEPS = 60
GOAL = 1e-12
ACCEPTED = 1e-6
"""Largest error, relative to E |f(X)|, of a result that is given."""
NEGLIGIBLE = 1e-13
FAR = 1e30
"""Multiple of the distance of the median from which a tail that does not decay is infinite."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


class Law(Protocol):
    """What an integral needs of a distribution."""

    @property
    def support(self) -> tuple[float, float]: ...
    @property
    def mean(self) -> float: ...
    def log_density(self, x: Any) -> Array: ...
    def cdf(self, x: Any) -> Array: ...
    def quantile(self, probability: Any) -> Array: ...
    def _inner(self) -> float: ...


@dataclass(frozen=True)
class _Half:
    """One side of the median, in the coordinate t ≥ 0."""

    end: float
    origin: float
    """The end, or the finite end of the other half, or the median if both ends are infinite."""
    scale: float
    sign: float
    both_infinite: bool

    def x(self, t: Array) -> Array:
        with np.errstate(over="ignore"):
            if np.isfinite(self.end):
                return np.asarray(self.end - self.sign * self.scale * np.exp(-t))
            way = np.sinh(t) if self.both_infinite else np.exp(t)
            return np.asarray(self.origin + self.sign * self.scale * way)

    def log_slope(self, x: Array) -> Array:
        """log |dx/dt| at x itself, which rounding has moved a little."""
        with np.errstate(divide="ignore"):
            if not self.both_infinite:
                return np.asarray(np.log(np.abs(x - self.origin)))
            away = x / self.scale - self.origin / self.scale
            return np.asarray(np.log(np.hypot(1.0, away)) + np.log(self.scale))

    def t(self, x: Array) -> Array:
        away = np.abs(x - self.origin) / self.scale
        if self.both_infinite:
            return np.asarray(np.arcsinh(away))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(away) * (-1.0 if np.isfinite(self.end) else 1.0))

    @property
    def last(self) -> float:
        """The largest t whose x is a number with enough digits."""
        if np.isinf(self.end):
            return float(max(LARGEST_LOG - np.log(self.scale), 1.0))
        least = min(1e-8 * abs(self.end), 1e-3 * self.scale)
        return float(np.log(self.scale) - np.log(max(least, 1e-307)))


def density_expectation(law: Law, function: Function) -> float:
    """E f(X) of a continuous distribution; an error if it is not accurate or does not exist."""
    halves = _halves(law)
    parts = [_half_integral(law, function, half) for half in halves]
    mass, value, size, error = np.sum([part[:4] for part in parts], axis=0)
    infinite = [part[4] for part in parts if part[4] != 0]
    # Values far from 0 against their spread are rounded, which moves mass but not its total share.
    noise = 1e-13 * max(abs(half.origin) / half.scale for half in halves)
    if abs(mass - 1) > ACCEPTED + noise:
        raise ParameterError(
            f"{law!r}: the numerical integral of the density is {mass:.6g} instead of 1, so that "
            "an expectation would be wrong. The parameters are too extreme for float64; use "
            "formulas of the family, or a sample."
        )
    if infinite:
        if min(infinite) < 0 < max(infinite):
            raise ParameterError(
                f"{law!r}: the expectation does not exist: its parts below and above the median "
                f"are infinite with opposite signs. Use a function that grows more slowly."
            )
        return float(infinite[0] * np.inf)
    if not np.isfinite(value) or error > (ACCEPTED + noise) * max(size, 1e-300):
        raise ParameterError(
            f"{law!r}: the expectation does not converge: the numerical integral is {value:.6g} "
            f"with an estimated error of {error:.2g}. It may be infinite, or the function varies "
            "too fast; use a formula, or a sample."
        )
    return float(value / mass)


def values_of(law: Any, function: Function, x: Array) -> Array:
    """f at possible values of a distribution; an error unless it gives one number for each."""
    if not callable(function):
        raise ParameterError(
            f"{law!r}: the function must be callable, but {function!r:.60} is given. Pass, for "
            "example, np.log or lambda x: x**2."
        )
    given = function(x)
    found = numbers(given, "the result of the function", "expectation", finite=None)
    if found.shape not in ((), (1,), x.shape):
        raise ParameterError(
            f"{law!r}: the function must return one number for each value that it is given, but "
            f"its result has shape {found.shape} for values of shape {x.shape}. Write it with "
            "NumPy functions of the whole array."
        )
    found = np.broadcast_to(found, x.shape)
    if np.isnan(found).any():
        raise ParameterError(
            f"{law!r}: the function is NaN at x = {x[np.isnan(found)][0]:g}, which is a possible "
            "value. Give a function that is defined on the whole support."
        )
    return found


def _halves(law: Law) -> tuple[_Half, _Half]:
    low, high = law.support
    first, middle, third = (float(each) for each in law.quantile([0.25, 0.5, 0.75]))
    if not low < middle < high:  # so near an end that the median is rounded to it
        middle = next((x for x in (law.mean, law._inner()) if low < x < high), law._inner())
    width = third - first if 0 < third - first < np.inf else 1.0

    if np.isinf(low) and np.isinf(high):
        return _Half(low, middle, width, -1.0, True), _Half(high, middle, width, 1.0, True)
    first_end, second_end = (low, high) if np.isfinite(low) else (high, high)
    second_end = second_end if np.isfinite(second_end) else low
    return (
        _Half(low, first_end, abs(middle - first_end), -1.0, False),
        _Half(high, second_end, abs(middle - second_end), 1.0, False),
    )


def _half_integral(
    law: Law, function: Function, half: _Half
) -> tuple[float, float, float, float, float]:
    """∫ p, ∫ pf, ∫ p|f| and the error over one half, and the sign of an infinite ∫ pf, else 0."""

    def parts(t: Array) -> Array:
        """p, pf and p|f| per unit of t, (3, n)."""
        weights, values = _weighted(law, function, half, t)
        return np.stack([np.exp(weights), *_scaled(weights, values)])

    edges = _edges(law, function, half)
    left, right = edges[:-1], edges[1:]
    whole = _gauss(parts, left, right)
    kept, lost = np.zeros(3), 0.0
    for _ in range(MOST_SWEEPS):
        middle = (left + right) / 2
        one, two = _gauss(parts, left, middle), _gauss(parts, middle, right)
        errors = np.abs(one + two - whole)
        sizes = np.abs(kept) + np.abs(one + two).sum(axis=1)
        goal = GOAL * np.array([1.0, max(sizes[2], 1e-300), max(sizes[2], 1e-300)])
        wanted = (errors > goal[:, None] / 64).any(axis=0)
        wanted &= right - left > 1e-13 * np.maximum(right, 1e-3)
        if 2 * wanted.sum() > MOST_PANELS:
            wanted[:] = False
        done = ~wanted
        kept += (one + two)[:, done].sum(axis=1)
        lost += float(errors[1, done].sum())
        if not wanted.any():
            break
        left = np.concatenate([left[wanted], middle[wanted]])
        right = np.concatenate([middle[wanted], right[wanted]])
        whole = np.concatenate([one[:, wanted], two[:, wanted]], axis=1)
    else:
        kept += whole.sum(axis=1)
    mass, value, error, infinite = _beyond(law, function, half, float(edges[-1]), kept)
    return (
        kept[0] + mass,
        kept[1] + value,
        kept[2] + abs(value),
        lost + error,
        infinite,
    )


def _weighted(law: Law, function: Function, half: _Half, t: Array) -> tuple[Array, Array]:
    """log of p per unit of t, and f; f is 0 where the weight is too small for any f."""
    x = half.x(t)
    with np.errstate(all="ignore"):
        weights = law.log_density(x) + half.log_slope(x)
        counts = weights > LEAST_LOG
        counts &= np.isfinite(x) & (weights < np.inf)
        values = np.zeros(x.shape)
        if counts.any():
            values[counts] = values_of(law, function, x[counts])
    return np.where(counts, weights, -np.inf), values


def _scaled(weights: Array, values: Array) -> tuple[Array, Array]:
    """p·f and p·|f|; 0 at single points where f is infinite."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        size = np.exp(weights + np.log(np.abs(values)))
    size = np.where(np.isfinite(values) & np.isfinite(size), size, 0.0)
    return np.sign(values) * size, size


def _gauss(parts: Callable[[Array], Array], left: Array, right: Array) -> Array:
    t = (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * _NODES
    return np.asarray(parts(t.ravel()).reshape(3, *t.shape) @ _WEIGHTS * ((right - left) / 2))


def _edges(law: Law, function: Function, half: _Half) -> Array:
    """The ends of the first panels: quantiles, and equal steps to where nothing counts."""
    last = half.last
    inner = half.t(law.quantile(LEVELS if half.sign < 0 else 1 - LEVELS))
    inner = np.unique(inner[(inner > 0) & (inner < last)])

    def counts(t: float) -> bool:
        weights, values = _weighted(law, function, half, np.array([t]))
        return bool(weights[0] > LEAST_LOG and np.isfinite(values[0]))

    inner = inner[: next((j for j, t in enumerate(inner) if not counts(t)), len(inner))]
    near = float(inner[-1]) if inner.size else 0.0
    far = last
    if not counts(last):
        good = near
        for _ in range(60):
            middle = (good + far) / 2
            good, far = (middle, far) if counts(middle) else (good, middle)
        far = good
    # Steps that grow outwards: the quantile may be narrow against the distance to the last number.
    step = max(near, 1e-3 * far) if inner.size else far / OUTER_PANELS
    outer = [near]
    while outer[-1] < far:
        outer.append(min(outer[-1] + step, far))
        step = min(2 * step, max(far / OUTER_PANELS, step))
    return np.unique(np.concatenate([[0.0], inner, outer]))


def _beyond(
    law: Law, function: Function, half: _Half, last: float, kept: Array
) -> tuple[float, float, float, float]:
    """∫ p and ∫ pf beyond the last panel, the error, and the sign of an infinite integral.

    There p per unit of t is taken as C·e^{−kt}, and f as nearly constant, linear in t, or C·e^{ct}.
    """
    step = min(2.0, last / 8)
    if not step > 0:
        return 0.0, 0.0, 0.0, 0.0
    weights, f = _weighted(law, function, half, last - step * np.arange(3.0))
    size = float(_scaled(weights[:1], f[:1])[1][0])
    mass = float(np.exp(weights[0]))
    largest = max(float(kept[2]), 1e-300)
    if mass <= NEGLIGIBLE and size <= NEGLIGIBLE * largest:
        return 0.0, 0.0, 0.0, 0.0
    k = float(weights[1] - weights[0]) / step
    below = float(law.cdf(half.x(np.array([last])))[0])
    tail = below if half.sign < 0 else 1 - below
    if tail > 1e-5:  # its digits are better than those of a difference of logarithms
        k = mass / tail
    far = last > np.log(FAR)
    if not np.isfinite(weights).all() or k <= 0:
        infinite = np.sign(f[0]) if far and size > 0 and not k > 0 else 0.0
        return 0.0, 0.0, np.inf, float(infinite)
    rest = mass / k
    with np.errstate(over="ignore", invalid="ignore"):
        slope, before = (f[0] - f[1]) / step, (f[1] - f[2]) / step
        by_line = float(rest * (f[0] + slope / k))
    ratio = slope / before if before != 0 else 0.0
    if 0 < ratio < 0.5:  # f approaches a limit: exact for a limit plus C·e^{−ct}
        limit = f[0] + slope * step * ratio / (1 - ratio)
        share = k / (k - np.log(ratio) / step)
        value = float(rest * (limit + (f[0] - limit) * share))
        return rest, value, rest * float(abs(f[0] - limit)) * 0.1, 0.0
    if np.isfinite(by_line) and abs(slope - before) <= 1e-6 * max(
        abs(slope), abs(f[0]) * 1e-6, 1e-300
    ):
        return rest, by_line, abs(by_line) * 1e-7, 0.0
    if f[0] == 0 or np.sign(f[0]) != np.sign(f[2]):
        return rest, by_line, abs(by_line) + rest * float(np.abs(f).max()), 0.0
    power = np.diff(np.log(np.abs(f)))[::-1] / -step
    decay = k - power[1]
    if decay <= 1e-6:
        return rest, 0.0, np.inf, float(np.sign(f[0])) if far else 0.0
    by_power = np.sign(f[0]) * size / decay
    doubt = abs(power[1] - power[0]) / decay
    return rest, float(by_power), abs(by_power) * float(min(doubt + 1e-7, 1.0)), 0.0
