"""Bounds beside what happens: how often a variable strays, simulated, and how often it may.

    markov       X̄ ≥ k·μ                                    X̄ the mean of n independent values ≥ 0
    chebyshev    |X̄ − μ| > t·σ/√n                            σ the deviation of one value
    hoeffding    |X̄ − μ| > δ                                 values in [0, 1]
    union        some Xᵢ of n lies in its upper tail of probability p

Each event is counted over repetitions. The share, with its interval, must not lie above the bound.
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
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.theory.inequalities import chebyshev, hoeffding, markov, union_bound
from thetahat.theory.requirements import positive, probability, whole

VALUES_AT_ONCE = 2**20
"""Values drawn at a time, so that memory does not grow with the repetitions."""

SLACK = 1e-12
"""What rounding may add to a mean: a deviation of just δ is not above δ."""


@dataclass(frozen=True)
class BoundSimulation:
    """A bound and the simulated frequency of what it bounds; prints as a table, `plot` draws it.

    Formula: frequency = repetitions with the event / repetitions, with Wilson's interval, each at a
    level that makes all hold together. Cost: O(points).

    Attributes
    ----------
    bound : str
        Which one.
    at : tuple of float
        Where: multiples k, deviations t or δ, probabilities p.
    bounds : array of shape (n_points,)
        What the bound says.
    frequencies : tuple of Interval
        What happened.
    n, repetitions : int
        Values in each repetition, and repetitions.

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
        """Whether no frequency is above its bound by more than chance explains."""
        return all(f.low <= b for f, b in zip(self.frequencies, self.bounds, strict=True))

    def __str__(self) -> str:
        lines = [
            f"{self.bound} with n = {self.n}, {self.repetitions:,} repetitions",
            f"{'at':>12} {'bound':>11} {'simulated':>11}  interval",
        ]
        for at, bound, found in zip(self.at, self.bounds, self.frequencies, strict=True):
            ends = f"{found.low:.4g} to {found.high:.4g}"
            lines.append(f"{at:>12.4g} {bound:>11.4g} {found.estimate:>11.4g}  {ends}")
        return "\n".join([*lines, "the bound holds" if self.holds else "the bound is broken"])

    def plot(self, axes: Any = None) -> Any:
        """The bound and, with its band, the simulated frequency. Cost: O(points).

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; bounds on the same variable can share them.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="BoundSimulation.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        low, mid, high = np.array([[f.low, f.estimate, f.high] for f in self.frequencies]).T
        axes.set_yscale("log")
        (line,) = axes.plot(self.at, self.bounds, label=f"{self.bound}: bound")
        # No height is 0 on this axis, so where nothing happened the band alone is drawn.
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
        return axes


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
    """Count how often the event of a bound happens, beside what the bound allows.

    Formula: with X̄ the mean of n independent values of mean μ and standard deviation σ, markov
    counts X̄ ≥ k·μ, chebyshev |X̄ − μ| > t·σ/√n, hoeffding |X̄ − μ| > δ; union counts that any of n
    values lies in its upper tail of probability p. Cost: n × repetitions values, once for all of
    `at`; memory for a million of them at a time.

    Parameters
    ----------
    bound : {"markov", "chebyshev", "hoeffding", "union"}
        Which one.
    at : sequence of float
        k, t, δ or p, as the bound has it.
    n : int, default=1
        Values in each mean; for "union", events.
    distribution : frozen distribution of scipy.stats, optional
        Of one value: ≥ 0 for "markov", in [0, 1] for "hoeffding". None: uniform on [0, 1].
    repetitions : int, default=10_000
        How often the experiment is made.
    level : float, default=0.95
        The confidence that all intervals cover their probabilities.
    random_state : int, Generator or None
        For the values.

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
        raise ParameterError("simulate: at=() must name at least one place to look at.")
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
"""What is measured in each repetition, above which value the event has happened, the bound."""


def _markov(law: Any, at: Sequence[float], n: int) -> Experiment:
    _within(law, "markov", 0.0, np.inf)
    mean = _finite(law.mean(), "mean", "markov")
    # "At least" is "above the next smaller number", rounding included.
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
    # A distribution of few values has no tail of just p; the event has the probability it has.
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
            f"simulate: distribution has values from {begins:g} to {ends:g}; {bound} is about "
            f"those from {low:g} to {high:g}. Shift or scale it, or use 'chebyshev'."
        )


def _finite(value: float, what: str, bound: str, *, signed: bool = False) -> float:
    if not np.isfinite(value) or (not signed and value <= 0):
        kind = "finite" if signed else "finite and > 0"
        raise ParameterError(
            f"simulate: the {what} of distribution is {value:g}; {bound} needs one that is {kind}. "
            "Use another distribution."
        )
    return float(value)
