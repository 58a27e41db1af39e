"""The normal distribution truncated to an interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

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
from thetahat.mathematics.distributions.normal import LOG_ROOT_2PI
from thetahat.mathematics.parts import number

PANELS, NODES = 12, 20
FLAT = 1000.0
"""Multiple of the range of the values from which a scale counts as infinite."""
WIDEST = 12.0
"""Standard deviations beyond which the normal density is 0 for moments."""


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
            if not isinstance(value, Real) or isinstance(value, bool) or np.isnan(float(value)):
                raise ParameterError(
                    f"TruncatedNormal({name}={value!r}): {name} must be a number or infinity."
                )
            object.__setattr__(self, name, float(value))
        if not self.low < self.high:
            raise ParameterError(
                f"TruncatedNormal(low={self.low:g}, high={self.high:g}): high must be greater than "
                "low. Swap them, or widen the interval."
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
        return bool(_narrow(self._ends[0], self._width))

    @property
    def mean(self) -> float:
        return float(self.location + self.scale * _moments(*self._ends)[0])

    @property
    def variance(self) -> float:
        return float(self.scale * (self.scale * _moments(*self._ends)[1]))

    @property
    def mode(self) -> float:
        return min(max(self.location, self.low), self.high)

    @property
    def entropy(self) -> float:
        mean, variance = _moments(*self._ends)[:2]
        if self._is_narrow:
            centre = self._ends[0] + self._width / 2
            square = variance + (mean - centre) * (mean + centre)
            return float(self._log_flat() + square / 2)
        square = variance + mean * mean
        return float(np.log(self.scale) + LOG_ROOT_2PI + log_mass(*self._ends) + square / 2)

    def _log_flat(self) -> float:
        """−log p at the middle of a narrow interval, whose density is nearly flat."""
        average = np.log(_average(self._ends[0], np.asarray(self._width)))
        return float(np.log(self.scale) + np.log(self._width) + average)

    def _log_density(self, x: Array) -> Array:
        z = (x - self.location) / self.scale
        if self._is_narrow:
            centre = self._ends[0] + self._width / 2
            away = (x - self.low) / self.scale - self._width / 2
            return -0.5 * away * (away + 2 * centre) - self._log_flat()
        return -0.5 * z * z - np.log(self.scale) - LOG_ROOT_2PI - log_mass(*self._ends)

    def _cdf(self, x: Array) -> Array:
        a, b = self._ends
        if self._is_narrow:
            return np.minimum(_mass_from(a, (x - self.low) / self.scale, self._width), 1.0)
        z = (x - self.location) / self.scale
        return np.exp(np.minimum(log_mass(a, z) - log_mass(a, b), 0.0))

    def _quantile(self, probability: Array) -> Array:
        a, b = self._ends
        if self._is_narrow:
            steps = _narrow_quantile(a, self._width, probability)
            return np.clip(self.low + self.scale * steps, self.low, self.high)
        total = log_mass(a, b)
        if a > 0:  # count from the upper end, where log Φ(−z) is accurate
            log_above = np.logaddexp(log_ndtr(-b), np.log1p(-probability) + total)
            z = -ndtri_exp(log_above)
        else:
            z = ndtri_exp(np.logaddexp(log_ndtr(a), np.log(probability) + total))
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


def log_mass(a: Any, b: Any) -> Any:
    """log(Φ(b) − Φ(a)) without loss of digits in the tails."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    flipped = a > 0
    low, high = np.where(flipped, -b, a), np.where(flipped, -a, b)
    upper, lower = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = upper + np.log(-np.expm1(lower - upper))
        width = high - low
        narrow = _narrow(low, width)
        if narrow.any():
            a, width = np.where(narrow, low, 0.0), np.where(narrow, width, 1.0)
            centre = a + width / 2
            near = np.log(_average(a, width)) - 0.5 * centre * centre - LOG_ROOT_2PI + np.log(width)
            far = np.where(narrow, near, far)
        return np.where(low == high, -np.inf, far)[()]


