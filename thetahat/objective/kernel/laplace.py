"""Laplace's approximation of the marginal likelihood of a Gaussian process with two classes.

The labels t ∈ {0, 1} have the probabilities π = σ(f), and f has the covariance K. Newton's method
finds the mode f̂ of p(f | t), where f = Ka with a = t − π. With W = π(1 − π) and B = I + W^½KW^½,

    log q(t | X, θ)   = −½ aᵀf̂ + Σ log p(tᵢ | f̂ᵢ) − ½ log det B
    ∂ log q/∂θⱼ       = ½ tr((aaᵀ − R + vaᵀ + avᵀ) ∂K/∂θⱼ),    R = W^½B⁻¹W^½

where v = (I − RK)s and s = ∂(−½ log det B)/∂f̂ = −½ diag(K − KRK)·W·(1 − 2π): the mode moves with θ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from thetahat.foundation.products import product_by_rows
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.linalg.tiled_cholesky import (
    cholesky_in_place,
    cholesky_solve,
    inverse_in_place,
)
from thetahat.mathematics.losses.links import sigmoid
from thetahat.objective.kernel.features import gram_of
from thetahat.objective.kernel.marginal_likelihood import OfKernel, half_traces

TOLERANCE = 1e-10
"""Newton's method stops when the log density rises by less than this share of it."""


SHARES = np.array([
    0.003246343272134, 0.051517477033972, 0.195077912673858, 0.315569823632818,
    0.274149576158423, 0.131076880695470, 0.027912418727972, 0.001449567805354,
])  # fmt: skip
SLOPES = np.array([
    1.365340806296348, 1.059523971016916, 0.830791313765644, 0.650732166639391,
    0.508135425366489, 0.396313345166341, 0.308904252267995, 0.238212616409306,
])  # fmt: skip
"""σ(z) = Σ shareₖ·Φ(slopeₖ·z) with an error below 3·10⁻⁹ (Monahan and Stefanski, 1992)."""


def mean_sigmoid(mean: Array, variance: Array) -> Array:
    """E σ(f) for f ~ N(mean, variance): Σ shareₖ·Φ(slopeₖ·mean/√(1 + slopeₖ²·variance))."""
    slopes = SLOPES / np.sqrt(1.0 + np.multiply.outer(variance, SLOPES**2))
    found: Array = ndtr(slopes * mean[:, None]) @ SHARES
    return found


@dataclass(frozen=True)
class Mode:
    """The mode of the latent function, and the approximation about it."""

    K: Array
    slopes: Array
    """t − π, the derivatives of the log-likelihood, which are the coefficients of f̂ = K(t − π)."""
    root: Array
    """W^½."""
    L: Array
    """B = LLᵀ; the upper triangle is not 0."""
    values: Array
    """f̂."""
    log_likelihood: float


@dataclass(frozen=True)
class LaplaceLikelihood(OfKernel):
    """The likelihood of labels 0 and 1, of shape (n, 1), under Laplace's approximation."""

    max_steps: int = 100
    """Largest number of steps of Newton's method."""
    _modes: list[Array] = field(default_factory=list, repr=False)
    """The last coefficients, with which the next search begins."""

    def mode(self, kernel: Kernel) -> Mode | None:
        """The mode by Newton's method, with steps that are halved until the density rises."""
        with one_blas_thread():  # once: to set it takes a part of the time of a small fit
            return self._mode(kernel)

    def _mode(self, kernel: Kernel) -> Mode | None:
        K = gram_of(kernel, self.X, np.arange(len(self.X)))
        if not np.isfinite(K).all():
            return None
        K = np.tril(K) + np.tril(K, -1).T
        t = self.y[:, 0]
        a = self._modes[-1] if self._modes else np.zeros(len(t))
        f = product_by_rows(K, a[:, None])[:, 0]
        height = _height(a, f, t)
        for _ in range(self.max_steps):
            found = self._step(K, a, f, t)
            if found is None:
                return None
            step = found - a
            move = product_by_rows(K, step[:, None])[:, 0]
            size = 1.0
            while (higher := _height(a + size * step, f + size * move, t)) < height:
                size /= 2
                if size < 1e-10:
                    higher = height
                    break
            if size >= 1e-10:
                a, f = a + size * step, f + size * move
            if higher - height <= TOLERANCE * max(1.0, abs(higher)):
                break
            height = higher
        self._modes[:] = [a]
        share = sigmoid(f)
        root = np.sqrt(share * (1 - share))
        L = _scaled(K, root)
        if not cholesky_in_place(L):
            return None
        log_det = 2 * float(np.log(np.einsum("ii->i", L)).sum())
        return Mode(K, t - share, root, L, f, np.float64(_height(a, f, t) - 0.5 * log_det))

    def _step(self, K: Array, a: Array, f: Array, t: Array) -> Array | None:
        """a after a full step of Newton's method: b − W^½B⁻¹W^½Kb with b = Wf + t − π."""
        share = sigmoid(f)
        weight = share * (1 - share)
        root = np.sqrt(weight)
        L = _scaled(K, root)
        if not cholesky_in_place(L):
            return None
        b = weight * f + (t - share)
        inner = root * product_by_rows(K, b[:, None])[:, 0]
        solved: Array = cholesky_solve(L, inner[:, None])[:, 0]
        return b - root * solved

    def log_likelihood(self, theta: Array) -> float:
        """log q(t | X, θ); −∞ if the covariance is not positive definite."""
        found = self.mode(self.kernel.with_theta(theta))
        return np.float64(-math.inf if found is None else found.log_likelihood)

    def _evaluate(self, theta: Array) -> tuple[float, Array]:
        kernel = self.kernel.with_theta(theta)
        found = self.mode(kernel)
        if found is None:
            return np.float64(-math.inf), np.zeros(len(theta))
        K, a, R = found.K, found.slopes, found.L
        inverse_in_place(R)
        R *= found.root[:, None]
        R *= found.root
        R = np.tril(R) + np.tril(R, -1).T
        RK = product_by_rows(R, K)
        variance = np.maximum(np.einsum("ii->i", K) - np.einsum("ij,ij->j", K, RK), 0.0)
        share = sigmoid(found.values)
        s = -0.5 * variance * found.root**2 * (1 - 2 * share)
        v = s - product_by_rows(RK, s[:, None])[:, 0]

        def weights(rows: slice, columns: slice, tile: Array) -> Array:
            left = np.stack([a[rows] + v[rows], a[rows]])
            right = np.stack([a[columns], v[columns]])
            return np.dot(left.T, right) - tile

        return found.log_likelihood, half_traces(kernel, self.X, R, weights)


def _height(a: Array, f: Array, t: Array) -> float:
    """log p(t | f) − ½fᵀK⁻¹f."""
    return -0.5 * float(a @ f) - float(np.logaddexp(0.0, np.where(t > 0, -f, f)).sum())


def _scaled(K: Array, root: Array) -> Array:
    """B = I + W^½KW^½."""
    B = K * root
    B *= root[:, None]
    np.einsum("ii->i", B)[:] += 1.0
    return B
