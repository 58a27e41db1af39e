"""Bayesian updates with conjugate priors: the posterior is of the family of the prior.

==============  =======================  ==============================  =========================
prior           data                     posterior                       next value (predictive)
==============  =======================  ==============================  =========================
Beta(α, β)      binary values            Beta(α + N₁, β + N₀)            Bernoulli(mean)
Dirichlet(α)    categories 0, …, K − 1   Dirichlet(α + N)                Categorical(mean)
Normal(μ₀, σ₀)  numbers with noise σ₁    Normal(B/A, √(1/A))             Normal with more variance
Gamma(k, r)     counts                   Gamma(k + Σx, r + n)            NegativeBinomial
==============  =======================  ==============================  =========================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.distributions.bernoulli import Bernoulli, beta_posterior
from thetahat.mathematics.distributions.beta import Beta
from thetahat.mathematics.distributions.categorical import Categorical, dirichlet_posterior
from thetahat.mathematics.distributions.dirichlet import Dirichlet
from thetahat.mathematics.distributions.gamma import Gamma
from thetahat.mathematics.distributions.normal import Normal, normal_posterior
from thetahat.mathematics.distributions.poisson import NegativeBinomial, gamma_posterior


def posterior(
    prior: Any, data: Any, sample_weight: Any = None, *, noise: float | None = None
) -> Any:
    """Compute the posterior distribution of a parameter after data, for a conjugate prior.

    Formula: p(θ | data) ∝ p(data | θ)·p(θ). A Beta prior of a probability is updated by binary
    values, a Dirichlet prior of several probabilities by categories, a Normal prior of a mean by
    numbers with known noise (N(B/A, 1/A) with A = n/σ₁² + 1/σ₀² and B = Σx/σ₁² + μ₀/σ₀²), and a
    Gamma prior of a rate by counts. The posterior of some data is the prior of the next. Cost:
    O(n), one pass over the data.

    Parameters
    ----------
    prior : Beta, Dirichlet, Normal or Gamma
        The distribution of the parameter before the data.
    data : array-like of shape (n,) or Source
        The observed values. No values at all give the prior itself.
    sample_weight : array-like of shape (n,), optional
        Weights of the values. Weight two equals giving the value twice.
    noise : float, optional
        The known standard deviation of the values about their mean (σ₁). It is needed with a
        Normal prior, and not allowed with others.

    Returns
    -------
    Beta, Dirichlet, Normal or Gamma

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.posterior(th.distributions.Beta(2, 2), [1, 1, 1, 1, 0])
    Beta(alpha=6.0, beta=3.0)
    >>> th.distributions.posterior(th.distributions.Gamma(2, 1), [3, 5])
    Gamma(shape=10.0, rate=3.0)
    """
    _check_noise(prior, noise, "posterior")
    if isinstance(prior, Beta):
        return beta_posterior(prior, data, sample_weight, "posterior")
    if isinstance(prior, Dirichlet):
        return dirichlet_posterior(prior, data, sample_weight, None, "posterior")
    if isinstance(prior, Normal):
        return normal_posterior(prior, data, noise, sample_weight, "posterior")
    return gamma_posterior(prior, data, sample_weight, "posterior")


def predictive(distribution: Any, *, noise: float | None = None) -> Any:
    """Compute the distribution of the next value, given the distribution of its parameter.

    Formula: p(x) = ∫ p(x | θ)·p(θ) dθ with p(θ) the prior or posterior. It is wider than p(x | θ̂),
    because the parameter is uncertain. Cost: O(1).

    Parameters
    ----------
    distribution : Beta, Dirichlet, Normal or Gamma
        The distribution of the parameter, before or after data.
    noise : float, optional
        The known standard deviation of a value about its mean (σ₁). It is needed with a Normal
        distribution, and not allowed with others.

    Returns
    -------
    Bernoulli, Categorical, Normal or NegativeBinomial

    Examples
    --------
    >>> import thetahat as th
    >>> th.distributions.predictive(th.distributions.Beta(6, 2))
    Bernoulli(p=0.75)
    >>> th.distributions.predictive(th.distributions.Normal(30, 3), noise=4)
    Normal(mean=30.0, sigma=5.0)
    """
    _check_noise(distribution, noise, "predictive")
    if isinstance(distribution, Beta):
        return Bernoulli(distribution.mean)
    if isinstance(distribution, Dirichlet):
        return Categorical(tuple(distribution.mean))
    if isinstance(distribution, Gamma):
        rate = distribution.rate
        return NegativeBinomial(distribution.shape, rate / (rate + 1))
    error = Normal(0.0, noise)  # type: ignore[arg-type]  # checked above
    return Normal(distribution.mean, float(np.hypot(distribution.sigma, error.sigma)))


def _check_noise(prior: Any, noise: Any, who: str) -> None:
    if not isinstance(prior, Beta | Dirichlet | Gamma | Normal):
        raise ParameterError(
            f"{who}: {prior!r} is not a conjugate prior. Use th.distributions.Beta for a "
            "probability, Dirichlet for several, Normal for a mean, or Gamma for a rate."
        )
    if isinstance(prior, Normal) and noise is None:
        raise ParameterError(
            f"{who}: noise is needed with a Normal distribution of the mean, but it is None. Pass "
            "the known standard deviation of the values: noise=..."
        )
    if noise is not None and not isinstance(prior, Normal):
        raise ParameterError(
            f"{who}: noise={noise!r} is only for a Normal distribution of a mean, not for "
            f"{type(prior).__name__}. Omit it."
        )
