"""Distributions as values: th.distributions.Normal(0, 1), with fits, posteriors and divergences.

Every distribution is a frozen value with densities, quantiles, moments and samples. `fit` estimates
its parameters by maximum likelihood, `posterior` updates a conjugate prior, and `kl` compares two
distributions. Names are loaded on first use, so that a model loads only the parts that it needs.
"""

from thetahat._lazy import lazy as _lazy

_BY_FILE = {
    "bernoulli": ("Bernoulli", "BernoulliLogit"),
    "beta": ("Beta",),
    "categorical": ("Categorical",),
    "conjugate": ("posterior", "predictive"),
    "dirichlet": ("Dirichlet",),
    "divergence": ("cross_entropy", "jensen_gap", "kl"),
    "f": ("F",),
    "factorials": ("beta_function", "gamma_function"),
    "fitting.maximum_likelihood": (
        "SimulatedEstimates",
        "maximum_likelihood",
        "simulate_estimates",
    ),
    "fitting.result": ("DistributionFit", "MapFit"),
    "gamma": ("ChiSquared", "Exponential", "Gamma"),
    "gaussian.multivariate_normal": ("MultivariateNormal",),
    "gaussian.natural_normal": ("NaturalNormal",),
    "normal": ("Normal",),
    "gaussian.normal_fit": ("NormalInverseWishart",),
    "poisson": ("NegativeBinomial", "Poisson"),
    "student": ("StudentT",),
    "truncated_normal": ("TruncatedNormal",),
    "uniform": ("Uniform",),
}
_NAMES = {name: f"{__name__}.{file}" for file, names in _BY_FILE.items() for name in names}

__all__ = sorted(_NAMES)
__getattr__, __dir__ = _lazy(__name__, _NAMES)
