"""Fixed-point iterations of independent component analysis on white rows.

White rows z have mean 0 and covariance I. Directions w of unit length, for which wᵀz is as far from
a Gaussian variable as possible, satisfy w ∝ E[g(wᵀz)z] − E[g'(wᵀz)]w, where g is the derivative of
the contrast. The right-hand side is the next w. Several directions are made orthogonal in every
iteration, all at once ("parallel") or each against those before it ("deflation").

By Stein's lemma E[u·g(u)] = E[g'(u)] for a standard Gaussian u. The difference of the two measures
how far a component is from a Gaussian variable, and is a by-product of the iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import parallel_for
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, Monitor, State
from thetahat.mathematics.optimizers.solution import Outcome

KINDS = {"logcosh": 0, "exp": 1, "cube": 2}
BLOCK_NUMBERS = 1 << 15
"""Numbers in a block of rows: with the projections it stays in the cache of a core."""
LEAST_ROWS = 256
WORK_OF_CONTRAST = 30
"""One value of the contrast takes as long as so many multiplications."""
FARTHEST, NODES = 12.0, 481
"""Range and number of the points of the quadrature for a Gaussian variable."""


@dataclass(frozen=True)
class Contrast:
    """A contrast with a name, in compiled code."""

    name: str
    alpha: float = 1.0

    def apply(self, u: Array, weight: Array) -> Array:
        """Replace u of shape (k, n) by w·g(u), and return the sums of w·g'(u), (k,)."""
        slopes = np.empty(len(u))
        _native.contrast_values(u, weight, KINDS[self.name], self.alpha, slopes)
        return slopes

    @lru_cache(8)  # noqa: B019 - a contrast is two values
    def gaussian_deviation(self) -> float:
        """√n times the standard error of E[u·g(u)] − E[g'(u)] for a Gaussian u.

        The mean of u is 0 and its variance 1 in the rows at hand, so the part of u·g(u) − g'(u)
        that is a multiple of u² − 1 does not vary.
        """
        nodes = np.linspace(-FARTHEST, FARTHEST, NODES)
        weights = np.exp(-0.5 * nodes**2)
        weights /= weights.sum()
        values = nodes[:, None].copy()
        slopes = self.apply(values, np.empty(0))
        apart = nodes * values[:, 0] - slopes
        square = nodes**2 - 1.0
        apart = apart - 0.5 * (weights @ (apart * square)) * square
        return math.sqrt(float(weights @ apart**2))


@dataclass(frozen=True)
class GivenContrast:
    """A contrast given as a function: u ↦ (g(u), g'(u) or its average over the last axis)."""

    function: Callable[..., Any]
    params: dict[str, Any]

    def averages(self, u: Array, weight: Array, total: float) -> tuple[Array, Array]:
        """w·g(u) and the weighted averages of g'(u) over the last axis."""
        found = self.function(u, **self.params)
        if not isinstance(found, tuple) or len(found) != 2:
            raise ParameterError(
                f"FastICA: fun={self.function!r:.80} must return two arrays, g(u) and the average "
                f"of its derivative, but returned {type(found).__name__}. For example, return "
                "u**3, (3 * u**2).mean(axis=-1)."
            )
        values, slopes = (np.asarray(each, dtype=np.float64) for each in found)
        if values.shape != u.shape or slopes.shape not in (u.shape, u.shape[:-1]):
            raise ParameterError(
                f"FastICA: fun={self.function!r:.80} returned the shapes {values.shape} and "
                f"{slopes.shape} for projections of the shape {u.shape}. Return g(u) of the same "
                "shape, and the average of its derivative over the last axis."
            )
        if slopes.shape == u.shape:
            slopes = slopes @ weight / total if weight.size else slopes.mean(axis=-1)
        elif weight.size:
            raise ParameterError(
                f"FastICA: fun={self.function!r:.80} returned an average of its derivative, which "
                "cannot be weighted. With sample_weight, return the derivative itself, in the "
                "shape of the projections."
            )
        return (values * weight if weight.size else values), slopes


