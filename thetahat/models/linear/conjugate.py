"""The conjugate update of linear regression with normal noise, from second moments alone.

With β = μ₀ + Lu (see `GaussianPrior`), G = Σ wxxᵀ, c = Σ wx(y − xᵀμ₀) and noise of variance σ²,

    u | data ~ N(M⁻¹Lᵀc/σ², M⁻¹),    M = LᵀGL/σ² + diag(1 where proper, 0 where flat),

and p(data) is normal as well. Where σ is not known, it is the one of the largest p(data): flat
directions are projected out, the others diagonalised, and then each σ costs O(d).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.threads import one_blas_thread
from thetahat.mathematics.linalg.scaled_cholesky import inverse_factor
from thetahat.models.linear.gaussian_prior import GaussianPrior

Array = Any

GRID = 400
"""Noise levels tried before the best is refined: the evidence may have two peaks."""
EPSILON = float(np.finfo(float).eps)
ROUNDING = 8 * EPSILON
"""Eigenvalues below this share of the largest, times their number, count as zero."""


@dataclass(frozen=True)
class Conjugate:
    """Sums over the rows in the coordinates u of a prior."""

    prior: GaussianPrior
    gram: Array
    """LᵀGL."""
    slope: Array
    """Lᵀc."""
    total: float
    """Σ w(y − xᵀμ₀)²."""
    n: float
    """Σ w, less one where a flat intercept was projected out."""
    smallest: float
    """The least noise variance that is told from none."""

    @classmethod
    def of(
        cls, prior: GaussianPrior, gram: Array, product: Array, total: float, n: float, size: float
    ) -> Conjugate:
        """From Σwxxᵀ, Σwxy, Σwy² and Σw; `size` is a typical |y|, for the least noise."""
        with one_blas_thread():
            about = product - gram @ prior.mean
            left = total - float(prior.mean @ (product + about))
            root = prior.root
            return cls(
                prior,
                root.T @ gram @ root,
                root.T @ about,
                max(left, 0.0),
                n,
                max(EPSILON * size**2, float(np.finfo(float).tiny) ** 0.5),
            )

    def posterior(self, variance: float) -> tuple[Array, Array, float]:
        """Mean and covariance of β, and log p(data) without the noise's own −(n/2) log 2πσ²."""
        split, root = self._split, self.prior.root
        with one_blas_thread():
            lifted = split.values + variance
            proper = split.vectors @ (split.slope / lifted)
            # The flat coordinates follow the proper ones: u_F = G_FF⁻¹(c_F − G_FP u_P).
            u = split.follow @ proper
            u[self.prior.flat] += split.inverse.T @ split.along
            spread = split.follow @ (split.vectors * np.sqrt(variance / lifted))
            covariance = spread @ spread.T
            flat = np.flatnonzero(self.prior.flat)
            covariance[np.ix_(flat, flat)] += variance * (split.inverse.T @ split.inverse)
            shrunk = float((split.slope**2 / lifted).sum())
            log_evidence = -0.5 * (
                max(split.total - shrunk, 0.0) / variance
                + float(np.log1p(split.values / variance).sum())
                + split.log_determinant
                - len(flat) * np.log(2 * np.pi * variance)
            )
            return self.prior.mean + root @ u, root @ covariance @ root.T, log_evidence

    def best_noise(self) -> float:
        """The σ² of the largest p(data); RSS/(n − p) where the prior is flat."""
        from scipy.optimize import brentq

        split, n = self._split, self.n - float(self.prior.flat.sum())
        values, squares, total = split.values, split.slope**2, split.total
        if not n > 0:
            raise CapabilityError(
                f"The noise cannot be estimated: {self.n:g} rows beside the intercept, and "
                f"{int(self.prior.flat.sum())} coefficients with a flat prior. Give noise=σ, a "
                "prior_covariance, or more rows."
            )

        def cost(log_variance: Array) -> Array:
            variance = np.exp(log_variance)[:, None]
            left = total - (squares / (values + variance)).sum(axis=1)
            spread = np.log1p(values / variance).sum(axis=1)
            return n * log_variance + spread + np.maximum(left, 0.0) / variance[:, 0]

        def slope(log_variance: float) -> float:
            variance = np.exp(log_variance)
            lifted = values + variance
            explained = (squares * (lifted + variance) / lifted**2).sum()
            return float(n - (values / lifted).sum() - (total - explained) / variance)

        low = np.log(self.smallest)
        grid = np.linspace(low, max(low, np.log(max(total / n, self.smallest))) + 5.0, GRID)
        best = int(np.argmin(cost(grid)))
        before, after = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
        if slope(before) >= 0:  # falls from the start on: nothing but the least noise is left
            return float(np.exp(before))
        return float(np.exp(brentq(slope, before, after, xtol=1e-14)))

    @cached_property
    def _split(self) -> _Split:
        flat, proper = self.prior.flat, ~self.prior.flat
        gram, slope, total = self.gram[np.ix_(proper, proper)], self.slope[proper], self.total
        follow = np.zeros((len(flat), int(proper.sum())))
        follow[proper] = np.eye(follow.shape[1])
        with one_blas_thread():
            inverse, log_determinant = _inverse_factor(self.gram[np.ix_(flat, flat)])
            across = inverse @ self.gram[np.ix_(flat, proper)]
            along = inverse @ self.slope[flat]
            follow[flat] = -inverse.T @ across
            values, vectors = np.linalg.eigh(gram - across.T @ across)
            # Directions that no row reaches: both λ and slope are rounding, and their ratio is not.
            reached = values > ROUNDING * len(values) * values.max(initial=0.0)
            return _Split(
                values=np.where(reached, values, 0.0),
                vectors=vectors,
                slope=np.where(reached, vectors.T @ (slope - across.T @ along), 0.0),
                total=max(total - float(along @ along), 0.0),
                inverse=inverse,
                along=along,
                follow=follow,
                log_determinant=log_determinant,
            )


@dataclass(frozen=True)
class _Split:
    """The sums with the flat directions projected out and the proper ones diagonalised."""

    values: Array
    vectors: Array
    slope: Array
    """In the eigenvectors."""
    total: float
    inverse: Array
    """F with FᵀF = G_FF⁻¹."""
    along: Array
    """F c_F."""
    follow: Array
    """∂u/∂u_P: the identity for the proper u, −G_FF⁻¹G_FP for the flat ones."""
    log_determinant: float
    """log |G_FF|."""


def _inverse_factor(matrix: Array) -> tuple[Array, float]:
    """F and log det with FᵀF the inverse; a singular matrix is refused."""
    found = inverse_factor(matrix)
    if found is None:
        raise CapabilityError(
            "The posterior is improper: the columns of X are linearly dependent (or there are "
            "fewer rows than columns), and the prior is flat along them. Give a "
            "prior_covariance, or drop columns."
        )
    return found
