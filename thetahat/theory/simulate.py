"""Simulations of concentration bounds: how often an event happens, and how often it may.

    markov       X̄ ≥ k·μ                                    X̄ the mean of n independent values ≥ 0
    chebyshev    |X̄ − μ| > t·σ/√n                            σ the standard deviation of one value
    hoeffding    |X̄ − μ| > δ                                 values in [0, 1]
    union        at least one Xᵢ of n lies in its upper tail of probability p

Each event is counted over repetitions. Its frequency, with its interval, must not exceed the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.theory.inequalities import chebyshev, hoeffding, markov, union_bound
from thetahat.theory.requirements import positive, probability, whole

VALUES_AT_ONCE = 2**20
"""Number of values drawn at a time, so that memory does not grow with the repetitions."""

SLACK = 1e-12
"""Rounding error allowed in a mean, so that a deviation of exactly δ does not exceed δ."""


@dataclass(frozen=True)
class BoundSimulation:
    """A bound and the simulated frequency of its event; prints as a table.

    Formula: frequency = repetitions with the event / repetitions, with Wilson's interval, at levels
    such that all intervals hold together. Cost: O(points).

    Attributes
    ----------
    bound : str
        The name of the bound.
    at : tuple of float
        The arguments of the bound: multiples k, deviations t or δ, or probabilities p.
    bounds : array of shape (n_points,)
        The value of the bound at each argument.
    frequencies : tuple of Interval
        The simulated frequency at each argument, with its interval.
    n, repetitions : int
        The number of values in each repetition, and the number of repetitions.
    holds : bool
        Whether no frequency exceeds its bound significantly.

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.theory.simulate("hoeffding", [0.05, 0.1], n=100, random_state=0))
    hoeffding with n = 100, 10,000 repetitions
              at       bound   simulated  interval
            0.05           1      0.0808  0.0749 to 0.08712
             0.1      0.2707      0.0002  4.675e-05 to 0.0008552
    the bound holds
    """

    bound: str
    at: tuple[float, ...]
    bounds: Array
    frequencies: tuple[Interval, ...]
    n: int
    repetitions: int

    @property
    def holds(self) -> bool:
        """Whether no frequency exceeds its bound significantly."""
        return all(f.low <= b for f, b in zip(self.frequencies, self.bounds, strict=True))

    def __str__(self) -> str:
        lines = [
            f"{self.bound} with n = {self.n}, {self.repetitions:,} repetitions",
            f"{'at':>12} {'bound':>11} {'simulated':>11}  interval",
        ]
        for at, bound, found in zip(self.at, self.bounds, self.frequencies, strict=True):
            ends = f"{found.low:.4g} to {found.high:.4g}"
            lines.append(f"{at:>12.4g} {bound:>11.4g} {found.estimate:>11.4g}  {ends}")
        return "\n".join([*lines, "the bound holds" if self.holds else "the bound is exceeded"])

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the bound, and the simulated frequency with its band. Cost: O(points)."""
        low, mid, high = np.array([[f.low, f.estimate, f.high] for f in self.frequencies]).T
        axes.set_yscale("log")
        (line,) = axes.plot(self.at, self.bounds, label=f"{self.bound}: bound")
        # The axis is logarithmic, so at frequency 0 only the band is drawn.
        never = 0.1 / self.repetitions
        axes.fill_between(
            self.at, np.maximum(low, never), high, color=line.get_color(), alpha=0.2, lw=0
        )
        axes.plot(
            self.at, np.where(mid > 0, mid, np.nan), ".--", c=line.get_color(),
            label=f"{self.bound}: simulated",
        )  # fmt: skip
        axes.set(xlabel=_WHERE[self.bound], ylabel="probability", ylim=(5 * never, 1.5))
        axes.legend(frameon=False)


