"""Direct ascent on the log-likelihood of a Gaussian mixture, by its gradient.

One pass over the rows gives N_k = Σwγ_k, S_k = Σwγ_k(x − μ_k) and C_k = Σwγ_k(x − μ_k)(x − μ_k)ᵀ,
and with them the derivatives of L = Σ wᵢ log p(xᵢ), Σ_k⁻¹ = P_k P_kᵀ:

    ∂L/∂α_k = N_k − Wπ_k  (π = softmax α),   ∂L/∂μ_k = P_k P_kᵀ S_k,
    ∂L/∂P_k = N_k diag(1/P_k) − C_k P_k      (upper triangle).

Means and factors are measured in units of the start, μ = μ₀ + P₀⁻ᵀu and P = P₀T with log-diagonals
of T, so that steps do not depend on the units of the columns and variances stay positive. The
penalty ½·reg_covar·Σ_k tr(P_k P_kᵀ)/k per row bounds the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.source import Source
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.cluster.restarts import keep_best
from thetahat.models.mixture.components import (
    Components,
    MixtureSums,
    covariances_of,
    pass_over,
)
from thetahat.models.mixture.expectation_maximisation import Run


@dataclass(frozen=True)
class MixtureLikelihood:
    """−L/W + penalty as a function of θ = (α, u, T), for the optimisation methods."""

    source: Source
    origin: Components
    labels: Array | None
    reg_covar: float
    convex = False

    def start(self) -> Array:
        k, d = self.origin.means.shape
        logits = np.log(np.maximum(self.origin.weights, 1e-12))
        return np.concatenate([logits, np.zeros(k * d + self._n_roots())])

    def _n_roots(self) -> int:
        k, d = self.origin.means.shape
        triangle = d * (d + 1) // 2
        return {"full": k * triangle, "tied": triangle, "diag": k * d, "spherical": k}[
            self.origin.kind
        ]

    def _is_triangular(self) -> bool:
        return self.origin.kind in ("full", "tied")

    def _inner(self, theta: Array) -> Array:
        """T in the shape of the factors: triangular with positive diagonal, or factors > 0."""
        k, d = self.origin.means.shape
        part = theta[k + k * d :]
        if not self._is_triangular():
            return np.exp(part).reshape(self.origin.root.shape)
        inner = np.zeros((k if self.origin.kind == "full" else 1, d, d))
        inner[:, *np.triu_indices(d)] = part.reshape(len(inner), -1)
        diagonal = np.einsum("kii->ki", inner)
        diagonal[...] = np.exp(diagonal)
        return inner

    def components(self, theta: Array) -> Components:
        """The mixture at θ."""
        origin = self.origin
        k, d = origin.means.shape
        weights = np.exp(theta[:k] - theta[:k].max())
        u, inner = theta[k : k + k * d].reshape(k, d), self._inner(theta)
        with one_blas_thread():
            if self._is_triangular():
                first = origin.root if origin.root.ndim == 3 else origin.root[None]
                root = first @ inner
                moved = np.linalg.solve(np.broadcast_to(first, (k, d, d)).mT, u[:, :, None])
                moved = moved[:, :, 0]
                root = root if origin.kind == "full" else root[0]
            else:
                root = origin.root * inner
                moved = u / (origin.root if origin.kind == "diag" else origin.root[:, None])
            covariances = covariances_of(origin.kind, root)
        weights = weights / weights.sum()
        return Components(origin.kind, weights, origin.means + moved, covariances, root)

    def sums(self, now: Components) -> MixtureSums:
        return pass_over(self.source, now.terms(), labels=self.labels)

    def value(self, theta: Array) -> float:
        return self.value_and_gradient(theta)[0]

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        now = self.components(theta)
        sums = self.sums(now)
        k = len(now.means)
        price = self.reg_covar / k
        by_weight = sums.count - sums.weight * now.weights
        with one_blas_thread():
            if self._is_triangular():
                by_mean, by_root, square = self._by_triangle(now, sums, theta, price)
            else:
                by_mean, by_root, square = self._by_scale(now, sums, price)
        value = -sums.log_likelihood / sums.weight + 0.5 * price * square
        gradient = np.concatenate([by_weight, by_mean.ravel(), by_root.ravel()])
        return value, -gradient / sums.weight

    def _by_triangle(
        self, now: Components, sums: MixtureSums, theta: Array, price: float
    ) -> tuple[Array, Array, float]:
        """Derivatives by u and T, and Σ_k tr(P_k P_kᵀ)."""
        k, d = now.means.shape
        tied = now.kind == "tied"
        first = self.origin.root[None] if tied else self.origin.root
        root = now.root[None] if tied else now.root
        inner, second = self._inner(theta), sums.second.reshape(k, d, d)
        by_mean = root @ (root.mT @ sums.first[:, :, None])
        by_mean = np.linalg.solve(np.broadcast_to(first, (k, d, d)), by_mean)[:, :, 0]
        copies = k if tied else 1
        scatter = second.sum(axis=0, keepdims=True) if tied else second
        count = sums.count.sum(keepdims=True) if tied else sums.count
        eye = price * copies * sums.weight * np.eye(d)
        by_inner = -(first.mT @ ((scatter + eye) @ root))
        diagonal = np.einsum("kii->ki", by_inner)
        # By the logarithms of the diagonal of T; its determinant adds their sum.
        diagonal *= np.einsum("kii->ki", inner)
        diagonal += count[:, None]
        by_root = by_inner[:, *np.triu_indices(d)]
        return by_mean, by_root, copies * float((root**2).sum())

    def _by_scale(
        self, now: Components, sums: MixtureSums, price: float
    ) -> tuple[Array, Array, float]:
        """The same for diagonal factors."""
        d = now.means.shape[1]
        spherical = now.kind == "spherical"
        root = np.repeat(now.root[:, None], d, axis=1) if spherical else now.root
        first = self.origin.root[:, None] if spherical else self.origin.root
        by_mean = root**2 * sums.first / first
        by_root = sums.count[:, None] - (sums.second + price * sums.weight) * root**2
        by_root = by_root.sum(axis=1) if spherical else by_root
        return by_mean, by_root, float((root**2).sum())


def gradient_ascent(
    source: Source,
    start: Components,
    *,
    labels: Array | None,
    reg_covar: float,
    tol: float,
    max_iter: int,
    watch: Watch,
) -> Run:
    """L-BFGS steps until no entry of the gradient, per row, exceeds the tolerance."""
    problem = MixtureLikelihood(source, start, labels, reg_covar)

    def run(found: Solution) -> Run:
        bounds = tuple(-np.asarray(found.trace[1:] or found.trace))
        now = problem.components(found.theta)
        return Run(now, bounds, found.outcome, "gradient", found.gap)

    def on_step(step: int, theta: Array, value: float) -> bool:
        assert watch.on_step is not None
        return watch.on_step(step, problem.components(theta).theta, value)

    try:
        found = minimise(
            problem,
            LBFGS(),
            tolerance=tol,
            max_steps=max_iter,
            watch=watch if watch.on_step is None else replace(watch, on_step=on_step),
            keep_trace=True,
        )
    except KeyboardInterrupt as interrupt:
        if hasattr(interrupt, "solution"):
            interrupt.solution = run(interrupt.solution).solution
        raise
    ended = run(found)
    try:
        sums = problem.sums(ended.components)
    except KeyboardInterrupt as interrupt:
        keep_best(interrupt, ended.solution)
        raise
    return replace(ended, sums=sums, centres=ended.components.means)
