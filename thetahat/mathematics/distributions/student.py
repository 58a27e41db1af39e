"""Student's t distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, ndtr, ndtri, polygamma, stdtr, stdtrit

from thetahat.data.source import Source
from thetahat.data.summaries.quantiles import QuantileSummary
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.base import Distribution, maybe_infinite
from thetahat.mathematics.distributions.fitting.newton import (
    NegativeMean,
    in_units,
    newton_fit,
    profile_end,
)
from thetahat.mathematics.distributions.fitting.result import DistributionFit, fit_arguments
from thetahat.mathematics.distributions.fitting.rows import (
    Support,
    averages,
    column,
    require_spread,
)
from thetahat.mathematics.distributions.large_shapes import (
    LOG_ROOT_2PI,
    beta_log_odds,
    is_quantile,
    log_minus_digamma,
)
from thetahat.mathematics.parts import number

LARGEST_DF = 1e8
"""Degrees of freedom from which Student's t equals the normal distribution in float64."""
HEAVY = 10.0
"""Degrees of freedom from which smaller scales are searched if the estimate is infinite."""
LARGE_DF = 1e5
"""Degrees of freedom from which the size of the density is that of its expansion."""
NEARLY_NORMAL = 1e6
"""Degrees of freedom from which the interval is searched if the estimate is infinite."""


@dataclass(frozen=True)
class StudentT(Distribution):
    """Student's t distribution, with heavier tails than the normal distribution.

    Formula: p(x) = (1 + z²/ν)^{−(ν+1)/2}/(√ν·B(ν/2, ½)·scale) with z = (x − location)/scale. It
    approaches the normal distribution as ν → ∞. The mean is the location for ν > 1, the variance
    scale²·ν/(ν − 2) for ν > 2. Cost: O(1) per number.

    Parameters
    ----------
    df : float, default=1.0
        The degrees of freedom (ν). Smaller values give heavier tails. Must be positive; infinity
        is the normal distribution.
    location : float, default=0.0
        The centre of the distribution. Must be a finite number.
    scale : float, default=1.0
        The width of the distribution. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.StudentT(5).quantile(0.975).round(3)
    np.float64(2.571)
    """

    df: float = maybe_infinite(1.0, above=0)
    location: float = number(0.0)
    scale: float = number(1.0, above=0)

    name = "student_t"
    aliases = ("t",)
    support = (-np.inf, np.inf)

    @property
    def mean(self) -> float:
        return self.location if self.df > 1 else np.nan

    @property
    def variance(self) -> float:
        if self.df <= 2:
            return np.inf if self.df > 1 else np.nan
        ratio = 1.0 if np.isinf(self.df) else self.df / (self.df - 2)
        return self.scale * self.scale * ratio

    @property
    def mode(self) -> float:
        return self.location

    @property
    def entropy(self) -> float:
        if np.isinf(self.df):
            return float(LOG_ROOT_2PI + 0.5 + np.log(self.scale))
        half = (self.df + 1) / 2
        gap = np.log1p(1 / self.df) + log_minus_digamma(self.df / 2) - log_minus_digamma(half)
        return float(half * gap + _log_size(self.df) + np.log(self.scale))

    def _z(self, x: Array) -> Array:
        return (x - self.location) / self.scale

    def _log_density(self, x: Array) -> Array:
        return _log_density(self._z(x), self.df) - np.log(self.scale)

    def _cdf(self, x: Array) -> Array:
        return ndtr(self._z(x)) if np.isinf(self.df) else stdtr(self.df, self._z(x))

    def _quantile(self, probability: Array) -> Array:
        if self.df > NEARLY_NORMAL**2:
            return self.location + self.scale * ndtri(probability)
        found = stdtrit(self.df, probability)
        if is_quantile(partial(stdtr, self.df), found, probability):
            return self.location + self.scale * found
        # P(T ≤ z) = ½ I_p(ν/2, ½) with p/(1 − p) = ν/z² for z < 0.
        tail = 2 * np.minimum(probability, 1 - probability)
        with np.errstate(over="ignore"):
            size = np.exp((np.log(self.df) - beta_log_odds(self.df / 2, 0.5, tail)) / 2)
            return self.location + self.scale * np.copysign(size, probability - 0.5)

    def _draw(self, n: int, random: np.random.Generator) -> Array:
        z = random.standard_normal(n) if np.isinf(self.df) else random.standard_t(self.df, n)
        return self.location + self.scale * z

    @classmethod
    @described_like(fit_arguments)
    def fit(
        cls, data: Any, sample_weight: Any = None, *, df: float | None = None
    ) -> DistributionFit:
        """Estimate the parameters by maximum likelihood, with Newton's method.

        Cost: O(n) per iteration, one pass over the values each, and some hundred passes for
        intervals. If the tails of the values are not heavier than those of the normal distribution
        (kurtosis ≤ 3), the estimate of the degrees of freedom is infinity.

        Parameters
        ----------
        df : float, optional
            The degrees of freedom (ν) if they are known. By default they are estimated.
        """
        who = "StudentT.fit"
        known = None if df is None else cls(df).df
        source = column(data, sample_weight, who)
        found = averages(source, _powers, Support(), who)
        require_spread(found, who, "the scale is 0")
        centre, unit = _middle(source)
        moments = averages(source, partial(_standardised_powers, centre, unit))
        light = known is None and _is_light(moments.mean)
        known = np.inf if light else known
        make = partial(_made, cls, known)
        location, square = float(moments.mean[0]), float(moments.mean[1])
        start = [0.0, 1.0]
        if known == np.inf:
            start = [location, float(np.sqrt(square - location * location))]
        fit = newton_fit(
            make,
            ("location", "scale") if known is not None else ("location", "scale", "df"),
            partial(_mean_derivatives, source, known, centre, unit),
            np.array(start if known is not None else [*start, 4.0]),
            (False, True) if known is not None else (False, True, True),
            found.weight,
            who,
        )
        fit = _with_df(fit, source, centre, unit) if light else fit
        shift, factor = np.zeros(len(fit.names)), np.ones(len(fit.names))
        shift[0], factor[:2] = centre, unit
        return in_units(fit, make, shift, factor, unit)


