"""What a test and an interval say: numbers, the decision in words, and what they assume."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

ROUNDING = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that covers the truth with a given confidence.

    Formula: P(low ≤ θ ≤ high) ≥ level over repetitions of the experiment. Cost: O(1).

    Attributes
    ----------
    estimate, low, high : float
        The estimate and the ends of the interval.
    level : float
        The confidence, for example 0.95.
    method : str
        How it was found.

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
    """A test of a hypothesis: its statistic, its p, its decision, and what it assumes.

    Formula: p = P(a statistic at least as extreme | the hypothesis), which is rejected when
    p < significance. Cost: O(1).

    Attributes
    ----------
    name : str
        Which test.
    hypothesis : str
        What is tested, in words.
    statistic : float
        The value of the test statistic.
    degrees_of_freedom : tuple of float
        Of the statistic's distribution; empty where it has none.
    p : float
        The p-value.
    significance : float
        The share of true hypotheses that the test may reject.
    assumptions : tuple of str
        When the p-value holds; those the data seem to break begin with "broken".
    interval : Interval or None
        For what was estimated.
    effect_size : float or None
        How large the difference is, in units of its spread.
    details : dict
        What else the test found (expected counts, pairwise p-values, ...).

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
        """Whether the hypothesis is rejected at this significance."""
        return bool(self.p < self.significance)

    @property
    def decision(self) -> str:
        """The decision in words."""
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
        lines += [f"Assumes: {assumption}." for assumption in self.assumptions]
        return "\n".join(lines)


def percent(level: float) -> str:
    """A confidence in percent, with as many digits as keep it from reading as certainty."""
    digits = 4
    while digits < 17 and float(f"{100 * level:.{digits}g}") == 100:
        digits += 1
    return f"{100 * level:.{digits}g}%"


def require_level(level: float, name: str = "level") -> None:
    """Confidence and significance are probabilities strictly between 0 and 1."""
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise ParameterError(f"{name}={level!r} must lie strictly between 0 and 1.")


def are_alike(values: Array, scale: float | None = None) -> bool:
    """Whether numbers differ by no more than rounding of numbers of their size, or of `scale`."""
    size = float(np.abs(values).max()) if scale is None else scale
    return bool(np.ptp(values) <= ROUNDING * size)


def sample(values: Any, role: str, at_least: int = 1) -> Array:
    """Values as a finite 1-D float array of at least some size."""
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1:
        raise DataError(f"{role} has shape {numbers.shape}; give numbers in one dimension.")
    if numbers.size < at_least:
        raise DataError(f"{role} holds {numbers.size} values; at least {at_least} are needed.")
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        raise DataError(
            f"{role} holds {numbers[place]} at position {place}; drop what is not a finite number."
        )
    return numbers


def pair_of_samples(a: Any, b: Any, at_least: int = 2) -> tuple[Array, Array]:
    """Two samples of one length."""
    first, second = sample(a, "a", at_least), sample(b, "b", at_least)
    if first.size != second.size:
        raise DataError(
            f"a has {first.size} values and b {second.size}; a paired test needs one of each for "
            "every fold, row or data set."
        )
    return first, second