def simulate(
    bound: str,
    at: Sequence[float],
    *,
    n: int = 1,
    distribution: Any = None,
    repetitions: int = 10_000,
    level: float = 0.95,
    random_state: Any = None,
) -> BoundSimulation:
    """Simulate how often the event of a concentration bound happens, and compare with the bound.

    Formula: with X̄ the mean of n independent values of mean μ and standard deviation σ, markov
    counts X̄ ≥ k·μ, chebyshev |X̄ − μ| > t·σ/√n, hoeffding |X̄ − μ| > δ; union counts that at least
    one of n values lies in its upper tail of probability p. Cost: n × repetitions values, once for
    all of `at`, with a million of them in memory at a time.

    Parameters
    ----------
    bound : {"markov", "chebyshev", "hoeffding", "union"}
        The name of the bound to simulate.
    at : sequence of float
        The arguments of the bound: k, t, δ or p, in the order of the names above.
    n : int, default=1
        The number of values in each mean, or the number of events for "union".
    distribution : frozen distribution of scipy.stats, optional
        The distribution of one value: ≥ 0 for "markov", in [0, 1] for "hoeffding". By default
        uniform on [0, 1].
    repetitions : int, default=10_000
        The number of repetitions. More repetitions give narrower intervals.
    level : float, default=0.95
        Confidence level of all intervals together, between 0 and 1.
    random_state : int, Generator or None
        Seed or generator for the values. The same seed gives the same result.

    Returns
    -------
    BoundSimulation

    Examples
    --------
    >>> import thetahat as th
    >>> from scipy.stats import bernoulli, expon
    >>> th.theory.simulate("markov", [2, 5], distribution=expon(), random_state=0).holds
    True
    >>> coins = th.theory.simulate("chebyshev", [1.5], n=100, distribution=bernoulli(0.5))
    >>> coins.bounds.round(4).tolist()
    [0.4444]
    """
    check_value(bound, one_of(*_EXPERIMENTS), "bound", "simulate")
    whole(n, "n", "simulate", low=1)
    whole(repetitions, "repetitions", "simulate", low=1)
    probability(level, "level", "simulate")
    law = _law(distribution)
    points = tuple(at)
    if not points:
        raise ParameterError("simulate: at is empty. Give at least one argument of the bound.")
    for each in points:
        positive(each, "at", "simulate")
    statistic, thresholds, bounds = _EXPERIMENTS[bound](law, points, n)
    random, rows = generator(random_state), max(1, VALUES_AT_ONCE // n)
    happened = np.zeros(len(points))
    for start in range(0, repetitions, rows):
        values = law.rvs(size=(min(rows, repetitions - start), n), random_state=random)
        happened += (statistic(values)[:, None] > np.array(thresholds)).sum(axis=0)
    each_level = 1 - (1 - level) / len(points)
    found = [proportion_interval(float(k), repetitions, level=each_level) for k in happened]
    return BoundSimulation(
        bound, tuple(map(float, points)), np.array(bounds), tuple(found), n, repetitions
    )


Experiment = tuple[Callable[[Array], Array], list[float], list[float]]
"""The quantity measured in each repetition, its thresholds, and the values of the bound."""


def _markov(law: Any, at: Sequence[float], n: int) -> Experiment:
    _within(law, "markov", 0.0, np.inf)
    mean = _finite(law.mean(), "mean", "markov")
    # "At least x" is computed as "above the next smaller number".
    return (
        lambda values: values.mean(axis=1) / mean,
        [k * (1 - SLACK) for k in at],
        [markov(k) for k in at],
    )


def _chebyshev(law: Any, at: Sequence[float], n: int) -> Experiment:
    mean = _finite(law.mean(), "mean", "chebyshev", signed=True)
    spread = _finite(law.std(), "standard deviation", "chebyshev") / sqrt(n)
    return (
        lambda values: np.abs(values.mean(axis=1) - mean) / spread,
        [t + SLACK * max(1.0, t) for t in at],
        [chebyshev(t) for t in at],
    )


def _hoeffding(law: Any, at: Sequence[float], n: int) -> Experiment:
    _within(law, "hoeffding", 0.0, 1.0)
    mean = float(law.mean())
    return (
        lambda values: np.abs(values.mean(axis=1) - mean),
        [deviation + SLACK for deviation in at],
        [hoeffding(n, deviation) for deviation in at],
    )


def _union(law: Any, at: Sequence[float], n: int) -> Experiment:
    for p in at:
        probability(p, "at", "simulate")
    tails = [float(law.isf(p)) for p in at]
    # A discrete distribution may have no tail of probability p; use the probability it has.
    return (
        lambda values: values.max(axis=1),
        tails,
        [union_bound(float(law.sf(tail)), events=n) for tail in tails],
    )


_EXPERIMENTS = {
    "markov": _markov,
    "chebyshev": _chebyshev,
    "hoeffding": _hoeffding,
    "union": _union,
}

_WHERE = {
    "markov": "multiple of the mean",
    "chebyshev": "standard deviations of the mean",
    "hoeffding": "deviation of the mean",
    "union": "probability of each event",
}


def _law(distribution: Any) -> Any:
    if distribution is None:
        from scipy.stats import uniform

        return uniform()
    needed = ("rvs", "mean", "std", "support", "isf", "sf")
    if not all(hasattr(distribution, name) for name in needed):
        raise ParameterError(
            f"simulate: distribution={distribution!r} must be a frozen distribution of "
            "scipy.stats. Use scipy.stats.bernoulli(0.5), for example."
        )
    return distribution


def _within(law: Any, bound: str, low: float, high: float) -> None:
    begins, ends = map(float, law.support())
    if begins < low or ends > high:
        raise ParameterError(
            f"simulate: the values of distribution lie between {begins:g} and {ends:g}, but "
            f"{bound} needs values between {low:g} and {high:g}. Shift or scale it, or use "
            "'chebyshev'."
        )


def _finite(value: float, what: str, bound: str, *, signed: bool = False) -> float:
    if not np.isfinite(value) or (not signed and value <= 0):
        kind = "finite" if signed else "finite and > 0"
        raise ParameterError(
            f"simulate: the {what} of distribution is {value:g}, but {bound} needs one that is "
            f"{kind}. "
            "Use another distribution."
        )
    return float(value)
