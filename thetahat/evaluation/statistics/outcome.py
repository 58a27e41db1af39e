"""Results of tests and intervals: numbers, the decision in words, and the assumptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import ROUNDING
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval.

    Formula: P(low ≤ θ ≤ high) ≥ level over repetitions of the experiment. Cost: O(1).

    Attributes
    ----------
    estimate, low, high : float
        The estimate, and the lower and upper end of the interval.
    level : float
        The confidence level, for example 0.95.
    method : str
        The method that computed the interval.

    Examples
    --------
    >>> import thetahat as th
    >>> interval = th.statistics.proportion_interval(8, 10)
    >>> print(interval)
    0.8, 95% interval 0.4902 to 0.9433 (Wilson)
    >>> 0.5 in interval
    True
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        return (
            f"{self.estimate:.4g}, {percent(self.level)} interval {self.low:.4g} to "
            f"{self.high:.4g} ({self.method})"
        )


@dataclass(frozen=True)
class HypothesisTest:
    """A hypothesis test: its statistic, p-value, decision and assumptions.

    Formula: p = P(a statistic at least as extreme | the hypothesis); the hypothesis is rejected if
    p < significance. Cost: O(1).

    Attributes
    ----------
    name : str
        The name of the test.
    hypothesis : str
        The hypothesis that is tested, in words.
    statistic : float
        The value of the test statistic.
    degrees_of_freedom : tuple of float
        Degrees of freedom of the statistic's distribution. Empty if it has none.
    p : float
        The p-value of the test.
    significance : float
        The significance level: the probability of rejecting a true hypothesis.
    assumptions : tuple of str
        Conditions under which the p-value is valid. Those that the data seem to violate begin with
        "broken".
    interval : Interval or None
        Confidence interval of the estimated quantity, where the test has one.
    effect_size : float or None
        The size of the difference, relative to its spread.
    details : dict
        Further results, such as expected counts or pairwise p-values.
    rejects : bool
        Whether the hypothesis is rejected at this significance level.
    decision : str
        The decision of the test in words.

    Examples
    --------
    >>> import thetahat as th
    >>> test = th.statistics.chi_square_independence([[38, 9], [31, 22]])
    >>> round(test.statistic, 6), test.degrees_of_freedom, test.rejects
    (5.82272, (1.0,), True)
    """

    name: str
    hypothesis: str
    statistic: float
    degrees_of_freedom: tuple[float, ...]
    p: float
    significance: float = 0.05
    assumptions: tuple[str, ...] = ()
    interval: Interval | None = None
    effect_size: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def rejects(self) -> bool:
        """Whether the hypothesis is rejected at this significance level."""
        return bool(self.p < self.significance)

    @property
    def decision(self) -> str:
        """The decision of the test in words."""
        verdict = "rejected" if self.rejects else "not rejected"
        return f"{self.hypothesis}: {verdict} at {100 * self.significance:.3g}%"

    def __str__(self) -> str:
        degrees = ", ".join(f"{df:.4g}" for df in self.degrees_of_freedom)
        lines = [
            f"{self.name}: statistic {self.statistic:.4g}"
            + (f", degrees of freedom {degrees}" if degrees else "")
            + f", p {'< 1e-16' if self.p < 1e-16 else f'= {self.p:.3g}'}",
            self.decision + ".",
        ]
        if self.interval is not None:
            lines.append(f"Estimate {self.interval}.")
        lines += [
            f"Violated assumption: {each.removeprefix('broken: ')}."
            if each.startswith("broken: ")
            else f"Assumes: {each}."
            for each in self.assumptions
        ]
        return "\n".join(lines)


def percent(level: float) -> str:
    """A confidence level in percent, with enough digits that it does not round to 100%."""
    digits = 4
    while digits < 17 and float(f"{100 * level:.{digits}g}") == 100:
        digits += 1
    return f"{100 * level:.{digits}g}%"


def are_alike(values: Array, scale: float | None = None) -> bool:
    """Whether numbers are equal up to rounding, relative to their size or to `scale`."""
    size = float(np.abs(values).max()) if scale is None else scale
    return bool(np.ptp(values) <= 2 * ROUNDING * size)


def standard_deviation(values: Array) -> float:
    """√(Σ(v − v̄)²/(n − 1)) for numbers of any size, whose squares may not be representable."""
    size = float(np.abs(values).max())
    return size * float((values / size).std(ddof=1)) if size > 0 else 0.0


def sample(values: Any, role: str, at_least: int = 1) -> Array:
    """The values as a finite 1-D float array with at least `at_least` entries."""
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1:
        raise DataError(f"{role} has shape {numbers.shape}. Give numbers in one dimension.")
    if numbers.size < at_least:
        raise DataError(
            f"{role} holds {numbers.size} value{'s' * (numbers.size != 1)}, but at least "
            f"{at_least} {'is' if at_least == 1 else 'are'} needed."
        )
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        raise DataError(
            f"{role} holds {numbers[place]} at position {place}. Remove values that are not finite."
        )
    return numbers


def pair_of_samples(a: Any, b: Any, at_least: int = 2) -> tuple[Array, Array]:
    """Two samples of the same length."""
    first, second = sample(a, "a", at_least), sample(b, "b", at_least)
    if first.size != second.size:
        raise DataError(
            f"a has {first.size} values, but b has {second.size}. A paired test needs one value of "
            "each for every fold, row or data set."
        )
    return first, second
