"""The uniform distribution on an interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from thetahat.foundation.arguments import as_float, shown
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import (
    Support,
    averages,
    column,
    require_spread,
)
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Uniform(Distribution):
    """The uniform distribution: all values between two ends are equally probable.

    Formula: p(x) = 1/(high − low) for low ≤ x ≤ high. The likelihood of n values in [0, θ] is
    θ^{−n} for θ ≥ max x and 0 otherwise, so that the maximum-likelihood estimate is the largest
    value. Cost: O(1) per number.

    Parameters
    ----------
    low : float, default=0.0
        The lower end. Must be finite.
    high : float, default=1.0
        The upper end. Must be finite and greater than ``low``.

    Examples
    --------
    >>> import thetahat as th
    >>> fit = th.distributions.Uniform.fit([1, 1, 2, 4, 5, 3], low=0)
    >>> fit.distribution
    Uniform(low=0.0, high=5.0)
    >>> low, high = fit.interval("high")
    >>> round(low, 2), round(high, 2)
    (5.0, 8.24)
    """

    low: float = number(0.0)
    high: float = number(1.0)

    name = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise ParameterError(
                f"Uniform(low={self.low:g}, high={self.high:g}): high must be greater than low. "
                "Swap them, or widen the interval."
            )
        if not np.isfinite(self.high - self.low):
            raise ParameterError(
                f"Uniform(low={self.low:g}, high={self.high:g}): the width high − low must be "
                "finite, but it overflows. Narrow the interval."
            )

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def mean(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def variance(self) -> float:
        width = self.high - self.low
        return width * width / 12

    @property
    def mode(self) -> float:
        return np.nan

    @property
    def entropy(self) -> float:
        return float(np.log(self.high - self.low))

    def _log_density(self, x: Array) -> Array:
        return np.full(x.shape, -np.log(self.high - self.low))

    def _cdf(self, x: Array) -> Array:
        return (x - self.low) / (self.high - self.low)

    def _quantile(self, probability: Array) -> Array:
        return self.low + probability * (self.high - self.low)

    @classmethod
    @described_like(fit_arguments)
    def fit(
        cls, data: Any, sample_weight: Any = None, *, low: float | None = None
    ) -> DistributionFit:
        """Estimate the upper end, or both ends, by maximum likelihood. Cost: O(n).

        Formula: the largest value M (and the smallest, m). With a known lower end the interval of
        the upper end is [M, low + (M − low)·α^{−1/n}] with α = 1 − level; if both ends are
        estimated, it is [M, M + (M − m)(α^{−1/(n−1)} − 1)]. Both are exact for every n.

        Parameters
        ----------
        low : float, optional
            The lower end if it is known, for example 0. By default it is estimated too.
        """
        who = "Uniform.fit"
        if low is not None:
            low = cls(low, np.nextafter(low, np.inf)).low if _is_number(low) else _refuse(low)
        support = Support(-np.inf if low is None else low)
        found = averages(column(data, sample_weight, who), _nothing, support, who)
        n, m, top = found.weight, found.low, found.high
        if low is not None and top == low:
            raise DataError(
                f"{who}: at least one value above the known lower end is needed, but all "
                f"{found.n_rows:,} values are {top:g}. Give more values, or omit low."
            )
        if low is None:
            require_spread(found, who, "the interval has no width")
        width = top - (m if low is None else low)
        # The standard deviation of the largest of n uniform values, with the estimated width.
        error = width * np.sqrt(n / (n + 2)) / (n + 1)
        both = low is None
        return DistributionFit(
            distribution=cls(m if low is None else low, top),
            names=("low", "high") if both else ("high",),
            estimates=np.array([m, top] if both else [top]),
            standard_errors=np.full(1 + both, error),
            log_likelihood=float(-n * np.log(width)),
            n_values=n,
            find_intervals=partial(_intervals, m, top, low, n),
        )

    def _divergence(self, other: Self) -> float:
        if self.low < other.low or self.high > other.high:
            return np.inf
        return float(np.log((other.high - other.low) / (self.high - self.low)))


def _is_number(value: Any) -> bool:
    return bool(np.isfinite(as_float(value)))


def _refuse(low: Any) -> float:
    raise ParameterError(f"Uniform.fit: low={shown(low)} must be a finite number, or None.")


def _nothing(x: Array) -> Array:
    return np.zeros((1, x.size))


def _intervals(m: float, top: float, low: float | None, n: float, level: float) -> Array:
    miss = 1 - level
    if low is not None:
        return np.array([[top, low + (top - low) * miss ** (-1 / n)]])
    reach = (top - m) * (miss ** (-1 / (n - 1)) - 1) if n > 1 else np.inf
    return np.array([[m - reach, m], [top, top + reach]])
