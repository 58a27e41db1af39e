"""Centring of kernels: the kernel of the features minus their mean over given rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_symmetric, rows_as_matrix


@dataclass(frozen=True, eq=False)
class Centred(Kernel):
    """A kernel with the mean of its features over given rows subtracted.

    Formula: k̃(x, z) = (φ(x) − φ̄)ᵀ(φ(z) − φ̄) = k(x, z) − meanᵢ k(x, xᵢ) − meanᵢ k(xᵢ, z) +
    meanᵢⱼ k(xᵢ, xⱼ). The Gram matrix of the rows xᵢ themselves is the double-centred matrix
    (I − 11ᵀ/n)K(I − 11ᵀ/n). Cost: O(n m d) for n new rows and m given ones.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is to be centred.
    reference : array of shape (m, d)
        The rows over which the features have mean 0 (xᵢ).

    Examples
    --------
    >>> import thetahat as th
    >>> centred = th.kernels.Centred(th.kernels.Linear(), [[1.0], [3.0]])
    >>> centred([[1.0], [3.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    kernel: Kernel
    reference: Any = field(repr=False)

    name = "centred"

    def __post_init__(self) -> None:
        reference = rows_as_matrix(self.reference, "Centred: reference")
        object.__setattr__(self, "reference", reference)

    @cached_property
    def _level(self) -> float:
        return float(self.kernel.gram(self.reference).mean())

    def _mean(self, X: Matrix) -> Array:
        """meanᵢ k(x, xᵢ) of every row."""
        values = self.kernel.gram(X, self.reference)
        return array_namespace(values).mean(values, axis=1)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """k̃(x, z)."""
        means = self._mean(X)[:, None] + self._mean(Z)[None, :]
        return self.kernel.block(X, Z) - means + self._level

    def diagonal(self, X: Matrix) -> Array:
        """k̃(x, x)."""
        return self.kernel.diagonal(X) - 2 * self._mean(X) + self._level

    def gram(self, X: Matrix, Z: Matrix | None = None) -> Array:
        """The matrix of k̃, from one matrix of k and the means of each row."""
        found = self.kernel.gram(X, Z)
        left = self._mean(X)
        right = left if Z is None else self._mean(Z)
        return found - (left[:, None] + right[None, :]) + self._level


def centre(K: Any) -> Array:
    """Centre a Gram matrix: K̃ = (I − 11ᵀ/n)K(I − 11ᵀ/n).

    K̃ is the Gram matrix of the features minus their mean over the rows; all of its rows and columns
    sum to 0. Cost: O(n²).

    Parameters
    ----------
    K : array of shape (n, n)
        A Gram matrix, which must be square and symmetric.

    Returns
    -------
    array of shape (n, n)

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.centre([[1.0, 3.0], [3.0, 9.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    K = np.asarray(K, dtype=None if getattr(K, "dtype", None) == np.float32 else np.float64)
    require_symmetric(K, "centre")
    means = K.mean(axis=1)
    return K - (means[:, None] + means[None, :]) + means.mean()
