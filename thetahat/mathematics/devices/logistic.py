"""Newton's method for logistic regression on a device.

One pass over the rows gives the value, the gradient and the Hessian of the mean loss. Scores and
the gradient are in float64, so that the tolerance can be met whatever the dtype of X; the Hessian
is a product in the dtype of X, which only steers the step. The system of the step is solved on the
host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import like, to_host
from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.devices.memory import row_blocks
from thetahat.mathematics.optimizers.solution import Outcome

HALVINGS = 30
"""Largest number of times that a step is halved until it lowers the objective."""


@dataclass(frozen=True)
class Fitted:
    """Coefficients with the intercept as the last column, (m, d + 1), and how the fit ended."""

    theta: Array
    value: float
    gap: float
    steps: int
    outcome: Outcome


@dataclass(frozen=True)
class LogisticPass:
    """The mean logistic or softmax loss plus α/2·‖β‖², of rows on a device."""

    X: Array
    codes: Array
    """The class of every row: 0 or 1 for one score, else 0, …, m − 1."""
    weight: Array | None
    n_scores: int
    alpha: float
    intercept: bool

    def __call__(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient (m, d + 1) and Hessian of θ about the middle. Cost: O(n d² m²)."""
        X, m, d = self.X, self.n_scores, int(self.X.shape[1])
        xp, wide = array_namespace(X), array_namespace(X).float64
        middle = self.middle
        beta = like(theta[:, :-1].T, X, dtype=wide)
        shift = like(theta[:, -1], X, dtype=wide)
        pairs = [(a, b) for a in range(m) for b in range(a + 1)]
        width = d + 1
        value = xp.zeros((1,), dtype=wide, device=device(X))
        slope = xp.zeros((m, width), dtype=wide, device=device(X))
        bends = [xp.zeros((width, width), dtype=wide, device=device(X)) for _ in pairs]
        for rows in row_blocks(X, 48 * d + 32 * m):
            near = X[rows, :]
            if self.intercept:
                near = near - like(middle, X)
            far = xp.astype(near, wide)
            z = far @ beta + shift
            weight = None if self.weight is None else xp.astype(self.weight[rows], wide)
            loss, rest, shares = _at(xp, z, self.codes[rows])
            if weight is not None:
                loss, rest = loss * weight, rest * weight[:, None]
            value += xp.sum(loss)
            slope[:, :d] += rest.T @ far
            slope[:, d] += xp.sum(rest, axis=0)
            for place, (a, b) in enumerate(pairs):
                bend = shares[:, a] * ((1.0 if a == b else 0.0) - shares[:, b])
                bend = xp.astype(bend if weight is None else bend * weight, X.dtype)
                heavy = near * bend[:, None]
                bends[place][:d, :d] += xp.astype(near.T @ heavy, wide)
                border = xp.astype(xp.sum(heavy, axis=0), wide)
                bends[place][:d, d] += border
                bends[place][d, :d] += border
                bends[place][d, d] += xp.sum(xp.astype(bend, wide))
        parts = [xp.reshape(each, (-1,)) for each in (value, slope, *bends)]
        found = np.asarray(to_host(xp.concat(parts))) / self.total
        return self._with_penalty(theta, found, pairs)

    def _with_penalty(
        self, theta: Array, found: Array, pairs: list[tuple[int, int]]
    ) -> tuple[float, Array, Array]:
        m, width = theta.shape
        slope = found[1 : 1 + m * width].reshape(m, width).copy()
        bend = np.zeros((m, width, m, width))
        for (a, b), part in zip(
            pairs, found[1 + m * width :].reshape(-1, width, width), strict=True
        ):
            bend[a, :, b, :] = (part + part.T) / 2
            bend[b, :, a, :] = bend[a, :, b, :]
        beta = theta[:, :-1]
        value = float(found[0]) + self.alpha / 2 * float((beta**2).sum())
        slope[:, :-1] += self.alpha * beta
        for a in range(m):
            np.einsum("ii->i", bend[a, :-1, a, :-1])[:] += self.alpha
        if not self.intercept:
            slope[:, -1] = 0.0
            bend[:, -1] = bend[:, :, :, -1] = 0.0
            for a in range(m):
                bend[a, -1, a, -1] = 1.0
        return value, slope, bend.reshape(m * width, m * width)

    @cached_property
    def total(self) -> float:
        """Σ w."""
        if self.weight is None:
            return float(self.X.shape[0])
        xp = array_namespace(self.X)
        return float(xp.sum(xp.astype(self.weight, xp.float64)))

    @cached_property
    def middle(self) -> Array:
        """The point that is subtracted from all rows, in float64 on the host."""
        return np.asarray(to_host(array_namespace(self.X).mean(self.X, axis=0)), dtype=np.float64)


