"""Structured outputs y of `StructuredSVM`: joint features, a loss and a search for the best y."""

from thetahat.mathematics.structures.base import Structure
from thetahat.mathematics.structures.chain import Chain
from thetahat.mathematics.structures.multiclass import Multiclass

__all__ = ["Chain", "Multiclass", "Structure"]


def __dir__() -> list[str]:
    return sorted(__all__)
