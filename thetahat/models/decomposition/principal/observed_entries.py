"""The likelihood of probabilistic principal components where entries of the rows are missing.

The entries o that are observed in a row are x_o ~ N(μ_o, W_o·W_oᵀ + σ²I), for x = μ + Wz + ε. With
M = I + W_oᵀW_o/σ², the components have the conditional distribution

    z | x_o ~ N(m, M⁻¹),    m = M⁻¹W_oᵀ(x_o − μ_o)/σ²,

    −2·log p(x_o) = ‖x_o − μ_o − W_o·m‖²/σ² + ‖m‖² + log det M + |o|·log 2πσ².

An EM step regresses every column on (z, 1) over the rows in which it is observed, then moves the
mean and the covariance of z over all rows into μ and W (parameter-expanded EM). It never decreases
the likelihood. Rows with the same observed entries share M. Pieces of rows have a fixed size and
are added in order, so that sums do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.threads import one_blas_thread, ordered_map, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State

LEAST_NOISE = 1e-8
"""The smallest noise variance, as a share of the mean variance of the columns."""
FIRST_NOISE = 1e-2
"""The smallest noise variance to start from with missing entries. EM steps from less are short."""
PIECE = 2**20
"""Numbers of one array that is computed for a piece of rows."""
LEAST_SHARE = 1e-12
"""Eigenvalues below this share of the largest are 0 up to rounding."""
LONGEST = 2.0
"""The largest change of log σ² by one extrapolation."""


@dataclass(frozen=True)
class Subspace:
    """W of shape (d, k), μ and σ²."""

    loadings: Array
    mean: Array
    noise: float

    def flat(self) -> Array:
        return np.concatenate([self.loadings.ravel(), self.mean, [math.log(self.noise)]])

    @staticmethod
    def of(theta: Array, d: int) -> Subspace:
        k = (len(theta) - 1) // d - 1
        loadings = theta[: d * k].reshape(d, k)
        return Subspace(loadings, theta[d * k : -1], math.exp(theta[-1]))


@dataclass(frozen=True)
class Piece:
    """Some rows, with 0 for missing entries, and the distinct patterns of observed entries."""

    rows: Array
    seen: Array
    """1 where an entry is observed and 0 where it is missing, (n, d)."""
    weight: Array
    patterns: Array
    which: Array
    """The pattern of each row."""

    @staticmethod
    def of(rows: Array, weight: Array) -> Piece:
        """From rows with NaN for missing entries."""
        seen = ~np.isnan(rows)
        bits = np.packbits(seen, axis=1)
        keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        kept = seen.astype(np.float64)
        return Piece(np.where(seen, rows, 0.0), kept, weight, kept[first], which.ravel())


def pieces(rows: Array, weight: Array | None, k: int) -> Iterator[Piece]:
    """The rows in pieces whose size depends on the numbers of columns and components only."""
    n, d = rows.shape
    size = max(1, PIECE // (d + (k + 1) ** 2))
    weight = row_weights(weight, n)
    for start in range(0, n, size):
        part = slice(start, start + size)
        yield Piece.of(np.asarray(rows[part], dtype=np.float64), weight[part])


@dataclass(frozen=True)
class Posterior:
    """What the observed entries of some rows say about their components."""

    means: Array
    """E[z | x_o], (n, k)."""
    spreads: Array
    """The covariance of z given each pattern, M⁻¹, (p, k, k)."""
    log_density: Array
    """log p(x_o), (n,)."""
    apart: Array
    """x − μ where observed and 0 elsewhere, (n, d)."""


def posterior(piece: Piece, model: Subspace) -> Posterior:
    """The components of the rows of a piece, given their observed entries.

    Cost: O(n d k + p d k²) for p patterns.
    """
    W, noise = model.loadings, model.noise
    k = W.shape[1]
    upper = np.triu_indices(k)
    apart = (piece.rows - model.mean) * piece.seen
    inner = _unpacked(piece.patterns @ (W[:, upper[0]] * W[:, upper[1]] / noise), k)
    inner[:, np.arange(k), np.arange(k)] += 1.0
    spreads = np.linalg.inv(inner)
    level = 2.0 * np.log(np.einsum("pii->pi", np.linalg.cholesky(inner))).sum(axis=1)
    along = apart @ (W / noise)
    if len(spreads) == 1:
        means = along @ spreads[0]
    else:
        means = np.einsum("nij,nj->ni", spreads[piece.which], along)
    rest = apart - (means @ W.T) * piece.seen
    distance = np.einsum("ij,ij->i", rest, rest) / noise + np.einsum("ij,ij->i", means, means)
    level += piece.patterns.sum(axis=1) * math.log(2 * math.pi * noise)
    return Posterior(means, spreads, -0.5 * (level[piece.which] + distance), apart)


def _unpacked(packed: Array, k: int) -> Array:
    """Symmetric matrices (p, k, k) from their upper triangles."""
    upper = np.triu_indices(k)
    full = np.empty((len(packed), k, k))
    full[:, upper[0], upper[1]] = packed
    full[:, upper[1], upper[0]] = packed
    return full


@dataclass(frozen=True)
class Sums:
    """Sums over rows that an EM step needs, for z̃ = (z, 1)."""

    value: float
    """−Σ w log p(x_o)."""
    products: Array
    """Σ w E[z̃z̃ᵀ] over the rows in which a column is observed, as upper triangles, (d, ·)."""
    with_rows: Array
    """Σ w (x − μ)E[z̃] over the same rows, (d, k + 1)."""
    square: float
    """Σ w (x − μ)² over all observed entries."""
    components: Array
    """Σ w E[z̃z̃ᵀ] over all rows, as an upper triangle."""

    def merge(self, other: Sums) -> Sums:
        return Sums(
            self.value + other.value,
            self.products + other.products,
            self.with_rows + other.with_rows,
            self.square + other.square,
            self.components + other.components,
        )


def _sums(piece: Piece, model: Subspace) -> Sums:
    found = posterior(piece, model)
    n, k = found.means.shape
    outer = np.triu_indices(k + 1)
    extended = np.column_stack([found.means, np.ones(n)])
    products = extended[:, outer[0]] * extended[:, outer[1]]
    inner = outer[1] < k
    spread = found.spreads[:, outer[0][inner], outer[1][inner]]
    products[:, inner] += spread[piece.which]
    weighted = found.apart * piece.weight[:, None]
    return Sums(
        -float(piece.weight @ found.log_density),
        (piece.seen * piece.weight[:, None]).T @ products,
        weighted.T @ extended,
        float(np.einsum("ij,ij->", weighted, found.apart)),
        piece.weight @ products,
    )


@dataclass(frozen=True, eq=False)
class ObservedEntries:
    """F(W, μ, log σ²) = −Σ w log p(x_o)/Σ w."""

    pieces: list[Piece]
    n_columns: int
    convex: bool
    """Whether the start is the global optimum, as without missing entries."""
    description = "the likelihood of the observed entries"

    def sums(self, theta: Array) -> Sums:
        model = Subspace.of(theta, self.n_columns)
        return reduce(Sums.merge, ordered_map(lambda piece: _sums(piece, model), self.pieces))

    def total(self) -> float:
        return float(sum(piece.weight.sum() for piece in self.pieces))

    def step(self, theta: Array, sums: Sums) -> Array:
        """The parameters after an EM step."""
        d = self.n_columns
        model = Subspace.of(theta, d)
        k = model.loadings.shape[1]
        products = _unpacked(sums.products, k + 1)
        found = np.linalg.solve(products, sums.with_rows[:, :, None])[:, :, 0]
        left = sums.square - float(np.einsum("ij,ij->", found, sums.with_rows))
        noise = max(left / float(products[:, k, k].sum()), LEAST_NOISE)
        whole = _unpacked(sums.components[None], k + 1)[0]
        centre = whole[:k, k] / whole[k, k]
        spread = whole[:k, :k] / whole[k, k] - np.outer(centre, centre)
        loadings = found[:, :k]
        mean = model.mean + found[:, k] + loadings @ centre
        # The symmetric root is near I at the end, so that successive steps can be extrapolated.
        values, vectors = np.linalg.eigh(spread)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return Subspace(loadings @ root, mean, noise).flat()


@dataclass(frozen=True, eq=False)
class ExtrapolatedSteps(Method):
    """Two EM steps and their extrapolation (squared), where this does not decrease the likelihood.

    With steps r = θ₁ − θ₀ and v = (θ₂ − θ₁) − r, the extrapolation is θ₀ + 2ar + a²v, a = ‖r‖/‖v‖.
    """

    name = "expectation_maximisation"
    needs = ("sums", "step")
    gap_kind = "increase of the mean log-likelihood in the last iteration"

    def start(self, problem: ObservedEntries, theta: Array) -> State:
        with one_blas_thread():
            sums = problem.sums(theta)
        return State(theta, sums.value / problem.total(), math.inf, {"sums": sums})

    def advance(self, problem: ObservedEntries, state: State) -> State:
        with one_blas_thread():
            theta, sums = self._next(problem, state)
        value = sums.value / problem.total()
        if not value < state.value:  # only rounding is left
            return State(state.theta, state.value, 0.0, state.memory)
        return State(theta, value, state.value - value, {"sums": sums})

    def _next(self, problem: ObservedEntries, state: State) -> tuple[Array, Sums]:
        theta = state.theta
        first = problem.step(theta, state.memory["sums"])
        after_first = problem.sums(first)
        second = problem.step(first, after_first)
        move = first - theta
        bend = second - first - move
        size = float(np.linalg.norm(bend))
        stretch = float(np.linalg.norm(move)) / size if size > 0 else 1.0
        if stretch > 1.0:
            far = theta + 2.0 * stretch * move + stretch**2 * bend
            change = np.clip(far[-1] - theta[-1], -LONGEST, LONGEST)
            far[-1] = max(theta[-1] + change, math.log(LEAST_NOISE))
            try:
                after_far = problem.sums(far)
            except np.linalg.LinAlgError:  # so far away that M is singular to rounding
                return second, problem.sums(second)
            if after_far.value <= after_first.value:
                return far, after_far
        return second, problem.sums(second)


def spectrum(filled: Array, weight: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors, in columns, of the covariance of centred rows."""
    rows = filled * np.sqrt(weight / weight.sum())[:, None]
    with one_blas_thread():
        if len(rows) >= rows.shape[1]:
            values, vectors = scipy_linalg().eigh(rows.T @ rows, check_finite=False)
            return np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        _, roots, directions = scipy_linalg().svd(rows, full_matrices=False, check_finite=False)
        return roots**2, directions.T


def first_subspace(values: Array, vectors: Array, k: int, *, complete: bool) -> Subspace:
    """W and σ² from the `spectrum` of the rows, with 0 for missing entries.

    σ² is the mean of the d − k eigenvalues that are left out. Without missing entries this is the
    maximum of the likelihood.
    """
    d = len(vectors)
    least = LEAST_NOISE if complete else FIRST_NOISE
    noise = max(float(values[k:].sum()) / (d - k), least)
    # EM steps never leave loadings of 0, so with missing entries none starts there.
    above = np.maximum(values[:k] - noise, 0.0 if complete else FIRST_NOISE * noise)
    return Subspace(vectors[:, :k] * np.sqrt(above), np.zeros(d), noise)