@dataclass(frozen=True)
class WhiteRows:
    """White rows, their weights (empty for none), and the contrast whose averages are needed.

    Products run on one BLAS thread: iterations are made inside `one_blas_thread`.
    """

    rows: Array
    weight: Array
    total: float
    contrast: Contrast | GivenContrast
    last: dict[str, Any] = field(default_factory=dict)
    """`excess`, E[u·g(u)] − E[g'(u)] of each component, `counts`, the iterations of each, and
    `single`, whether directions are computed one after another."""
    convex: bool = False

    def step(self, W: Array) -> tuple[Array, Array]:
        """E[g(Wz)zᵀ] − E[g'(Wz)]W, and E[u·g(u)] − E[g'(u)] for u = Wz."""
        pull, slopes = self.averages(W)
        return pull - slopes[:, None] * W, np.einsum("ij,ij->i", pull, W) - slopes

    def averages(self, W: Array) -> tuple[Array, Array]:
        """E[g(Wz)zᵀ] of shape (k, d) and E[g'(Wz)]. Cost: O(n d k)."""
        if isinstance(self.contrast, GivenContrast):
            u = W @ self.rows.T
            # Functions of scikit-learn's interface get a vector in deflation.
            values, slopes = self.contrast.averages(
                u[0] if self.last.get("single") else u, self.weight, self.total
            )
            return np.atleast_2d(values) @ self.rows / self.total, np.atleast_1d(slopes)
        return self._by_blocks(W, self.contrast)

    def _by_blocks(self, W: Array, contrast: Contrast) -> tuple[Array, Array]:
        n, d = self.rows.shape
        size = max(LEAST_ROWS, BLOCK_NUMBERS // d)
        if n <= size:
            u = W @ self.rows.T
            sums = contrast.apply(u, self.weight)
            return u @ self.rows / self.total, sums / self.total
        starts = range(0, n, size)
        pulls, slopes = np.empty((len(starts), len(W), d)), np.empty((len(starts), len(W)))
        spare: list[Array] = []

        def work(block: int) -> None:
            rows = self.rows[block * size : (block + 1) * size]
            weight = self.weight[block * size : (block + 1) * size]
            try:
                memory = spare.pop()
            except IndexError:
                memory = np.empty(len(W) * min(size, n))
            u = memory[: len(W) * len(rows)].reshape(len(W), len(rows))
            np.matmul(W, rows.T, out=u)
            slopes[block] = contrast.apply(u, weight)
            np.matmul(u, rows, out=pulls[block])
            spare.append(memory)

        parallel_for(work, range(len(starts)), products=n * len(W) * (2 * d + WORK_OF_CONTRAST))
        return pulls.sum(axis=0) / self.total, slopes.sum(axis=0) / self.total


def orthogonal(W: Array) -> Array:
    """The orthogonal matrix nearest to W, (WWᵀ)^(−½)W."""
    left, _, right = np.linalg.svd(W, full_matrices=False)
    nearest: Array = left @ right
    return nearest


@dataclass(frozen=True)
class Parallel(Method):
    """All directions at once, made orthogonal by (WWᵀ)^(−½)W after each step."""

    name = "parallel"
    needs = ("step",)
    gap_kind = "largest 1 − |cosine| between directions of successive iterations:"

    def start(self, problem: WhiteRows, theta: Array) -> State:
        return State(orthogonal(theta), 0.0, math.inf)

    def advance(self, problem: WhiteRows, state: State) -> State:
        found, problem.last["excess"] = problem.step(state.theta)
        W = orthogonal(found) if np.isfinite(found).all() else found
        gap = float(np.abs(np.abs(np.einsum("ij,ij->i", W, state.theta)) - 1.0).max())
        return State(W, 0.0 if math.isfinite(gap) else math.nan, gap)


@dataclass(frozen=True)
class Deflation(Method):
    """One direction after another, each orthogonal to those before it."""

    tolerance: float
    max_iter: int
    """Maximum number of iterations of each direction."""

    name = "deflation"
    needs = ("step",)
    gap_kind = Parallel.gap_kind

    def start(self, problem: WhiteRows, theta: Array) -> State:
        lengths = np.sqrt(np.einsum("ij,ij->i", theta, theta))
        return State(theta / lengths[:, None], 0.0, math.inf)

    def advance(self, problem: WhiteRows, state: State) -> State:
        """One more iteration of direction `row`, the first of those that have not ended."""
        row, count, worst = (state.memory.get(name, 0) for name in ("row", "count", "worst"))
        W, excess = state.theta, problem.last["excess"]
        found, excess[row : row + 1] = problem.step(W[row : row + 1])
        w = found[0] - (found[0] @ W[:row].T) @ W[:row]
        w = w / math.sqrt(float(w @ w))
        gap = abs(abs(float(w @ W[row])) - 1.0)
        W = W.copy()
        W[row] = w
        value = 0.0 if math.isfinite(gap) else math.nan
        if not (gap <= self.tolerance or count + 1 >= self.max_iter):
            memory = {"row": row, "count": count + 1, "worst": worst}
            return State(W, value, math.inf, memory)
        problem.last.setdefault("counts", []).append(count + 1)
        worst = max(worst, gap)
        over = row + 1 == len(W)
        memory = {"row": row + 1, "worst": worst}
        return State(W, value, worst if over else math.inf, memory, stalled=over)

    def run(self, problem: WhiteRows, theta: Array, monitor: Monitor) -> None:
        """Advance until the last direction has ended; some may have ended at `max_iter`."""
        super().run(problem, theta, monitor)
        if monitor.outcome is Outcome.STALLED:
            monitor.outcome = Outcome.STEPS_EXHAUSTED
