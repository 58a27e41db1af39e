"""Kernels k(x, z): th.kernels.RBF(sigma=2.0), 0.5 * RBF() + Linear(), or the string "rbf"."""

from thetahat.mathematics.kernels.bandwidth import bandwidth
from thetahat.mathematics.kernels.base import Constant, Product, Scaled, Sum
from thetahat.mathematics.kernels.bounded import Bounded
from thetahat.mathematics.kernels.centred import Centred, centre
from thetahat.mathematics.kernels.compact import Wendland
from thetahat.mathematics.kernels.expansions import rbf_series
from thetahat.mathematics.kernels.given import FeatureMap, FromFunction, Precomputed
from thetahat.mathematics.kernels.histograms import AdditiveChi2, Chi2
from thetahat.mathematics.kernels.mercer import mercer_check
from thetahat.mathematics.kernels.names import named
from thetahat.mathematics.kernels.noise import White
from thetahat.mathematics.kernels.periodic import Periodic
from thetahat.mathematics.kernels.polynomial import (
    Cosine,
    DotProduct,
    Linear,
    Polynomial,
    Sigmoid,
)
from thetahat.mathematics.kernels.stationary import RBF, Laplacian, Matern, RationalQuadratic

__all__ = [
    "RBF",
    "AdditiveChi2",
    "Bounded",
    "Centred",
    "Chi2",
    "Constant",
    "Cosine",
    "DotProduct",
    "FeatureMap",
    "FromFunction",
    "Laplacian",
    "Linear",
    "Matern",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "Wendland",
    "White",
    "bandwidth",
    "centre",
    "mercer_check",
    "named",
    "rbf_series",
]


def __dir__() -> list[str]:
    return sorted(__all__)
