"""An estimate with its sampling error: p-values of hypotheses about it, and intervals that agree.

Every judgement has a two-sided p-value `p_at(value)` for the hypothesis that the truth is `value`,
and `bounds(significance)`, the values that are not rejected. An interval therefore excludes 0 if
and only if p_at(0) is below the significance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

STEPS = 60
"""Halvings of an interval: more than the digits of a double."""


class Judgement(Protocol):
    """An estimate, the p-value of a hypothesis about it, and the values that are not rejected."""

    @property
    def estimate(self) -> float: ...

    def p_at(self, value: float) -> float: ...

    def bounds(self, significance: float) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Studentised:
    """A mean of independent contributions, studentised and corrected for their skewness.

    Formula: T = (θ̂ − θ)/se, and g(T) = T + c·T²/3 + c²·T³/27 + c/6 has the t distribution to
    second order, where c = Σu³/(Σu²)^(3/2) is the skewness of the mean (Hall). g rises, so the
    interval is θ̂ − se·g⁻¹(±t).
    """

    estimate: float
    error: float
    skewness: float
    degrees: float

    def statistic_at(self, value: float) -> float:
        """g(T) of the hypothesis that the truth is `value`."""
        if self.error == 0:
            return 0.0 if self.estimate == value else float(np.copysign(np.inf, self.estimate))
        t, c = (self.estimate - value) / self.error, self.skewness
        return float(t + c * t * t / 3 + c * c * t**3 / 27 + c / 6)

    def p_at(self, value: float) -> float:
        from scipy.special import stdtr

        return float(2 * stdtr(self.degrees, -abs(self.statistic_at(value))))

    def bounds(self, significance: float) -> tuple[float, float]:
        from scipy.special import stdtrit

        quantile, c = -float(stdtrit(self.degrees, significance / 2)), self.skewness
        ends = np.array([quantile, -quantile])
        if abs(c) > 1e-6:
            ends = 3 / c * (np.cbrt(1 + c * (ends - c / 6)) - 1)
        low, high = self.estimate - self.error * ends
        return float(low), float(high)


@dataclass(frozen=True)
class GapOfShares:
    """The difference of two shares of the same rows, by the score test (Tango).

    Formula: with shares b and c of the n rows on which only the first or only the second model is
    right, z(δ) = (b − c − δ)/√((2q + δ(1 − δ))/n), where q is the likeliest share of c at the
    difference δ. z(0)² is McNemar's statistic. It is defined if no rows differ.
    """

    only_first: float
    only_second: float
    rows: float
    degrees: float

    @property
    def estimate(self) -> float:
        return self.only_first - self.only_second

    def statistic_at(self, value: float) -> float:
        """z of the hypothesis that the difference is `value`."""
        b, c, d = self.only_first, self.only_second, min(max(value, -1.0), 1.0)
        # The likeliest q solves 2q² + Bq + C = 0.
        linear, constant = -b - c + (2 - b + c) * d, -c * d * (1 - d)
        q = (np.sqrt(max(linear * linear - 8 * constant, 0.0)) - linear) / 4
        variance = (2 * q + d * (1 - d)) / self.rows
        gap = self.estimate - value
        if variance <= 0:
            return 0.0 if gap == 0 else float(np.copysign(np.inf, gap))
        return float(gap / np.sqrt(variance))

    def p_at(self, value: float) -> float:
        from scipy.special import stdtr

        return float(2 * stdtr(self.degrees, -abs(self.statistic_at(value))))

    def bounds(self, significance: float) -> tuple[float, float]:
        return inverted(self, significance, -1.0, 1.0)


@dataclass(frozen=True)
class NoSpread:
    """All rows contribute alike: the exact bound for a share of rows that do not.

    Formula: |θ − θ̂| ≤ reach·(1 − (α/2)^(1/n)) for n independent units, as none of them differs.
    An infinite reach means that nothing is known.
    """

    estimate: float
    units: float
    reach: float

    def p_at(self, value: float) -> float:
        apart = abs(self.estimate - value)
        if apart == 0 or self.reach == np.inf:
            return 1.0
        if apart >= self.reach:
            return 0.0
        return float(min(1.0, 2 * (1 - apart / self.reach) ** self.units))

    def bounds(self, significance: float) -> tuple[float, float]:
        if self.reach == 0:
            return self.estimate, self.estimate
        slack = self.reach * (1 - (significance / 2) ** (1 / self.units))
        return self.estimate - slack, self.estimate + slack


@dataclass(frozen=True)
class Inverted:
    """A test of any hypothesis about the difference, inverted numerically.

    The difference lies within ±reach; with an open end, it may also lie beyond if the test does not
    reject `reach` itself.
    """

    estimate: float
    test: Callable[[float], float]
    reach: float
    open_end: bool = False

    def p_at(self, value: float) -> float:
        return self.test(value)

    def bounds(self, significance: float) -> tuple[float, float]:
        low, high = inverted(self, significance, -self.reach, self.reach)
        if self.open_end:
            low = -np.inf if low == -self.reach else low
            high = np.inf if high == self.reach else high
        return low, high


def inverted(
    found: Judgement, significance: float, least: float, most: float
) -> tuple[float, float]:
    """The values between `least` and `most` that a test does not reject."""
    ends = []
    for far in (least, most):
        inside, outside = found.estimate, far
        if found.p_at(far) >= significance:
            ends.append(far)
            continue
        for _ in range(STEPS):
            middle = (inside + outside) / 2
            if found.p_at(middle) >= significance:
                inside = middle
            else:
                outside = middle
        ends.append(inside)
    return ends[0], ends[1]


def equivalence(found: Judgement, margin: float) -> float:
    """p-value of two one-sided tests that the truth is at least `margin` from 0.

    Twice the larger p-value, so that it is below a significance if and only if the interval of this
    significance lies within the margin.
    """
    larger = max(
        _one_sided(found, -margin, below=False),
        _one_sided(found, margin, below=True),
    )
    return min(1.0, 2 * larger)


def _one_sided(found: Judgement, value: float, *, below: bool) -> float:
    """p-value of the hypothesis that the truth is not below (not above) a value."""
    half = found.p_at(value) / 2
    within = found.estimate < value if below else found.estimate > value
    return half if within else 1 - half
