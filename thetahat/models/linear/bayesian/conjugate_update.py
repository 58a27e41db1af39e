"""The conjugate update of linear regression with normal noise, from second moments only.

With β = μ₀ + Lu (see `GaussianPrior`), G = Σ wxxᵀ, c = Σ wx(y − xᵀμ₀) and noise of variance σ²,

    u | data ~ N(M⁻¹Lᵀc/σ², M⁻¹),    M = LᵀGL/σ² + diag(1 where proper, 0 where flat),

and p(data) is normal as well. If σ is not known, the value with the largest p(data) is used: flat
directions are projected out, the others diagonalised, LᵀGL = V diag(e) Vᵀ with r of the e above
rounding. Then each σ costs O(d):

    −2 log p(data) = (n − r) log σ² + RSS/σ² + Σⱼ log(eⱼ + σ²) + qⱼ/(eⱼ + σ²) + const,

where qⱼ = (vⱼᵀLᵀc)²/eⱼ and RSS is that of least squares. No term is a difference of large numbers,
so the formula is accurate for every σ; with r rows or fewer, RSS is 0 and is not computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.precision import EPSILON, ROUNDING
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.prior import GaussianPrior
from thetahat.mathematics.linalg.scaled_cholesky import inverse_factor
from thetahat.mathematics.linalg.uneven_columns import gram_spectrum

GRID = 400
"""Number of noise levels tried before the best is refined; the evidence may have two maxima."""
SMALLEST_SQUARE = 4 * float(np.finfo(float).tiny)
"""Smallest variance, used if all targets are zero."""


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
    """Σ w, minus 1 if a flat intercept was projected out."""
    rows: int
    """Number of rows of positive weight, minus 1 likewise; a bound on the rank."""
    smallest: float
    """The smallest noise variance that can be resolved."""

    @classmethod
    def of(
        cls,
        prior: GaussianPrior,
        gram: Array,
        product: Array,
        total: float,
        *,
        n: float,
        rows: int,
        size: float,
    ) -> Conjugate:
        """From Σwxxᵀ, Σwxy, Σwy², Σw and the number of rows; `size` is a typical |y|."""
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
                rows,
                max(EPSILON * size**2, SMALLEST_SQUARE),
            )

    def posterior(self, variance: float) -> tuple[Array, Array, float]:
        """Mean and covariance of β, and log p(data) without the noise term −(n/2) log 2πσ²."""
        split, root = self._split, self.prior.root
        with one_blas_thread():
            lifted = split.values + variance
            proper = split.vectors @ (split.slope / lifted)
            # The proper coordinates determine the flat ones: u_F = G_FF⁻¹(c_F − G_FP u_P).
            u = split.follow @ proper
            u[self.prior.flat] += split.inverse.T @ split.along
            spread = split.follow @ (split.vectors * np.sqrt(variance / lifted))
            covariance = spread @ spread.T
            flat = np.flatnonzero(self.prior.flat)
            covariance[np.ix_(flat, flat)] += variance * (split.inverse.T @ split.inverse)
            log_evidence = -0.5 * (
                split.residual / variance
                + float((split.explained / lifted).sum())
                + float((np.log(lifted) - np.log(variance)).sum())
                + split.log_determinant
                - len(flat) * np.log(2 * np.pi * variance)
            )
            return self.prior.mean + root @ u, root @ covariance @ root.T, log_evidence

    def effective_coefficients(self, variance: float) -> float:
        """γ = Σ e/(e + σ²), and 1 for each coefficient with a flat prior."""
        values = self._split.values[self._split.reached]
        return float(self.prior.flat.sum() + (values / (values + variance)).sum())

    def best_noise(self) -> tuple[float, bool]:
        """The σ² with the largest p(data), and whether it is the smallest possible one (σ → 0).

        For a flat prior it is RSS/(n − p).
        """
        from scipy.optimize import brentq

        split, n = self._split, self.n - float(self.prior.flat.sum())
        if not n > 0:
            raise CapabilityError(
                f"The noise cannot be estimated: n minus the intercept is {self.n:g}, which is not "
                f"more than the {int(self.prior.flat.sum())} coefficients with a flat prior. Give "
                "noise=σ, a prior_covariance, or more rows."
            )
        values, explained = split.values[split.reached], split.explained[split.reached]
        spare = n - len(values)

        def cost(log_variance: Array) -> Array:
            lifted = values + np.exp(log_variance)[:, None]
            known = (np.log(lifted) + explained / lifted).sum(axis=1)
            return spare * log_variance + split.residual * np.exp(-log_variance) + known

        def slope(log_variance: float) -> float:
            variance = float(np.exp(log_variance))
            lifted = values + variance
            share = (variance / lifted * (1.0 - explained / lifted)).sum()
            return float(spare - split.residual / variance + share)

        low = float(np.log(self.smallest))
        grid = np.linspace(low, max(low, float(np.log(self._largest(spare)))) + 1.0, GRID)
        best = int(np.argmin(cost(grid)))
        before, after = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
        if slope(before) >= 0:  # equal up to rounding: the slope decides
            before, after = low, before
        if slope(before) >= 0:
            return self.smallest, True
        while slope(after) <= 0:  # the slope is positive at the upper end
            after += grid[1] - grid[0]
        return float(np.exp(brentq(slope, before, after, xtol=1e-14))), False

    def _largest(self, spare: float) -> float:
        """A σ² above which the evidence decreases."""
        split = self._split
        total = split.residual + float(split.explained.sum())
        if spare > 0:
            return max(total, split.residual / spare, self.smallest)
        # Small weights: the sum of weights may be less than the rank.
        room = 2.0 * (len(split.values) + 1) / (spare + len(split.values))
        most = max(total, float(split.values.max(initial=0.0)), self.smallest)
        return room * most if spare < 0 else max(total, self.smallest)

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
            # Directions that no row determines: eigenvalue and slope are rounding, not their ratio.
            values, vectors, inner = gram_spectrum(
                gram - across.T @ across, (slope - across.T @ along)[:, None], ROUNDING
            )
            reached, inner = values > 0, inner[:, 0]
            rows = self.rows - int(flat.sum())
            reached[: max(len(values) - rows, 0)] = False
            inner = np.where(reached, inner, 0.0)
            explained = (inner / np.sqrt(np.where(reached, values, 1.0))) ** 2
            left = total - float(along @ along) - float(explained.sum())
            return _Split(
                values=np.where(reached, values, 0.0),
                vectors=vectors,
                reached=reached,
                slope=inner,
                explained=explained,
                residual=max(left, 0.0) if reached.sum() < rows else 0.0,
                inverse=inverse,
                along=along,
                follow=follow,
                log_determinant=log_determinant,
            )


@dataclass(frozen=True)
class _Split:
    """The sums with flat directions projected out and proper ones diagonalised."""

    values: Array
    vectors: Array
    reached: Array
    """Which eigenvalues are above rounding."""
    slope: Array
    """In the basis of the eigenvectors."""
    explained: Array
    """q: the sum of squares that least squares explains along each eigenvector."""
    residual: float
    """The residual sum of squares of least squares."""
    inverse: Array
    """F with FᵀF = G_FF⁻¹."""
    along: Array
    """F c_F."""
    follow: Array
    """∂u/∂u_P: the identity for the proper u, −G_FF⁻¹G_FP for the flat ones."""
    log_determinant: float
    """log |G_FF|."""


def _inverse_factor(matrix: Array) -> tuple[Array, float]:
    """F with FᵀF the inverse, and the log determinant; an error if the matrix is singular."""
    found = inverse_factor(matrix)
    if found is None:
        raise CapabilityError(
            "The posterior is improper: the columns of X are linearly dependent (or there are "
            "fewer rows than columns), and the prior of their coefficients is flat. Give a "
            "prior_covariance, or drop columns."
        )
    return found