def _narrow(a: Any, width: Any) -> Any:
    """Whether φ varies so little over [a, a + width] that one Gauss rule integrates it exactly."""
    with np.errstate(invalid="ignore"):
        return np.asarray((width <= 1) & (np.abs(a + width / 2) * width <= 4))


def _average(a: Any, width: Array) -> Array:
    """The average of φ(z)/φ(centre) over [a, a + width]."""
    nodes, weights = _one_panel()
    half = width[..., None] / 2
    away, centre = half * nodes, np.asarray(a)[..., None] + half
    return np.asarray(np.exp(-away * (centre + away / 2)) @ weights / 2)


def _mass_from(a: float, steps: Array, width: float) -> Array:
    """The share of [a, a + steps] in the mass of [a, a + width], for a narrow interval."""
    # Both averages are relative to their own centres, which differ by (width − steps)/2.
    gap = (width - steps) / 2
    turn = np.exp(gap * (a + (width + steps) / 4))
    share = _average(a, np.asarray(steps)) / _average(a, np.asarray(width))
    return np.asarray(steps / width * turn * share)


def _narrow_quantile(a: float, width: float, probability: Array) -> Array:
    """The steps from a to the quantiles of a narrow interval, by Newton's method."""
    tilt = (a + width / 2) * width  # the density falls nearly like e^{−tilt·s}, 0 ≤ s ≤ 1
    s = probability
    if abs(tilt) > 1e-8:
        s = -np.log1p(probability * np.expm1(-tilt)) / tilt
    whole = _average(a, np.asarray(width))
    for _ in range(4):
        away = width * (s - 0.5)
        slope = np.exp(-away * (a + width / 2 + away / 2)) / whole
        s = np.clip(s - (_mass_from(a, s * width, width) - probability) / slope, 0.0, 1.0)
    return s * width


@cache
def _one_panel() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(NODES)


@cache
def _nodes() -> tuple[Array, Array]:
    """Nodes and weights on [−1, 1]: Gauss-Legendre on equal panels."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    middles = (2 * np.arange(PANELS) + 1) / PANELS - 1
    return (middles[:, None] + nodes / PANELS).ravel(), np.tile(weights / PANELS, PANELS)


def _moments(a: float, b: float) -> tuple[float, float, float, float]:
    """Mean, variance, Cov(z, z²) and Var(z²) of a standard normal z in [a, b], by quadrature.

    The range is cut off where the density is less than e^{−72} of its largest value, so that the
    formulas have no differences of nearly equal numbers far in a tail.
    """
    peak = min(max(0.0, a), b)
    reach = min(WIDEST, 2 * WIDEST * 3 / max(abs(peak), 1e-300))
    low, high = max(a, peak - max(reach, 0.0)), min(b, peak + reach)
    if peak == 0:
        low, high = max(a, -WIDEST), min(b, WIDEST)
    nodes, weights = _nodes()
    step = (high - low) / 2 * (nodes + 1)
    # Relative to the peak: z² − peak² = (z − peak)(z + peak).
    offset = step + (low - peak)
    density = weights * np.exp(-0.5 * offset * (offset + 2 * peak))
    density /= density.sum()
    shift = float(density @ offset)
    away = offset - shift
    mean = peak + shift
    variance = float(density @ away**2)
    # z² − E z² = away² + 2·mean·away − variance
    square = away**2 + 2 * mean * away - variance
    return mean, variance, float(density @ (away * square)), float(density @ square**2)


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
    expected, spread, cross, fourth = _moments(a, b)
    first, second = at - expected, square - (spread + expected * expected)
    gradient = np.array([first, second]) / scale
    tilt = -2 * first - cross
    hessian = np.array([[-spread, tilt], [tilt, -3 * second - fourth]]) / scale**2
    return float(value), gradient, hessian
