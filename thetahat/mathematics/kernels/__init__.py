"""Kernels k(x, z): th.kernels.RBF(sigma=2.0), 0.5 * RBF() + Linear(), or the string "rbf"."""

from thetahat.mathematics.kernels.bandwidth import bandwidth
from thetahat.mathematics.kernels.base import Constant, Kernel, Product, Scaled, Sum
from thetahat.mathematics.kernels.bounded import Bounded
from thetahat.mathematics.kernels.centred import Centred, centre
from thetahat.mathematics.kernels.compact import Wendland
from thetahat.mathematics.kernels.expansions import rbf_series
from thetahat.mathematics.kernels.given import FeatureMap, FromFunction, Precomputed
from thetahat.mathematics.kernels.histograms import AdditiveChi2, Chi2
from thetahat.mathematics.kernels.mercer import mercer_check
from thetahat.mathematics.kernels.noise import White
from thetahat.mathematics.kernels.periodic import Periodic
from thetahat.mathematics.kernels.polynomial import (
    Cosine,
    DotProduct,
    Linear,
    Polynomial,
    Sigmoid,
)
from thetahat.mathematics.kernels.scikit_learn import as_kernel, is_scikit_learns
from thetahat.mathematics.kernels.stationary import RBF, Laplacian, Matern, RationalQuadratic
from thetahat.mathematics.parts import part_named

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


def named(kernel: str | Kernel) -> Kernel:
    """Return the kernel with this name and its default parameters.

    Formula: "rbf" ↦ ``RBF()``. scikit-learn's names are accepted, and a kernel is returned
    unchanged. A kernel of ``sklearn.gaussian_process.kernels`` becomes one of this library with the
    same values. Cost: O(1).

    Parameters
    ----------
    kernel : str or Kernel
        The name of a kernel, one of its aliases, a kernel, or a kernel of scikit-learn's Gaussian
        processes.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.named("poly")
    Polynomial(degree=2, coef0=1.0, gamma=1.0)
    """
    if is_scikit_learns(kernel):
        return as_kernel(kernel)
    return part_named("kernel", kernel, Kernel, _BY_NAME)  # type: ignore[type-abstract]


_BY_NAME: dict[str, type[Kernel]] = {
    part.name: part
    for part in (
        RBF,
        AdditiveChi2,
        Chi2,
        Cosine,
        DotProduct,
        Laplacian,
        Linear,
        Matern,
        Periodic,
        Polynomial,
        Precomputed,
        RationalQuadratic,
        Sigmoid,
        Wendland,
    )
}
"""Kernels that a name describes; the others are made of functions or of other kernels."""


def __dir__() -> list[str]:
    return sorted(__all__)