def _at(xp: Any, z: Array, codes: Array) -> tuple[Array, Array, Array]:
    """Loss, gradient and probabilities of the scores z, (n, m)."""
    if z.shape[1] == 1:
        z, y = z[:, 0], xp.astype(codes, z.dtype)
        small = xp.exp(-xp.abs(z))
        loss = xp.log1p(small) + xp.clip(z, 0) - y * z
        up = xp.where(z >= 0, xp.ones_like(z), small) / (1 + small)
        return loss, (up - y)[:, None], up[:, None]
    z = z - xp.max(z, axis=1, keepdims=True)
    shares = xp.exp(z)
    total = xp.sum(shares, axis=1, keepdims=True)
    shares = shares / total
    places = xp.arange(z.shape[1], dtype=codes.dtype, device=device(z))
    own = xp.astype(codes[:, None] == places[None, :], z.dtype)
    loss = xp.log(total[:, 0]) - xp.sum(own * z, axis=1)
    return loss, shares - own, shares


def newton(
    problem: LogisticPass, start: Array, *, tolerance: float, max_steps: int, watch: Watch
) -> Fitted:
    """Steps until the largest entry of the gradient is at most the tolerance."""
    moved = _centred(problem, start)
    value, slope, bend = problem(moved)
    steps, outcome = 0, Outcome.STEPS_EXHAUSTED
    while steps < max_steps:
        if np.abs(slope).max() <= tolerance:
            outcome = Outcome.CONVERGED
            break
        step = _step(problem, slope, bend)
        gain = float((step * slope).sum())
        length = 1.0
        for _ in range(HALVINGS):
            tried = moved - length * step
            found = problem(tried)
            if found[0] <= value - 1e-4 * length * gain + 1e-14 * abs(value):
                break
            length /= 2
        else:
            outcome = Outcome.STALLED
            break
        moved, (value, slope, bend) = tried, found
        steps += 1
        verdict = watch(steps, None if watch.on_step is None else _as_given(problem, moved), value)
        if verdict is not Verdict.GO_ON:
            late = verdict is Verdict.OUT_OF_TIME
            outcome = Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED
            break
    gap = float(np.abs(slope).max())
    if gap <= tolerance:
        outcome = Outcome.CONVERGED
    return Fitted(_as_given(problem, moved), value, gap, steps, outcome)


def _step(problem: LogisticPass, slope: Array, bend: Array) -> Array:
    """H⁻¹g with equal diagonal entries; directions that change no probability are left out."""
    m, width = slope.shape
    if m > 1:  # the same number may be added to all scores
        free = range(width) if problem.alpha == 0 else [width - 1]
        whole = bend.reshape(m, width, m, width)
        for column in free:
            whole[:, column, :, column] += np.trace(whole[:, column, :, column]) / m
    size = np.sqrt(np.maximum(np.diagonal(bend), 0.0))
    size = np.where(size > 0, size, 1.0)
    scaled = bend / size / size[:, None]
    right = slope.ravel() / size
    try:
        L = np.linalg.cholesky(scaled + 1e-12 * np.eye(len(size)))
        found = np.linalg.solve(L.T, np.linalg.solve(L, right))
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(scaled, right, rcond=1e-6)[0]
    return (found / size).reshape(m, width)


def _centred(problem: LogisticPass, theta: Array) -> Array:
    """θ for rows about their middle: the intercept takes up βᵀ·middle."""
    moved = np.array(theta, dtype=np.float64)
    if problem.intercept:
        moved[:, -1] += moved[:, :-1] @ problem.middle
    return moved


def _as_given(problem: LogisticPass, moved: Array) -> Array:
    """θ for the rows as they are."""
    theta = moved.copy()
    if problem.intercept:
        theta[:, -1] -= theta[:, :-1] @ problem.middle
    return theta
