"""Kernels of histograms, whose columns are counts or shares: the chi-squared kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel, Pullback
from thetahat.mathematics.kernels.pairs import (
    compiled_distances,
    dense,
    squared_norms,
)
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class AdditiveChi2(Kernel):
    """The additive chi-squared kernel k(x, z) = −Σⱼ (xⱼ − zⱼ)²/(xⱼ + zⱼ).

    All columns must be ≥ 0. It is not positive semi-definite, but cᵀKc ≥ 0 holds for coefficients
    that sum to 0, so that support vector machines and kernel PCA may use it. Terms with
    xⱼ = zⱼ = 0 are 0. Cost: O(n m d).

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.AdditiveChi2()([[1.0, 0.0]], [[0.0, 1.0]]).tolist()
    [[-2.0]]
    """

    name = "additive_chi2"

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """−Σⱼ (xⱼ − zⱼ)²/(xⱼ + zⱼ)."""
        return -_chi_squared(X, Z, "AdditiveChi2")

    def diagonal(self, X: Matrix) -> Array:
        """0 for every row."""
        return squared_norms(X[:, :1] * 0.0)


@dataclass(frozen=True)
class Chi2(Kernel):
    """The chi-squared kernel k(x, z) = exp(−γ·Σⱼ (xⱼ − zⱼ)²/(xⱼ + zⱼ)).

    All columns must be ≥ 0, such as the counts or shares of a histogram. Terms with xⱼ = zⱼ = 0
    are 0. Cost: O(n m d).

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the distance (γ). Larger values give rougher functions. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Chi2()([[1.0, 0.0]], [[0.0, 1.0]]).round(4).tolist()
    [[0.1353]]
    """

    gamma: float = number(1.0, above=0)

    name = "chi2"
    tunable = ("gamma",)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """exp(−γ·χ²)."""
        return _chi_squared(X, Z, "Chi2", self.gamma, falls=True)

    def diagonal(self, X: Matrix) -> Array:
        """1 for every row."""
        return squared_norms(X[:, :1] * 0.0) + 1.0

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log γ."""
        scaled = _chi_squared(X, Z, "Chi2", self.gamma)
        values = np.exp(-scaled)
        return values, lambda W: np.array([-(W * scaled * values).sum()])


def _chi_squared(
    X: Matrix, Z: Matrix, who: str, gamma: float = 1.0, *, falls: bool = False
) -> Array:
    """r = γ·Σⱼ (xⱼ − zⱼ)²/(xⱼ + zⱼ) for all rows of X and Z, or e^{−r}."""
    X, Z = dense(X), dense(Z)
    xp = array_namespace(X, Z)
    for rows, name in ((X, "X"), (Z, "Z")):
        if rows.shape[0] and rows.shape[1] and float(xp.min(rows)) < 0:
            raise DataError(
                f"{who}: {name} contains negative values (the smallest is {float(xp.min(rows)):g})"
                ", but this kernel compares counts or shares, which are ≥ 0. Use another kernel, "
                "such as th.kernels.RBF()."
            )
    if type(X) is np.ndarray and type(Z) is np.ndarray:
        return compiled_distances("chi_squared", X, Z, gamma, 0 if falls else -1)
    total: Any = xp.zeros((X.shape[0], Z.shape[0]), dtype=X.dtype)
    for column in range(X.shape[1]):
        left, right = X[:, column][:, None], Z[:, column][None, :]
        both = left + right
        gap = left - right
        total = total + xp.where(both > 0, gap * gap / xp.where(both > 0, both, 1.0 + both), 0.0)
    return xp.exp(-gamma * total) if falls else gamma * total
