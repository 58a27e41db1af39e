"""Smoothing kernels K(s) of scaled distances: th.smoothing.Tricube(), or the string "tricube"."""

from thetahat.mathematics.parts import part_named
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.mathematics.smoothing.bounded import (
    Cosine,
    Epanechnikov,
    Quartic,
    Triangular,
    Tricube,
    Triweight,
    Uniform,
)
from thetahat.mathematics.smoothing.neighbor_width import Nearest
from thetahat.mathematics.smoothing.unbounded import (
    Exponential,
    Gaussian,
    Logistic,
    Sigmoid,
    Silverman,
)

__all__ = [
    "Cosine",
    "Epanechnikov",
    "Exponential",
    "Gaussian",
    "Logistic",
    "Nearest",
    "Quartic",
    "Sigmoid",
    "Silverman",
    "Triangular",
    "Tricube",
    "Triweight",
    "Uniform",
    "named",
]


def named(kernel: str | SmoothingKernel) -> SmoothingKernel:
    """Return the smoothing kernel with this name.

    Formula: "tricube" ↦ ``Tricube()``. Other usual names ("biweight", "tophat", ...) are accepted,
    and a kernel is returned unchanged. Cost: O(1).

    Parameters
    ----------
    kernel : str or SmoothingKernel
        The name of a kernel, one of its aliases, or a kernel.

    Returns
    -------
    SmoothingKernel

    Examples
    --------
    >>> import thetahat as th
    >>> th.smoothing.named("biweight")
    Quartic()
    """
    return part_named("smoothing kernel", kernel, SmoothingKernel, _BY_NAME)  # type: ignore[type-abstract]


_BY_NAME: dict[str, type[SmoothingKernel]] = {
    part.name: part
    for part in (globals()[name] for name in __all__)
    if isinstance(part, type) and issubclass(part, SmoothingKernel)
}


def __dir__() -> list[str]:
    return sorted(__all__)
