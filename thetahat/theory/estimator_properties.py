"""Bias, variance and consistency of an estimator: exact for Gaussian moments, else by experiment.

    MSE = E(θ̂ − θ)² = (E θ̂ − θ)² + Var θ̂

Unbiased: E θ̂ = θ for every n. Asymptotically unbiased: E θ̂ → θ. Consistent: θ̂ → θ in probability,
for which MSE → 0 is enough. Unbiased implies asymptotically unbiased; neither implies consistent.
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


@dataclass(frozen=True)
class ExactProperties:
    """Bias, variance and mean squared error of an estimator, by formula.

    Formula: mse = bias² + variance. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.theory.gaussian_variance(10).mse, 6)
    0.19
    """

    bias: float
    variance: float

    @property
    def mse(self) -> float:
        """bias² + variance."""
        return self.bias * self.bias + self.variance


def gaussian_mean(n: int, *, sigma: float = 1.0) -> ExactProperties:
    """The mean of n values of variance σ² as an estimate of their expectation.

    Formula: bias 0, variance σ²/n. Cost: O(1).

    Parameters
    ----------
    n : int
        Values.
    sigma : float, default=1.0
        Their standard deviation.

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
    return ExactProperties(0.0, sigma * sigma / n)


def gaussian_variance(n: int, *, sigma: float = 1.0, unbiased: bool = False) -> ExactProperties:
    """σ̂² = Σ(x − x̄)²/n, or s² = Σ(x − x̄)²/(n − 1), of n normal values.

    Formula: E σ̂² = (n − 1)σ²/n with variance 2(n − 1)σ⁴/n²; E s² = σ² with variance 2σ⁴/(n − 1).
    Cost: O(1).

    Parameters
    ----------
    n : int
        Values; at least 2.
    sigma : float, default=1.0
        Their standard deviation.
    unbiased : bool, default=False
        s² instead of σ̂².

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
    square = float(sigma) * float(sigma)  # a product: a power would refuse to be ∞
    if unbiased:
        return ExactProperties(0.0, 2 * square * square / (n - 1))
    return ExactProperties(-square / n, 2 * (n - 1) * square * square / n**2)


@dataclass(frozen=True)
class EstimatorProperties:
    """What an experiment says of an estimator for several sample sizes; prints as a table.

    Formula: MSE = bias² + variance, each estimated over repetitions. Cost: O(sizes).

    Attributes
    ----------
    sizes : tuple of int
        n.
    bias : tuple of Interval
        E θ̂ − θ for each n.
    variance, mse : array of shape (n_sizes,)
        Of θ̂, and about θ.
    unbiased : bool
        Whether no interval of the bias excludes 0 (each at a level that makes all hold together).
    asymptotically_unbiased : bool
        Whether the bias vanishes: unbiased, or it shrinks with n towards 0.
    consistent : bool
        Whether the MSE shrinks with n towards 0.

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
    unbiased: bool
    asymptotically_unbiased: bool
    consistent: bool

    def __str__(self) -> str:
        lines = [f"{'n':>8} {'bias':>12} {'variance':>12} {'MSE':>12}"]
        rows = zip(self.sizes, self.bias, self.variance, self.mse, strict=True)
        lines += [f"{n:>8} {b.estimate:>12.4g} {v:>12.4g} {m:>12.4g}" for n, b, v, m in rows]
        flags = {
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
    """Bias, variance and mean squared error of any estimator, by repeating the experiment.

    Formula: over repetitions, bias = mean(θ̂) − θ, variance = var(θ̂), MSE = mean (θ̂ − θ)². The
    bias or MSE vanishes when it falls at least as fast as n^{−1/4} from the first size to the last.
    Cost: sizes × repetitions estimates.

    Parameters
    ----------
    estimate : callable
        θ̂ of a sample.
    draw : callable
        ``draw(n, random)`` gives a sample of n values.
    truth : float
        θ.
    sizes : sequence of int, default=(10, 100, 1000)
        n, two or more, ascending: what vanishes as n grows shows between the first and the last.
    repetitions : int, default=2000
        Samples of each size.
    level : float, default=0.95
        Confidence that a bias reported is one.
    random_state : int, Generator or None
        For `draw`.

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
            f"estimator_properties: sizes={sizes!r} must be two or more sizes, ascending: one size "
            "does not tell what happens as n grows. Use sizes=(10, 100, 1000)."
        )
    random = generator(random_state)
    bias, variance, mse = [], [], []
    for n in sizes:
        found = np.array([float(estimate(draw(int(n), random))) for _ in range(repetitions)])
        bias.append(mean_interval(found - truth, level=1 - (1 - level) / len(sizes)))
        variance.append(float(found.var()))
        mse.append(float(np.mean((found - truth) ** 2)))
    unbiased = all(0.0 in interval for interval in bias)
    shrink = (sizes[0] / sizes[-1]) ** 0.25
    last = max(abs(bias[-1].low), abs(bias[-1].high))
    vanishes = 0.0 in bias[-1] or last <= shrink * abs(bias[0].estimate)
    return EstimatorProperties(
        tuple(map(int, sizes)),
        tuple(bias),
        np.array(variance),
        np.array(mse),
        unbiased,
        unbiased or vanishes,
        bool(mse[-1] <= shrink * mse[0]),
    )
