"""Kernels that are exactly 0 beyond a distance, so that their Gram matrices are sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from array_api_compat import array_namespace

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Pullback
from thetahat.mathematics.kernels.pairs import exact_distances
from thetahat.mathematics.kernels.stationary import Stationary
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Wendland(Stationary):
    """Wendland's kernel, a polynomial of the distance that is 0 beyond a radius.

    Formula: with r = ‖x − z‖/R and l = ⌊d/2⌋ + s + 1 for d columns, k(x, z) = (1 − r)₊^l for s = 0,
    (1 − r)₊^{l+1}((l + 1)r + 1) for s = 1, and (1 − r)₊^{l+2}((l² + 4l + 3)r²/3 + (l + 2)r + 1) for
    s = 2. It is positive semi-definite. Cutting off another kernel is not, but its product with
    this one is: ``RBF() * Wendland(3.0)`` is a truncated Gaussian kernel. ``th.sparse_gram`` and
    `KernelRidge` use that most entries are 0. Cost: O(n m d).

    Parameters
    ----------
    radius : float, default=1.0
        The distance beyond which the kernel is 0 (R). Larger values give smoother functions and
        fuller matrices. Must be positive.
    smoothness : {0, 1, 2}, default=1
        How smooth the functions are (s): they can be differentiated 2s times.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Wendland(2.0)([[0.0]], [[0.0], [1.0], [2.5]]).tolist()
    [[1.0, 0.3125, 0.0]]
    """

    radius: float = number(1.0, above=0)
    smoothness: int = 1

    name = "wendland"
    tunable = ("radius",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothness not in (0, 1, 2):
            raise ParameterError(
                f"Wendland(smoothness={self.smoothness!r}): smoothness must be 0, 1 or 2."
            )

    @property
    def reach(self) -> float:
        """The radius."""
        return self.radius

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with this radius."""
        return self.set_params(radius=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """The polynomial of the distance."""
        return self._polynomial(exact_distances(X, Z) / self.radius, X.shape[1])

    def _polynomial(self, r: Array, columns: int) -> Array:
        xp = array_namespace(r)
        r = xp.where(r > 1, xp.ones_like(r), r)  # 0·∞ has no value
        rest = 1 - r
        power = columns // 2 + self.smoothness + 1
        if self.smoothness == 0:
            return rest**power
        if self.smoothness == 1:
            return rest ** (power + 1) * ((power + 1) * r + 1)
        square = (power * power + 4 * power + 3) / 3
        return rest ** (power + 2) * (square * r * r + (power + 2) * r + 1)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log R is −r·dk/dr."""
        r = np.minimum(exact_distances(X, Z) / self.radius, 1.0)
        rest = 1 - r
        power = X.shape[1] // 2 + self.smoothness + 1
        if self.smoothness == 0:
            slope = power * r * rest ** (power - 1) if power > 1 else np.where(r < 1, r, 0.0)
        elif self.smoothness == 1:
            slope = (power + 1) * (power + 2) * r * r * rest**power
        else:
            factor = (power + 3) * (power + 4) / 3
            slope = factor * r * r * ((power + 1) * r + 1) * rest ** (power + 1)
        return self._polynomial(r, X.shape[1]), lambda W: np.array([(W * slope).sum()])
