"""Maximum likelihood for any density that is written as a function of values and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.data.validation import as_source
from thetahat.foundation.arguments import numbers, shown
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff import hessian, value_and_gradient
from thetahat.mathematics.distributions.fitting.newton import newton_fit
from thetahat.mathematics.distributions.fitting.result import DistributionFit
from thetahat.mathematics.distributions.fitting.rows import Averages

LogDensity = Callable[..., Array]


def maximum_likelihood(
    log_density: LogDensity,
    data: Any,
    start: Any,
    *,
    y: Any = None,
    sample_weight: Any = None,
    positive: Sequence[bool] | bool = False,
    names: Sequence[str] | None = None,
) -> DistributionFit:
    """Fit the parameters of any density by maximum likelihood.

    Formula: θ̂ = argmax_θ Σ wᵢ log p(xᵢ | θ), or Σ wᵢ log p(yᵢ | xᵢ, θ) with targets y (conditional
    likelihood), by Newton's method with derivatives by automatic differentiation. Standard errors
    are the roots of the diagonal of H⁻¹ with H the negative Hessian of the log-likelihood;
    intervals contain the values that a likelihood-ratio test does not reject. A distribution of
    ``th.distributions`` that has its own ``fit`` is faster. Cost: for each iteration about 6k
    evaluations of the log-density of all values, for k parameters.

    Parameters
    ----------
    log_density : callable
        The function ``log_density(x, theta)``, or ``log_density(x, y, theta)`` if y is given, with
        one logarithm of a density for every row. It is written with NumPy functions that
        ``th.autodiff`` can differentiate.
    data : array-like of shape (n,) or (n, d), or Source
        The observed values. The function is given one-dimensional arrays if there is one column.
    start : array-like of shape (k,)
        The parameters at which the search starts. Different starts can show whether there are
        several maxima.
    y : array-like of shape (n,), optional
        Targets, if the likelihood is that of y given the data.
    sample_weight : array-like of shape (n,), optional
        Weights of the values. Weight two equals giving the value twice.
    positive : bool or sequence of bool, default=False
        Whether the parameters must be positive, for all of them or for each. The logarithm of a
        positive parameter is searched.
    names : sequence of str, optional
        The names of the parameters. By default "theta[0]", "theta[1]" and so on.

    Returns
    -------
    DistributionFit

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> def logistic(x, theta):
    ...     z = (x - theta[0]) / theta[1]
    ...     return -z - 2 * np.log1p(np.exp(-z)) - np.log(theta[1])
    >>> values = np.random.default_rng(0).logistic(3.0, 2.0, 500)
    >>> fit = th.distributions.maximum_likelihood(
    ...     logistic, values, [0.0, 1.0], positive=[False, True], names=["centre", "width"])
    >>> fit.estimates.round(1)
    array([3.4, 2. ])
    """
    who = "maximum_likelihood"
    theta = numbers(start, "start", who)
    if theta.ndim != 1 or theta.size == 0:
        raise ParameterError(
            f"{who}: start has shape {theta.shape}, but it must be a list of at least one number, "
            "(k,). Give one starting value for each parameter."
        )
    signs = np.broadcast_to(np.asarray(positive, dtype=bool), theta.shape)
    if (signs & (theta <= 0)).any():
        wrong = int(np.argmax(signs & (theta <= 0)))
        raise ParameterError(
            f"{who}: start[{wrong}] = {theta[wrong]:g}, but this parameter must be positive. Start "
            "from a positive number."
        )
    labels = tuple(names) if names is not None else tuple(f"theta[{j}]" for j in range(theta.size))
    if len(labels) != theta.size:
        raise ParameterError(
            f"{who}: {len(labels)} names were given for {theta.size} parameters. Give one name for "
            "each."
        )
    source = _rows(data, y, sample_weight, who)
    _check_shape(log_density, source, theta, who)
    return newton_fit(
        partial(_itself, log_density),
        labels,
        partial(_derivatives, log_density, source),
        theta,
        tuple(bool(each) for each in signs),
        float(source.reduce(_total).weight),
        who,
    )


@dataclass(frozen=True)
class SimulatedEstimates:
    """Estimates from many simulated samples: the distribution of an estimator; prints as a table.

    Formula: θ̂⁽¹⁾, …, θ̂⁽ᴿ⁾ of independent samples of the same size. Cost: O(repetitions).

    Attributes
    ----------
    names : tuple of str
        The names of the estimated parameters.
    estimates : array of shape (repetitions, n_parameters)
        The estimates of each simulated sample.
    mean : array of shape (n_parameters,)
        The means of the estimates over all samples.
    standard_deviation : array of shape (n_parameters,)
        The standard deviations of the estimates, which standard errors estimate.

    Examples
    --------
    >>> import thetahat as th
    >>> coin = th.distributions.Bernoulli(0.3)
    >>> found = th.distributions.simulate_estimates(coin, 100, repetitions=500, random_state=0)
    >>> found.estimates.shape, found.mean.round(2)
    ((500, 1), array([0.3]))
    """

    names: tuple[str, ...]
    estimates: Array

    @property
    def mean(self) -> Array:
        """The means of the estimates over all samples."""
        return np.asarray(self.estimates.mean(axis=0))

    @property
    def standard_deviation(self) -> Array:
        """The standard deviations of the estimates."""
        return np.asarray(self.estimates.std(axis=0, ddof=1))

    def __str__(self) -> str:
        width = max(9, *(len(name) for name in self.names))
        lines = [f"{'parameter':<{width}} {'mean':>12} {'std. dev.':>12}"]
        rows = zip(self.names, self.mean, self.standard_deviation, strict=True)
        lines += [f"{name:<{width}} {mean:>12.4g} {sd:>12.4g}" for name, mean, sd in rows]
        return "\n".join(lines)


def simulate_estimates(
    distribution: Any,
    n: int,
    *,
    fit: Callable[[Array], DistributionFit] | None = None,
    repetitions: int = 1000,
    random_state: RandomState = None,
) -> SimulatedEstimates:
    """Draw many samples from a distribution and estimate its parameters from each.

    It shows that an estimate is a random variable, and how its distribution narrows as n grows.
    Formula: θ̂⁽ʳ⁾ = fit(x₁, …, xₙ) with fresh values for each r. Cost: `repetitions` samples and
    fits.

    Parameters
    ----------
    distribution : Distribution
        The distribution to draw from.
    n : int
        The number of values of each sample, at least 1.
    fit : callable, optional
        A function of the values that returns a `DistributionFit`. By default the ``fit`` of the
        class of the distribution.
    repetitions : int, default=1000
        The number of samples, at least 2. More show the distribution in more detail.
    random_state : int, Generator, RandomState or None
        Seed or generator of the draws. The same seed gives the same estimates.

    Returns
    -------
    SimulatedEstimates

    Examples
    --------
    >>> import thetahat as th
    >>> normal = th.distributions.Normal(5, 2)
    >>> found = th.distributions.simulate_estimates(normal, 25, repetitions=400, random_state=0)
    >>> found.standard_deviation.round(1)
    array([0.4, 0.3])
    """
    who = "simulate_estimates"
    for name, value, least in (("n", n, 1), ("repetitions", repetitions, 2)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{who}: {name}={value!r} must be a whole number ≥ {least}.")
    estimate = fit if fit is not None else getattr(type(distribution), "fit", None)
    if estimate is None:
        raise ParameterError(
            f"{who}: {type(distribution).__name__} has no fit. Pass fit=..., a function of the "
            "values."
        )
    random = generator(random_state)
    fits = []
    for _ in range(repetitions):
        fits.append(estimate(distribution.sample(n, random)))
        if not isinstance(fits[-1], DistributionFit):
            raise ParameterError(
                f"{who}: fit must return a DistributionFit, which has names and estimates, but it "
                f"returned {shown(fits[-1])} of type {type(fits[-1]).__name__}. Return the result "
                "of the fit of a distribution or of maximum_likelihood."
            )
        if fits[-1].names != fits[0].names:
            raise ParameterError(
                f"{who}: fit must estimate the same parameters in every repetition, but it "
                f"estimated {fits[0].names} first and {fits[-1].names} later. Fix the number of "
                "parameters, for example n_categories of Categorical.fit."
            )
    return SimulatedEstimates(fits[0].names, np.stack([each.estimates for each in fits]))


def _rows(data: Any, y: Any, sample_weight: Any, who: str) -> Source:
    if not isinstance(data, Source):
        values = data if hasattr(data, "columns") else np.asarray(data)
        if not hasattr(values, "columns") and values.ndim == 1:
            if values.size == 0:
                raise DataError(
                    f"{who}: data is empty, but at least one value is needed. Give observed values."
                )
            values = values[:, None]
        data = values
    return as_source(data, y, sample_weight, who=who, accept_sparse=False)


def _arguments(block: Block) -> tuple[Array, ...]:
    X = np.asarray(dense_rows(block), dtype=np.float64)
    x = X[:, 0] if X.shape[1] == 1 else X
    return (x,) if block.y is None else (x, np.asarray(block.y, dtype=np.float64))


def _itself(log_density: LogDensity, *theta: float) -> LogDensity:
    return log_density


def _total(block: Block) -> Averages:
    return Averages(block.n_rows, float(np.sum(block.row_weights)), np.zeros(1), 0.0, 0.0)


def _check_shape(log_density: LogDensity, source: Source, theta: Array, who: str) -> None:
    """Evaluate the function on the first rows, so that mistakes show before the search."""
    first = source.head(5)
    result = log_density(*_arguments(first), theta)
    found = numbers(result, "the result of log_density", who, finite=None)
    if found.shape != (first.n_rows,):
        raise ParameterError(
            f"{who}: log_density returned shape {found.shape} for {first.n_rows} rows, but it must "
            f"return one number for each row, ({first.n_rows},)."
        )
    if not np.isfinite(found).all():
        row = int(np.argmin(np.isfinite(found)))
        raise ParameterError(
            f"{who}: log_density is {found[row]:g} at row {row} for the parameters start="
            f"{theta.tolist()}, but it must be finite. Start where all values are possible."
        )


def _derivatives(
    log_density: LogDensity, source: Source, theta: Array
) -> tuple[float, Array, Array]:
    found = source.reduce(_summarise, log_density, theta).mean
    k = theta.size
    return float(found[0]), found[1 : 1 + k], found[1 + k :].reshape(k, k)


def _summarise(block: Block, log_density: LogDensity, theta: Array) -> Averages:
    """The mean log-density of a block and its derivatives."""
    values = _arguments(block)
    weight = np.asarray(block.row_weights, dtype=np.float64)
    total = float(weight.sum())

    def mean(parameters: Array) -> Array:
        return (log_density(*values, parameters) * weight).sum() / total

    if total == 0:
        return Averages(0, 0.0, np.zeros(1 + theta.size + theta.size**2), 0.0, 0.0)
    value, gradient = value_and_gradient(mean)(theta)
    second = np.asarray(hessian(mean, theta))
    parts = [np.atleast_1d(np.asarray(value)), np.asarray(gradient), second.ravel()]
    return Averages(block.n_rows, total, np.concatenate(parts), 0.0, 0.0)
