"""Small data sets that come with the package, and generators with known parameters."""

from thetahat.data.datasets.abalone import load_abalone
from thetahat.data.datasets.certified import filip, load_longley, wampler
from thetahat.data.datasets.certified_curves import CertifiedCurve, load_nonlinear
from thetahat.data.datasets.dataset import Dataset
from thetahat.data.datasets.generators import (
    make_circle,
    make_classification_linear,
    make_linear,
    make_polynomial,
)

__all__ = [
    "CertifiedCurve",
    "Dataset",
    "filip",
    "load_abalone",
    "load_longley",
    "load_nonlinear",
    "make_circle",
    "make_classification_linear",
    "make_linear",
    "make_polynomial",
    "wampler",
]


def __dir__() -> list[str]:
    return sorted(__all__)
