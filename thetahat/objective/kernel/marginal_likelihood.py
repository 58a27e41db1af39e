"""The marginal likelihood of a Gaussian process, and its derivatives by the hyper-parameters.

With K the Gram matrix plus the variances of the noise on its diagonal and c = K⁻¹y,

    log p(y | X, θ) = −½ yᵀc − ½ log det K − n/2·log 2π
    ∂ log p/∂θⱼ     = ½ tr((ccᵀ − K⁻¹) ∂K/∂θⱼ)

The Cholesky factor replaces K, and its inverse replaces the factor. The traces of all θⱼ come from
one pass over the tiles of ccᵀ − K⁻¹, each of which the kernel pulls back to θ, so that neither this
matrix nor the derivatives of K are stored. Partial sums are added in the order of the tiles: the
result does not depend on the number of threads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.linalg.tiled_cholesky import (
    cholesky_in_place,
    cholesky_solve,
    inverse_in_place,
)
from thetahat.objective.kernel.features import gram_of

TILE = 256
"""Rows and columns of the tiles that are pulled back; several arrays of a tile fit in a cache."""

LEAST_SAMPLED = 1000
"""Rows from which on the hyper-parameters are first fitted to a sample."""
SAMPLED = 4
"""One of so many rows is in the sample."""


@dataclass(frozen=True)
class Factored:
    """K = LLᵀ with the noise on its diagonal, and c = K⁻¹y; the upper triangle of L is not 0."""

    L: Array
    coefficients: Array
    log_likelihood: float


@dataclass(frozen=True)
class OfKernel(ABC):
    """−log p(y | X, θ)/n as a function of θ, to be minimised within the bounds of the kernel."""

    kernel: Kernel
    X: Array
    y: Array
    """The targets, of shape (n, k): independent processes with the same kernel."""
    _last: dict[bytes, tuple[float, Array]] = field(default_factory=dict, repr=False, kw_only=True)
    """The last evaluation, because solvers evaluate their start more than once."""

    convex = False
    description = "the marginal likelihood"

    @property
    def bounds(self) -> Array:
        """The bounds of θ."""
        return self.kernel.bounds

    def start(self) -> Array:
        """θ of the kernel, moved into the bounds."""
        low, high = self.bounds.T
        return np.clip(self.kernel.theta, low, high)

    @abstractmethod
    def log_likelihood(self, theta: Array) -> float:
        """log p(y | X, θ); −∞ if the covariance is not positive definite."""

    @abstractmethod
    def _evaluate(self, theta: Array) -> tuple[float, Array]:
        """log p(y | X, θ) and its derivatives by the entries of θ."""

    def of_some_rows(self) -> OfKernel | None:
        """The likelihood of a sample of the rows; None if a fit to it would not save time."""
        return None

    def log_likelihood_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """log p(y | X, θ) and its derivatives by the entries of θ."""
        place = theta.tobytes()
        if place not in self._last:
            found = self._evaluate(theta)
            self._last.clear()
            self._last[place] = found
        value, slope = self._last[place]
        return value, slope.copy()

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """−log p/n and its gradient, for the solver."""
        value, slope = self.log_likelihood_and_gradient(theta)
        n = self.y.size
        return -value / n, -slope / n


@dataclass(frozen=True)
class MarginalLikelihood(OfKernel):
    """The likelihood of numbers: the process plus Gaussian noise."""

    noise: Any = 0.0
    """The variance of the noise: a number, or one for each row."""

    def factored(self, kernel: Kernel) -> Factored | None:
        """The factor of the covariance of y; None if it is not positive definite."""
        K = gram_of(kernel, self.X, np.arange(len(self.X)))
        np.einsum("ii->i", K)[:] += self.noise
        if not cholesky_in_place(K):
            return None
        coefficients = cholesky_solve(K, self.y)
        n, k = self.y.shape
        log_determinant = 2 * float(np.log(np.einsum("ii->i", K)).sum())
        fit = float((self.y * coefficients).sum())
        value = -0.5 * (fit + k * log_determinant + k * n * math.log(2 * math.pi))
        return Factored(K, coefficients, np.float64(value))

    def of_some_rows(self) -> MarginalLikelihood | None:
        """The likelihood of a quarter of many rows, drawn at random, for 1/64 of the time."""
        n = len(self.X)
        if n < LEAST_SAMPLED:
            return None
        which = np.sort(np.random.default_rng(0).choice(n, n // SAMPLED, replace=False))
        noise = self.noise[which] if np.ndim(self.noise) else self.noise
        return MarginalLikelihood(self.kernel, self.X[which], self.y[which], noise)

    def log_likelihood(self, theta: Array) -> float:
        """log p(y | X, θ); −∞ if the covariance is not positive definite."""
        found = self.factored(self.kernel.with_theta(theta))
        return np.float64(-math.inf if found is None else found.log_likelihood)

    def _evaluate(self, theta: Array) -> tuple[float, Array]:
        kernel = self.kernel.with_theta(theta)
        found = self.factored(kernel)
        if found is None:
            return np.float64(-math.inf), np.zeros(len(theta))
        inverse_in_place(found.L)
        c, k = found.coefficients, self.y.shape[1]

        def weights(rows: slice, columns: slice, tile: Array) -> Array:
            return np.dot(c[rows], c[columns].T) - k * tile

        return found.log_likelihood, half_traces(kernel, self.X, found.L, weights)


def half_traces(
    kernel: Kernel, X: Array, inverse: Array, weights: Callable[[slice, slice, Array], Array]
) -> Array:
    """½ tr(W ∂K/∂θⱼ) of a symmetric matrix W, for the entries of θ that are not fixed.

    ``weights(rows, columns, tile)`` gives a tile of W from that tile of a symmetric matrix, of
    which the lower triangle is stored.
    """
    free = [np.full(each.n_elements, not each.fixed) for each in kernel.hyperparameters]
    if not free:
        return np.zeros(0)
    n = len(X)
    starts = range(0, n, TILE)
    corners = [(i, j) for i in starts for j in range(0, i + 1, TILE)]
    parts: dict[tuple[int, int], Array] = {}

    def pull(corner: tuple[int, int]) -> None:
        row, column = (slice(start, min(n, start + TILE)) for start in corner)
        same = row == column
        tile = inverse[row, column]
        if same:
            tile = np.tril(tile) + np.tril(tile, -1).T
        _, pullback = kernel.linearised(X[row], X[column], same)
        parts[corner] = pullback(weights(row, column, tile)) * (0.5 if same else 1.0)

    parallel_for(pull, corners, products=float(n) * n * max(8, X.shape[1]))
    return np.sum([parts[corner] for corner in corners], axis=0)[np.concatenate(free)]
