"""Eigenvalues, singular values and matrices of low rank: th.lowrank.best_rank(A, k)."""

from thetahat.mathematics.lowrank.approximation import best_rank
from thetahat.mathematics.lowrank.choice import (
    choose_rank,
    cross_validated_rank,
    parallel_analysis,
)
from thetahat.mathematics.lowrank.decompositions import (
    pseudo_inverse,
    svd,
    symmetric_eigen,
)

__all__ = [
    "best_rank",
    "choose_rank",
    "cross_validated_rank",
    "parallel_analysis",
    "pseudo_inverse",
    "svd",
    "symmetric_eigen",
]


def __dir__() -> list[str]:
    return sorted(__all__)
