"""Bias, variance and consistency of an estimator: exact for Gaussian moments, or by simulation.

    MSE = E(θ̂ − θ)² = (E θ̂ − θ)² + Var θ̂

Unbiased: E θ̂ = θ for every n. Asymptotically unbiased: E θ̂ → θ. Consistent: θ̂ → θ in probability.
Unbiased implies asymptotically unbiased; neither implies consistent. MSE → 0 implies consistent and
asymptotically unbiased. A consistent estimator whose MSE does not fall need not be asymptotically
unbiased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, real
from thetahat.evaluation.statistics.means import mean_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.theory.requirements import positive, probability, whole

SLOWEST_RATE = 0.1
"""A quantity falls towards 0 if it falls at least as n to minus this power."""
QUANTILE = 0.9
"""The share of estimates that must come closer to the truth."""
HEAVY = -0.4
"""Power of the number of estimates above which the share of the largest has no expectation."""


@dataclass(frozen=True)
class ExactProperties:
    """Bias, variance and mean squared error of an estimator, by formula.

    Formula: mse = bias² + variance. Cost: O(1).

    Attributes
    ----------
    bias : float
        The expected deviation of the estimate from the truth.
    variance : float
        The variance of the estimate.
    mse : float
        The mean squared error, bias² + variance.
    unbiased : bool
        Whether the bias is 0 for every n.
    asymptotically_unbiased : bool
        Whether the bias falls to 0 as n grows.
    consistent : bool
        Whether the estimate approaches the truth as n grows, because its mean squared error falls
        to 0.

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.theory.gaussian_variance(10)
    >>> round(found.mse, 6)
    0.19
    >>> found.unbiased, found.asymptotically_unbiased, found.consistent
    (False, True, True)
    """

    bias: float
    variance: float
    unbiased: bool
    asymptotically_unbiased: bool
    consistent: bool

    @property
    def mse(self) -> float:
        """The mean squared error, bias² + variance."""
        return self.bias * self.bias + self.variance


def gaussian_mean(n: int, *, sigma: float = 1.0) -> ExactProperties:
    """Bias and variance of the mean of n values as an estimate of their expectation.

    Formula: bias 0, variance σ²/n: unbiased for every n, and consistent. Cost: O(1).

    Parameters
    ----------
    n : int
        The number of values, at least 1.
    sigma : float, default=1.0
        The standard deviation of the values (σ).

    Returns
    -------
    ExactProperties

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.gaussian_mean(10).mse
    0.1
    """
    whole(n, "n", "gaussian_mean", low=1)
    positive(sigma, "sigma", "gaussian_mean")
    return ExactProperties(0.0, sigma * sigma / n, True, True, True)


def gaussian_variance(n: int, *, sigma: float = 1.0, unbiased: bool = False) -> ExactProperties:
    """Bias and variance of the sample variance of n normal values.

    Formula: σ̂² = Σ(x − x̄)²/n has E σ̂² = (n − 1)σ²/n and variance 2(n − 1)σ⁴/n²;
    s² = Σ(x − x̄)²/(n − 1) has E s² = σ² and variance 2σ⁴/(n − 1). σ̂² is only asymptotically
    unbiased, s² is unbiased; both are consistent. Cost: O(1).

    Parameters
    ----------
    n : int
        The number of values, at least 2.
    sigma : float, default=1.0
        The standard deviation of the values (σ).
    unbiased : bool, default=False
        Whether to divide by n − 1 (s²) instead of n (σ̂²).

    Returns
    -------
    ExactProperties

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.theory.gaussian_variance(10)
    >>> round(found.bias, 6), round(found.variance, 6)
    (-0.1, 0.18)
    """
    whole(n, "n", "gaussian_variance", low=2)
    positive(sigma, "sigma", "gaussian_variance")
    square = float(sigma) * float(sigma)  # a power would raise OverflowError instead of giving ∞
    if unbiased:
        return ExactProperties(0.0, 2 * square * square / (n - 1), True, True, True)
    return ExactProperties(-square / n, 2 * (n - 1) * square * square / n**2, False, True, True)


@dataclass(frozen=True)
class EstimatorProperties:
    """Simulated properties of an estimator for several sample sizes; prints as a table.

    Formula: MSE = bias² + variance, each estimated over repetitions. Cost: O(sizes).

    Attributes
    ----------
    sizes : tuple of int
        The sample sizes, in ascending order (n).
    bias : tuple of Interval
        For each size, the bias E θ̂ − θ with its interval.
    variance, mse : array of shape (n_sizes,)
        For each size, the variance of θ̂ and its mean squared error.
    error : array of shape (n_sizes,)
        For each size, the error |θ̂ − θ| that nine of ten estimates do not exceed.
    has_mean : bool
        Whether the estimates have an expectation, as far as the simulation shows. It is False for
        the mean of Cauchy values; bias, variance and MSE then depend on the largest values drawn.
    unbiased : bool
        Whether the estimates have an expectation and all intervals of the bias contain 0. Their
        levels are such that all hold together.
    asymptotically_unbiased : bool
        Whether the estimator is unbiased, or its bias or its MSE falls towards 0 as n grows.
    consistent : bool
        Whether the error falls towards 0 as n grows.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> found = th.theory.estimator_properties(
    ...     np.var, lambda n, random: random.standard_normal(n), truth=1.0, random_state=0)
    >>> found.unbiased, found.asymptotically_unbiased, found.consistent
    (False, True, True)
    """

    sizes: tuple[int, ...]
    bias: tuple[Interval, ...]
    variance: Array
    mse: Array
    error: Array
    has_mean: bool
    unbiased: bool
    asymptotically_unbiased: bool
    consistent: bool

    def __str__(self) -> str:
        lines = [f"{'n':>8} {'bias':>12} {'variance':>12} {'MSE':>12} {'90% error':>12}"]
        rows = zip(self.sizes, self.bias, self.variance, self.mse, self.error, strict=True)
        lines += [
            f"{n:>8} {b.estimate:>12.4g} {v:>12.4g} {m:>12.4g} {e:>12.4g}" for n, b, v, m, e in rows
        ]
        flags = {
            "expectation exists": self.has_mean,
            "unbiased": self.unbiased,
            "asymptotically unbiased": self.asymptotically_unbiased,
            "consistent": self.consistent,
        }
        lines += [f"{name}: {'yes' if holds else 'no'}" for name, holds in flags.items()]
        return "\n".join(lines)


def estimator_properties(
    estimate: Callable[[Array], float],
    draw: Callable[[int, np.random.Generator], Array],
    truth: float,
    *,
    sizes: Sequence[int] = (10, 100, 1000),
    repetitions: int = 2000,
    level: float = 0.95,
    random_state: Any = None,
) -> EstimatorProperties:
    """Estimate bias, variance and mean squared error of any estimator by simulation.

    Formula: over repetitions, bias = mean(θ̂) − θ, variance = var(θ̂), MSE = mean (θ̂ − θ)². The
    bias, √MSE or the 90% quantile of |θ̂ − θ| counts as falling towards 0 if it falls at least as
    fast as n^{−1/10} from the first size to the last, beyond the uncertainty of the simulation. The
    estimates count as having no expectation if the largest deviation is a share of more than
    repetitions^{−0.4} of the sum of all. Cost: sizes × repetitions estimates.

    Parameters
    ----------
    estimate : callable
        A function that takes a sample and returns the estimate (θ̂).
    draw : callable
        A function ``draw(n, random)`` that returns a sample of n values.
    truth : float
        The true value of the estimated quantity (θ).
    sizes : sequence of int, default=(10, 100, 1000)
        Two or more sample sizes in ascending order (n).
    repetitions : int, default=2000
        The number of samples of each size. More samples give more accurate results.
    level : float, default=0.95
        Confidence level of all intervals together, between 0 and 1.
    random_state : int, Generator or None
        Seed or generator for `draw`. The same seed gives the same result.

    Returns
    -------
    EstimatorProperties

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> found = th.theory.estimator_properties(
    ...     lambda x: x[0], lambda n, random: random.standard_normal(n), truth=0.0, random_state=0)
    >>> found.unbiased, found.consistent
    (True, False)
    """
    check_value(truth, real, "truth", "estimator_properties")
    whole(repetitions, "repetitions", "estimator_properties", low=2)
    probability(level, "level", "estimator_properties")
    sizes = tuple(sizes)
    for n in sizes:
        whole(n, "sizes", "estimator_properties", low=1)
    if len(sizes) < 2 or any(b <= a for a, b in pairwise(sizes)):
        raise ParameterError(
            f"estimator_properties: sizes={sizes!r} must be two or more sizes in ascending order, "
            "to show what happens as n grows. Use sizes=(10, 100, 1000)."
        )
    random = generator(random_state)
    errors = [
        np.array([float(estimate(draw(int(n), random))) for _ in range(repetitions)]) - truth
        for n in sizes
    ]
    each = 1 - (1 - level) / len(sizes)
    bias = [mean_interval(error, level=each) for error in errors]
    mse = np.array([np.mean(error**2) for error in errors])
    shrink = (sizes[0] / sizes[-1]) ** SLOWEST_RATE
    has_mean = np.array([_has_mean(error) for error in errors])
    unbiased = bool(has_mean.all()) and all(0.0 in interval for interval in bias)
    consistent = _falls(errors[0], errors[-1], shrink)
    last = max(abs(bias[-1].low), abs(bias[-1].high))
    vanishes = 0.0 in bias[-1] or last <= shrink * abs(bias[0].estimate)
    mse_falls = consistent and bool(mse[-1] <= shrink**2 * mse[0])
    has_limit = bool(has_mean[-1]) and has_mean.mean() > 0.5
    return EstimatorProperties(
        tuple(map(int, sizes)),
        tuple(bias),
        np.array([float(error.var()) for error in errors]),
        mse,
        np.array([float(np.quantile(np.abs(error), QUANTILE)) for error in errors]),
        bool(has_mean.all()),
        unbiased,
        unbiased or (has_limit and (vanishes or mse_falls)),
        consistent,
    )


def _has_mean(errors: Array) -> bool:
    """Whether no single deviation is a large share of their sum, as it is without an expectation.

    The share of the largest of R falls as R^{1/a − 1} if the tails fall as t^{−a}; it does not fall
    if a ≤ 1.
    """
    deviation = np.abs(errors - np.median(errors))
    if not np.isfinite(deviation).all():
        return False
    total = float(deviation.sum())
    return total == 0.0 or float(deviation.max()) <= float(len(errors)) ** HEAVY * total


def _falls(first: Array, last: Array, shrink: float) -> bool:
    """Whether the quantile of |θ̂ − θ| fell by the factor `shrink`, beyond chance.

    The quantile lies between two order statistics, three standard errors of its rank apart, which
    holds for any distribution.
    """
    first, last = np.sort(np.abs(first)), np.sort(np.abs(last))
    count = len(first)
    around = 3 * np.sqrt(count * QUANTILE * (1 - QUANTILE))
    low = int(max(0, np.floor(count * QUANTILE - around)))
    high = int(min(count - 1, np.ceil(count * QUANTILE + around)))
    return bool(last[high] <= shrink * first[low])
