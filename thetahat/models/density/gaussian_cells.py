"""Leaves with a Gaussian density, truncated to their cell:

    p(x) = (N_l/N) · N(x; μ_l, Σ_l) / Z_l,   Z_l = the Gaussian's mass in the cell.

Σ_l is the covariance of the rows of the cell, with some of the covariance of the whole data mixed
in, as in the entropy gain. Z_l is exact for diagonal covariances, accurate to two or three digits
for full ones in boxes, and simulated for oblique splits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.threads import n_threads, one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.gaussian.box import draw_in_box, log_box_masses
from thetahat.models.density.cells import Cells

SIMULATED = 4096
"""Number of simulated points for the mass of an oblique cell."""
ROWS_PER_THREAD = 2048
MOST_ROUNDS = 1000
"""Maximum number of rounds of rejection sampling in an oblique cell."""


@dataclass(frozen=True)
class GaussianCells(CheckedValue):
    """One Gaussian per leaf, in the order of the leaves."""

    cells: Cells
    means: Array
    """(n_leaves, d)."""
    factors: Array
    """Lower Cholesky factors of the covariances, (n_leaves, d, d), or their diagonals."""
    log_masses: Array
    """log Z_l, (n_leaves,)."""

    def __post_init__(self) -> None:
        check_rule(self, isinstance(self.cells, Cells), "cells must be Cells")
        n, d = self.cells.leaves.size, self.cells.box.low.shape[0]
        full = np.ndim(self.factors) == 3
        check_arrays(
            self,
            {
                "means": (np.float64, (n, d)),
                "factors": (np.float64, (n, d, d) if full else (n, d)),
                "log_masses": (np.float64, (n,)),
            },
        )

    @property
    def log_scales(self) -> Array:
        """Logarithm of the factor of exp(−½‖L_l⁻¹(x − μ_l)‖²), (n_leaves,)."""
        full = self.factors.ndim == 3
        diagonal = np.diagonal(self.factors, axis1=1, axis2=2) if full else self.factors
        with np.errstate(divide="ignore"):
            scale = np.log(self.cells.shares) - self.log_masses
        constant = 0.5 * self.means.shape[1] * np.log(2.0 * np.pi)
        return scale - np.log(diagonal).sum(axis=1) - constant

    def log_density(self, X: Array) -> Array:
        return log_sum(X, self.cells.leaf_of(X)[None], self.means, self.factors, self.log_scales)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        cells = self.cells
        chosen = rng.choice(self.means.shape[0], size=n, p=cells.shares)
        out = np.empty((n, self.means.shape[1]))
        low, high = cells.bounds() if cells.directions is None else (None, None)
        for leaf in np.unique(chosen):
            rows, node = np.flatnonzero(chosen == leaf), cells.leaves[leaf]
            if low is None or high is None:
                out[rows] = self._draw_staying(leaf, rows.size, rng)
            else:
                gaussian = self.means[leaf], _matrix(self.factors[leaf])
                out[rows] = draw_in_box(rows.size, *gaussian, low[node], high[node], rng)
        return out

    def _draw_staying(self, leaf: int, n: int, rng: np.random.Generator) -> Array:
        """Draws from the Gaussian of a leaf that lie in its cell, by rejection."""
        kept: list[Array] = []
        missing = n
        for _ in range(MOST_ROUNDS):
            tried = int(np.ceil(1.2 * missing / np.exp(self.log_masses[leaf]))) + 8
            drawn = _draw(self.means[leaf], self.factors[leaf], min(tried, 1 << 16), rng)
            kept.append(drawn[self.cells.leaf_of(drawn) == leaf][:missing])
            missing -= kept[-1].shape[0]
            if missing == 0:
                break
        else:
            # Few draws are accepted. Cells are convex, so moving towards the mean ends inside.
            kept.append(np.repeat(self.means[leaf][None], missing, axis=0))
        return np.concatenate(kept)


def log_sum(X: Array, leaf: Array, means: Array, factors: Array, log_scales: Array) -> Array:
    """log Σ_t p_t(x) over the leaves of some trees, with their numbers `leaf` (n_trees, n)."""
    logs = np.empty(X.shape[0])
    flat = factors.reshape(factors.shape[0], -1)
    threads = min(n_threads(), 1 + X.shape[0] // ROWS_PER_THREAD)
    _native.gaussian_leaves(X, leaf, means, flat, log_scales, logs, threads)
    return logs


def respond(
    cells: Cells, X: Array, weight: Array, deviation: Array, prior: float, full: bool
) -> GaussianCells:
    """Fit a Gaussian to the rows of each leaf and truncate it to its cell.

    Σ_l = (Σ w (x − μ)(x − μ)ᵀ + prior·diag(deviation²)) / (N_l + prior).
    """
    d, leaf, n_leaves = X.shape[1], cells.leaf_of(X), cells.leaves.size

    def sums(values: Array) -> Array:
        return np.bincount(leaf, weights=weight * values, minlength=n_leaves)

    count = sums(np.ones(X.shape[0]))
    # An empty cell has no mass, so its Gaussian does not matter.
    means = np.column_stack([sums(X[:, k]) for k in range(d)]) / np.maximum(count, 1.0)[:, None]
    apart = (X - means[leaf]) / deviation
    count = count + prior
    if full:
        scatter = np.empty((n_leaves, d, d))
        for k in range(d):
            for j in range(k + 1):
                scatter[:, k, j] = scatter[:, j, k] = sums(apart[:, k] * apart[:, j])
        scatter += prior * np.eye(d)
        factors = np.linalg.cholesky(scatter / count[:, None, None]) * deviation[:, None]
    else:
        spread = np.column_stack([sums(apart[:, k] ** 2) for k in range(d)])
        factors = np.sqrt((spread + prior) / count[:, None]) * deviation
    return GaussianCells(cells, means, factors, _log_masses(cells, means, factors))


def _log_masses(cells: Cells, means: Array, factors: Array) -> Array:
    if cells.directions is not None:
        return _simulated_masses(cells, means, factors)
    low, high = cells.bounds()
    return log_box_masses(means, factors, low[cells.leaves], high[cells.leaves])


def _simulated_masses(cells: Cells, means: Array, factors: Array) -> Array:
    rng = np.random.default_rng(0)
    logs = np.empty(means.shape[0])
    for leaf, (mean, factor) in enumerate(zip(means, factors, strict=True)):
        stayed = cells.leaf_of(_draw(mean, factor, SIMULATED, rng)) == leaf
        logs[leaf] = np.log(max(1, int(np.count_nonzero(stayed))) / SIMULATED)
    return logs


def _draw(mean: Array, factor: Array, n: int, rng: np.random.Generator) -> Array:
    with one_blas_thread():
        return mean + rng.standard_normal((n, mean.size)) @ _matrix(factor).T


def _matrix(factor: Array) -> Array:
    return np.diag(factor) if factor.ndim == 1 else factor
