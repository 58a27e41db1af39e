"""The kernel of independent noise, which is 0 between different rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel, Pullback
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class White(Kernel):
    """The white-noise kernel: k(x, z) = σ² if x and z are the same row, and 0 otherwise.

    Added to another kernel, it is the variance of independent noise in the targets. In the Gram
    matrix of X it is σ²I; the matrix of X and other rows is 0, also where rows are equal.
    Cost: O(n m).

    Parameters
    ----------
    noise_level : float, default=1.0
        The variance of the noise (σ²). Larger values give smoother functions. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.White(0.5)([[1.0], [1.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """

    noise_level: float = number(1.0, above=0)

    name = "white"
    tunable = ("noise_level",)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """0 for every pair; `diagonal` has the variance."""
        shape = (X.shape[0], Z.shape[0])
        if not is_array_api_obj(X):
            return np.zeros(shape, dtype=X.dtype)
        return array_namespace(X).zeros(shape, dtype=X.dtype, device=device(X))

    def diagonal(self, X: Matrix) -> Array:
        """σ² for every row."""
        return self.block(X, X[:1, :])[:, 0] + self.noise_level

    @property
    def reach(self) -> float:
        """0: different rows have no noise in common."""
        return 0.0

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """0 for every pair."""
        return np.zeros(X.shape[0], dtype=X.dtype)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log σ² is σ² on the diagonal."""
        values = self.block(X, Z)
        if not same:
            return values, lambda W: np.zeros(1)
        np.einsum("ii->i", values)[:] = self.noise_level
        return values, lambda W: np.array([self.noise_level * np.einsum("ii->", W)])
