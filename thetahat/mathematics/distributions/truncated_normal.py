"""The normal distribution truncated to an interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from thetahat.foundation.arguments import as_float, shown
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution
from thetahat.mathematics.distributions.fitting.newton import in_units, newton_fit
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import (
    Support,
    averages,
    column,
    require_spread,
)
from thetahat.mathematics.distributions.large_shapes import LOG_ROOT_2PI
from thetahat.mathematics.distributions.normal_window import (
    far_shares,
    far_steps,
    is_narrow,
    log_mass,
    mass_from,
    mass_within,
    mean_density,
    narrow_quantile,
    window_moments,
)
from thetahat.mathematics.parts import number

FAR = 8.0
"""Standard deviations of the window from the location from which it is described by its end."""
FLAT = 1000.0
"""Multiple of the range of the values from which a scale counts as infinite."""


@dataclass(frozen=True)
class TruncatedNormal(Distribution):
    """A normal distribution, given that the value lies between two ends.

    Formula: p(x) = φ((x − μ)/σ)/(σ(Φ(b) − Φ(a))) for low ≤ x ≤ high, with a = (low − μ)/σ and
    b = (high − μ)/σ. Also accurate far in a tail. Cost: O(1) per number.

    Parameters
    ----------
    location : float, default=0.0
        The mean of the normal distribution before truncation (μ). Must be a finite number.
    scale : float, default=1.0
        The standard deviation before truncation (σ). Must be positive.
    low : float, default=-inf
        The lower end, or minus infinity for none.
    high : float, default=inf
        The upper end, or infinity for none. Must be greater than ``low``.

    Examples
    --------
    >>> import thetahat as th
    >>> half = th.distributions.TruncatedNormal(low=0)
    >>> round(half.mean, 6)
    0.797885
    """

    location: float = number(0.0)
    scale: float = number(1.0, above=0)
    low: float = -np.inf
    high: float = np.inf

    name = "truncated_normal"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or np.isnan(as_float(value)):
                raise ParameterError(
                    f"TruncatedNormal({name}={shown(value)}): {name} must be a number or infinity."
                )
            object.__setattr__(self, name, as_float(value))
        if not self.low < self.high:
            raise ParameterError(
                f"TruncatedNormal(low={self.low:g}, high={self.high:g}): high must be greater than "
                "low. Swap them, or widen the interval."
            )
        if not np.isfinite(self._distance):
            end = self.low if self.low > self.location else self.high
            raise ParameterError(
                f"TruncatedNormal(location={self.location:g}, scale={self.scale:g}): the nearest "
                f"end, {end:g}, must be a finite number of standard deviations from the location, "
                "but the quotient is larger than any float64. Use a larger scale."
            )

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def _ends(self) -> tuple[float, float]:
        return (self.low - self.location) / self.scale, (self.high - self.location) / self.scale

    @property
    def _width(self) -> float:
        """b − a without a difference of large numbers."""
        return (self.high - self.low) / self.scale

    @property
    def _is_narrow(self) -> bool:
        return bool(is_narrow(self._ends[0], self._width))

    @property
    def _distance(self) -> float:
        """Standard deviations from the location to the nearest end; 0 if it lies between them."""
        a, b = self._ends
        return max(a, -b, 0.0)

    @property
    def _is_far(self) -> bool:
        return self._distance > FAR and not self._is_narrow

    def _away(self, x: Array) -> tuple[Array, Array]:
        """Standard deviations from x to the nearest and to the other end."""
        to_low, to_high = (x - self.low) / self.scale, (self.high - x) / self.scale
        return (to_low, to_high) if self.low > self.location else (to_high, to_low)

    @property
    def mean(self) -> float:
        shift, nearest = window_moments(*self._ends, self._width)[0], self.mode
        return float(min(max(nearest + self.scale * shift, self.low), self.high))

    @property
    def variance(self) -> float:
        return float(self.scale * (self.scale * window_moments(*self._ends, self._width)[1]))

    @property
    def mode(self) -> float:
        return min(max(self.location, self.low), self.high)

    @property
    def entropy(self) -> float:
        shift, variance = window_moments(*self._ends, self._width)[:2]
        a, b = self._ends
        if self._is_narrow:
            half, centre = self._width / 2, a + self._width / 2
            away = shift - (half if a > 0 else -half if b < 0 else centre)
            return float(self._log_flat() + (variance + away * away) / 2 + centre * away)
        square = variance + shift * shift
        if self._distance > 0:
            whole = np.log(mass_within(self._distance, self._width))
            return float(np.log(self.scale) + whole + self._distance * abs(shift) + square / 2)
        return float(np.log(self.scale) + LOG_ROOT_2PI + log_mass(a, b) + square / 2)

    def _log_flat(self) -> float:
        """−log p at the middle of a narrow interval, whose density is nearly flat."""
        average = np.log(mean_density(self._ends[0], np.asarray(self._width)))
        return float(np.log(self.scale) + np.log(self._width) + average)

    def _log_density(self, x: Array) -> Array:
        z = (x - self.location) / self.scale
        if self._is_narrow:
            centre = self._ends[0] + self._width / 2
            away = (x - self.low) / self.scale - self._width / 2
            return -0.5 * away * (away + 2 * centre) - self._log_flat()
        if self._is_far:
            near = self._away(x)[0]
            whole = np.log(mass_within(self._distance, self._width))
            return -near * (self._distance + near / 2) - whole - np.log(self.scale)
        return -0.5 * z * z - np.log(self.scale) - LOG_ROOT_2PI - log_mass(*self._ends)

    def _cdf(self, x: Array) -> Array:
        a, b = self._ends
        if self._is_narrow:
            return np.minimum(mass_from(a, (x - self.low) / self.scale, self._width), 1.0)
        if self._is_far:
            near, rest = self._away(x)
            within, beyond = far_shares(self._distance, self._width, near, rest)
            return within if a > 0 else beyond
        z = (x - self.location) / self.scale
        with np.errstate(invalid="ignore"):  # z = −∞ for an x of −1e300
            logs = np.minimum(log_mass(a, z) - log_mass(a, b), 0.0)
            return np.exp(np.where(np.isnan(logs), -np.inf, logs))

    def _quantile(self, probability: Array) -> Array:
        a, b = self._ends
        if self._is_narrow:
            steps = narrow_quantile(a, self._width, probability)
            return np.clip(self.low + self.scale * steps, self.low, self.high)
        if self._is_far:
            within, beyond = (probability, 1 - probability)[:: 1 if a > 0 else -1]
            steps = self.scale * far_steps(self._distance, self._width, within, beyond)
            found = self.low + steps if a > 0 else self.high - steps
            return np.clip(found, self.low, self.high)
        total = log_mass(a, b)
        # Count from the end with the smaller share, whose logarithm has the digits of the tail.
        below = np.logaddexp(log_ndtr(a), np.log(probability) + total)
        above = np.logaddexp(log_ndtr(-b), np.log1p(-probability) + total)
        z = np.where(below < above, ndtri_exp(below), -ndtri_exp(above))
        return np.clip(self.location + self.scale * z, self.low, self.high)

    @classmethod
    @described_like(fit_arguments)
    def fit(
        cls, data: Any, sample_weight: Any = None, *, low: float = -np.inf, high: float = np.inf
    ) -> DistributionFit:
        """Estimate location and scale by maximum likelihood, with Newton's method. Cost: O(n).

        Formula: the mean and the variance of the values are sufficient, and equal those of the
        fitted distribution. The ends are known. Intervals by the profile likelihood; they are wide
        where the ends hide most of the normal distribution.

        Parameters
        ----------
        low : float, default=-inf
            The known lower end, or minus infinity for none.
        high : float, default=inf
            The known upper end, or infinity for none.
        """
        who = "TruncatedNormal.fit"
        ends = cls(low=low, high=high)
        source = column(data, sample_weight, who)
        found = averages(source, _itself, Support(ends.low, ends.high), who)
        require_spread(found, who, "the variance is 0")
        centre, unit = float(found.mean[0]), found.high - found.low
        variance = float(averages(source, partial(_squares, centre, unit)).mean[0])
        a, b = (ends.low - centre) / unit, (ends.high - centre) / unit
        most = _exponential_variance(a, b)
        if variance >= most:
            raise DataError(
                f"{who}: the likelihood has no maximum: it grows with the scale without end, "
                f"because the variance of the values, {variance * unit * unit:.4g}, is not smaller "
                f"than {most * unit * unit:.4g}, that of the exponential (or uniform) density in "
                "the interval with the same mean. Use Uniform, Exponential or Beta, or check low "
                "and high."
            )
        fit = newton_fit(
            partial(_made, cls, a, b),
            ("location", "scale"),
            partial(_derivatives, variance, a, b),
            np.array([0.0, np.sqrt(variance)]),
            (False, True),
            found.weight,
            who,
        )
        make = partial(_made, cls, ends.low, ends.high)
        fit = in_units(fit, make, np.array([centre, 0.0]), np.array([unit, unit]), unit)
        if fit.estimates[1] > FLAT * unit:
            raise DataError(
                f"{who}: the likelihood has no maximum: it still grows at scale="
                f"{fit.estimates[1]:.3g}, where the density in the interval is nearly flat or "
                "exponential. Use Uniform or Exponential, or check low and high."
            )
        return fit


def _exponential_variance(a: float, b: float) -> float:
    """The variance of the density ∝ e^{θx} on [a, b] whose mean is 0.

    These densities are the limits of truncated normal ones with an infinite scale. The likelihood
    has a maximum at a finite scale if and only if the variance of the values is smaller.
    """
    if np.isinf(a) or np.isinf(b):
        return np.inf if np.isinf(a) and np.isinf(b) else min(a * a, b * b)
    width = b - a
    mean = min(-a, b) / width  # on [0, 1]; at most ½ by symmetry
    # Mean of the density ∝ e^{−θx}: 1/θ − 1/(e^θ − 1), which falls from ½ to 0.
    low, high = 0.0, 2 / max(mean, 1e-300)
    for _ in range(200):
        theta = (low + high) / 2
        small = theta < 1e-3
        found = 0.5 - theta / 12 if small else 1 / theta - np.exp(-theta) / -np.expm1(-theta)
        low, high = (theta, high) if found > mean else (low, theta)
    if theta < 1e-2:
        return width * width * (1 / 12 - theta * theta / 240)
    half = np.exp(-theta / 2) / -np.expm1(-theta)  # 1/(2 sinh(θ/2))
    return float(width * width * (1 / theta**2 - half * half))


def _itself(x: Array) -> Array:
    return x[None]


def _squares(centre: float, unit: float, x: Array) -> Array:
    return (((x - centre) / unit) ** 2)[None]


def _made(
    cls: type[TruncatedNormal], low: float, high: float, location: float, scale: float
) -> TruncatedNormal:
    return cls(location, scale, low, high)


def _derivatives(
    variance: float, low: float, high: float, theta: Array
) -> tuple[float, Array, Array]:
    location, scale = theta  # NumPy's numbers, which overflow to infinity
    a, b = (low - location) / scale, (high - location) / scale
    at = -location / scale  # the mean of the values is 0
    square = variance / scale**2 + at * at
    value = -square / 2 - np.log(scale) - LOG_ROOT_2PI - log_mass(a, b)
    shift, spread, cross, fourth = window_moments(a, b, (high - low) / scale)
    expected = min(max(a, 0.0), b) + shift
    first, second = at - expected, square - (spread + expected * expected)
    gradient = np.array([first, second]) / scale
    tilt = -2 * first - cross
    hessian = np.array([[-spread, tilt], [tilt, -3 * second - fourth]]) / scale**2
    return float(value), gradient, hessian