def _powers(x: Array) -> Array:
    return x[None]


def _standardised_powers(centre: float, unit: float, x: Array) -> Array:
    z = (x - centre) / unit
    return np.stack([z, z**2, z**3, z**4])


def _is_light(power_means: Array) -> bool:
    """Whether the kurtosis is at most 3, so that the most likely degrees of freedom are ∞."""
    a, b, c, d = power_means
    square = b - a * a
    fourth = d - 4 * a * c + 6 * a * a * b - 3 * a**4
    return bool(fourth <= 3 * square * square)


def _middle(source: Source) -> tuple[float, float]:
    """The median, and the distance of the quartiles, or the range if it is 0."""
    values, weights = source.reduce(QuantileSummary.of).column(0)
    below = np.cumsum(weights) / weights.sum()
    low, median, high = (
        float(values[min(int(np.searchsorted(below, at)), len(values) - 1)])
        for at in (0.25, 0.5, 0.75)
    )
    return median, (high - low) / 1.35 or float(values[-1] - values[0])


def _log_density(z: Array, df: float) -> Array:
    if np.isinf(df):
        return -0.5 * z * z - LOG_ROOT_2PI
    ratio = np.abs(z) / np.sqrt(df)
    logs = np.where(ratio < 1, np.log1p(ratio * ratio), 2 * np.log(np.hypot(1.0, ratio)))
    return -0.5 * (df + 1) * logs - _log_size(df)


def _log_size(df: float) -> float:
    """log(√ν·B(ν/2, ½)), which approaches log √(2π)."""
    if df > LARGE_DF:
        return LOG_ROOT_2PI + 0.25 / df
    return float(0.5 * np.log(df) + betaln(df / 2, 0.5))


def _made(cls: type[StudentT], known: float | None, *theta: float) -> StudentT:
    location, scale, df = theta if known is None else (*theta[:2], known)
    return cls(df, location, scale)


def _with_df(fit: DistributionFit, source: Source, centre: float, unit: float) -> DistributionFit:
    """The normal fit as one of all three parameters, with infinite degrees of freedom."""
    problem = NegativeMean(
        partial(_mean_derivatives, source, None, centre, unit), (False, True, True)
    )
    near = problem.coordinates(np.append(fit.estimates, NEARLY_NORMAL))
    return replace(
        fit,
        names=(*fit.names, "df"),
        estimates=np.append(fit.estimates, np.inf),
        standard_errors=np.append(fit.standard_errors, np.inf),
        find_intervals=partial(_with_lower_end, fit.find_intervals, problem, near, fit.n_values),
    )


def _with_lower_end(find: Any, problem: NegativeMean, near: Array, n: float, level: float) -> Array:
    lower = float(np.exp(profile_end(problem, near, 2, -1.0, n, level)))
    ends = find(level)
    # A smaller scale with heavier tails is also likely; the search starts where df has an effect.
    heavy = np.append(near[:2], np.log(HEAVY))
    scale = profile_end(problem, heavy, 1, -1 / np.sqrt(2 * n), n, level, problem.value(near))
    ends[1, 0] = min(ends[1, 0], float(np.exp(scale)))
    return np.vstack([ends, [[lower, np.inf]]])


def _mean_derivatives(
    source: Source, known: float | None, centre: float, unit: float, theta: Array
) -> tuple[float, Array, Array]:
    """One pass over the values: the mean log-likelihood and its derivatives."""
    location, scale = float(theta[0]), float(theta[1])
    df = min(float(theta[2]), LARGEST_DF) if known is None else known
    k = len(theta)
    rows = partial(_row_derivatives, known is None, centre, unit, location, scale, df)
    found = averages(source, rows).mean
    hessian = np.empty((k, k))
    hessian[np.tril_indices(k)] = found[1 + k :]
    return float(found[0]), found[1 : 1 + k], np.tril(hessian) + np.tril(hessian, -1).T


def _row_derivatives(
    with_df: bool, centre: float, unit: float, location: float, scale: float, df: float, x: Array
) -> Array:
    """Value, gradient and lower triangle of the Hessian of log p for every value, as rows."""
    z = ((x - centre) / unit - location) / scale
    square = z * z
    value = _log_density(z, df) - np.log(scale)
    if df > LARGEST_DF:
        w, bend, turn = np.ones_like(z), np.ones_like(z), 2.0 * np.ones_like(z)
    else:
        total = df + square
        w = (df + 1) / total
        bend, turn = w * (df - square) / total, w * 2 * df / total
    gradient = [w * z / scale, (w * square - 1) / scale]
    hessian = [
        -bend / scale**2,
        -z * turn / scale**2,
        (1 - w * square - square * turn) / scale**2,
    ]
    if with_df:
        half = digamma((df + 1) / 2) - digamma(df / 2) - 1 / df
        gradient.append(0.5 * (half - np.log1p(square / df) + w * square / df))
        curve = 0.5 * (polygamma(1, (df + 1) / 2) - polygamma(1, df / 2)) + 1 / df**2
        tilt = (square - 1) / total**2
        hessian += [
            z * tilt / scale,
            square * tilt / scale,
            0.5 * (curve + square / (df * total) + square * tilt / df - square * w / df**2),
        ]
    return np.stack([value, *gradient, *hessian])
