"""Probability distributions: densities, samples, fits and their algebra."""

from thetahat.mathematics.distributions.multivariate_normal import MultivariateNormal
from thetahat.mathematics.distributions.natural_normal import NaturalNormal
from thetahat.mathematics.distributions.normal_fit import NormalInverseWishart

__all__ = ["MultivariateNormal", "NaturalNormal", "NormalInverseWishart"]


def __dir__() -> list[str]:
    return sorted(__all__)
