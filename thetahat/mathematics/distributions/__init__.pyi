# Written by `python -m tests.public_stub`; do not edit.

from thetahat.mathematics.distributions.bernoulli import Bernoulli as Bernoulli
from thetahat.mathematics.distributions.bernoulli import BernoulliLogit as BernoulliLogit
from thetahat.mathematics.distributions.beta import Beta as Beta
from thetahat.mathematics.distributions.categorical import Categorical as Categorical
from thetahat.mathematics.distributions.conjugate import posterior as posterior
from thetahat.mathematics.distributions.conjugate import predictive as predictive
from thetahat.mathematics.distributions.dirichlet import Dirichlet as Dirichlet
from thetahat.mathematics.distributions.divergence import cross_entropy as cross_entropy
from thetahat.mathematics.distributions.divergence import jensen_gap as jensen_gap
from thetahat.mathematics.distributions.divergence import kl as kl
from thetahat.mathematics.distributions.f import F as F
from thetahat.mathematics.distributions.factorials import beta_function as beta_function
from thetahat.mathematics.distributions.factorials import gamma_function as gamma_function
from thetahat.mathematics.distributions.fitting.maximum_likelihood import SimulatedEstimates as SimulatedEstimates
from thetahat.mathematics.distributions.fitting.maximum_likelihood import maximum_likelihood as maximum_likelihood
from thetahat.mathematics.distributions.fitting.maximum_likelihood import simulate_estimates as simulate_estimates
from thetahat.mathematics.distributions.fitting.result import DistributionFit as DistributionFit
from thetahat.mathematics.distributions.fitting.result import MapFit as MapFit
from thetahat.mathematics.distributions.gamma import ChiSquared as ChiSquared
from thetahat.mathematics.distributions.gamma import Exponential as Exponential
from thetahat.mathematics.distributions.gamma import Gamma as Gamma
from thetahat.mathematics.distributions.gaussian.multivariate_normal import MultivariateNormal as MultivariateNormal
from thetahat.mathematics.distributions.gaussian.natural_normal import NaturalNormal as NaturalNormal
from thetahat.mathematics.distributions.gaussian.normal_fit import NormalInverseWishart as NormalInverseWishart
from thetahat.mathematics.distributions.normal import Normal as Normal
from thetahat.mathematics.distributions.poisson import NegativeBinomial as NegativeBinomial
from thetahat.mathematics.distributions.poisson import Poisson as Poisson
from thetahat.mathematics.distributions.student import StudentT as StudentT
from thetahat.mathematics.distributions.truncated_normal import TruncatedNormal as TruncatedNormal
from thetahat.mathematics.distributions.uniform import Uniform as Uniform

__all__ = [
    "Bernoulli",
    "BernoulliLogit",
    "Beta",
    "Categorical",
    "ChiSquared",
    "Dirichlet",
    "DistributionFit",
    "Exponential",
    "F",
    "Gamma",
    "MapFit",
    "MultivariateNormal",
    "NaturalNormal",
    "NegativeBinomial",
    "Normal",
    "NormalInverseWishart",
    "Poisson",
    "SimulatedEstimates",
    "StudentT",
    "TruncatedNormal",
    "Uniform",
    "beta_function",
    "cross_entropy",
    "gamma_function",
    "jensen_gap",
    "kl",
    "maximum_likelihood",
    "posterior",
    "predictive",
    "simulate_estimates",
]
