"""What a fit by maximum likelihood returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Solution


@dataclass(frozen=True)
class DistributionFit:
    """A distribution fitted by maximum likelihood, with standard errors; prints as a table.

    Formula: θ̂ = argmax_θ Σ wᵢ log p(xᵢ | θ). Intervals are exact where the distribution of θ̂ has a
    closed form (Normal, Uniform, Exponential), mid-P intervals for counts (Bernoulli, Categorical,
    Poisson), and otherwise contain the values that a likelihood-ratio test does not reject. Cost:
    O(1), or some hundred evaluations of the likelihood for intervals without a closed form.

    Attributes
    ----------
    distribution : Distribution or callable
        The distribution with the estimated parameters; for `maximum_likelihood` the log-density.
    names : tuple of str
        The names of the estimated parameters.
    estimates : array of shape (n_parameters,)
        The estimated parameters in the order of ``names`` (θ̂).
    standard_errors : array of shape (n_parameters,)
        The estimated standard deviations of the estimates.
    log_likelihood : float
        The log-likelihood of the data at the estimates.
    n_values : float
        The number of values, or the sum of their weights.
    solution : Solution or None
        How the numerical solver ended; None for a closed form.

    Examples
    --------
    >>> import thetahat as th
    >>> fit = th.distributions.Bernoulli.fit([1, 1, 1, 1, 0])
    >>> fit.distribution
    Bernoulli(p=0.8)
    >>> print(fit)
    Bernoulli, log-likelihood -2.502 of 5 values
    parameter     estimate    std. error     95% from           to
    p                  0.8        0.1789       0.3344         0.99
    """

    distribution: Any
    names: tuple[str, ...]
    estimates: Array
    standard_errors: Array
    log_likelihood: float
    n_values: float
    find_intervals: Callable[[float], Array] = field(repr=False, compare=False)
    solution: Solution | None = field(default=None, repr=False)

    def intervals(self, level: float = 0.95) -> Array:
        """Compute the confidence intervals of all parameters.

        Parameters
        ----------
        level : float, default=0.95
            The confidence level, between 0 and 1. A larger one gives wider intervals.

        Returns
        -------
        array of shape (n_parameters, 2)
        """
        require_level(level)
        return np.asarray(self.find_intervals(float(level)), dtype=np.float64)

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Compute the confidence interval of one parameter.

        Parameters
        ----------
        name : str
            The name of the parameter, one of ``names``.
        level : float, default=0.95
            The confidence level, between 0 and 1. A larger one gives a wider interval.

        Returns
        -------
        low, high : float
        """
        if name not in self.names:
            raise ParameterError(
                f"interval: name={name!r} is not a parameter of this fit. The parameters are "
                f"{', '.join(self.names)}."
            )
        low, high = self.intervals(level)[self.names.index(name)]
        return float(low), float(high)

    @property
    def aic(self) -> float:
        """Akaike's criterion 2k − 2·log-likelihood; smaller is better."""
        return 2 * len(self.names) - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The criterion k·log n − 2·log-likelihood of Schwarz; smaller is better."""
        return float(len(self.names) * np.log(self.n_values) - 2 * self.log_likelihood)

    def __str__(self) -> str:
        what = self.distribution
        title = getattr(what, "__name__", type(what).__name__)
        values = "value" if self.n_values == 1 else "values"
        lines = [f"{title}, log-likelihood {self.log_likelihood:.4g} of {self.n_values:g} {values}"]
        width = max(9, *(len(name) for name in self.names))
        heads = f"{'estimate':>12} {'std. error':>13} {'95% from':>12} {'to':>12}"
        lines.append(f"{'parameter':<{width}} {heads}")
        rows = zip(self.names, self.estimates, self.standard_errors, self.intervals(), strict=True)
        lines += [
            f"{name:<{width}} {value:>12.4g} {error:>13.4g} {low:>12.4g} {high:>12.4g}"
            for name, value, error, (low, high) in rows
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class MapFit:
    """The most probable parameter after a Bayesian update, and the posterior distribution.

    Formula: θ̂ = argmax_θ p(θ | data) = argmax_θ p(data | θ)·p(θ). Cost: O(1).

    Attributes
    ----------
    distribution : Distribution
        The distribution of the data at the most probable parameter.
    posterior : Distribution
        The posterior distribution of the parameter, with credible intervals ``interval(level)``.

    Examples
    --------
    >>> import thetahat as th
    >>> fit = th.distributions.Bernoulli.map_fit([1, 1, 1, 1, 0], th.distributions.Beta(2, 2))
    >>> fit.posterior
    Beta(alpha=6.0, beta=3.0)
    >>> round(fit.distribution.p, 6)
    0.714286
    """

    distribution: Any
    posterior: Any


def fit_arguments(data: Any, sample_weight: Any = None) -> Any:
    """The arguments that all fits share.

    Parameters
    ----------
    data : array-like of shape (n,) or Source
        The observed values, all of them possible ones of this distribution, or a source of one
        such column.
    sample_weight : array-like of shape (n,), optional
        Weights of the values. Weight two equals giving the value twice.

    Returns
    -------
    DistributionFit
    """
    raise NotImplementedError
