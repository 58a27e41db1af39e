"""A sum of bent lines over linear functions, with |θ| and θ² terms: the problem of linear
programming behind quantile, absolute and ε-insensitive regression.

    F(θ) = Σ_i w_i Σ_k max(below_k s_ik, above_k s_ik) + Σ_j (l1_j|θ_j| + ½ l2_j θ_j²),
    s_ik = (Aθ)_i − kink_ik,   below_k ≤ 0 ≤ above_k

|θ_j| is a bend over the unit row e_j, so all the kinks of F are held in one flat list of terms.
Each term is the largest a·s over slopes a in [below, above]. Hence the dual: whatever slopes obey
Σ w a x + l2·θ = 0, F is nowhere below −Σ w a·kink − ½ Σ l2 θ².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.centred_intercept import CentredIntercept


@dataclass(frozen=True)
class PiecewiseLinearSum(CentredIntercept):
    """F(θ) as above, with A known by its products alone.

    Cost: O(n) memory for the kinks and weights. All arrays are float64.

    Parameters
    ----------
    product : callable
        θ ↦ Aθ, of shape (n,).
    adjoint : callable
        v ↦ Aᵀv.
    gram : callable
        v ↦ Aᵀ diag(v) A, of shape (p, p), for v ≥ 0.
    rows : callable
        Indices ↦ those rows of A, dense.
    weight : array of shape (n,)
        w ≥ 0.
    kinks : array of shape (m, n)
        m bends for every row.
    below, above : array of shape (m,)
        Slopes left and right of a kink.
    l1, l2 : array of shape (p,)
        Terms of each parameter.
    origin : array of shape (p − 1,), optional
        Where the rows are seen from a point, x − origin, and the last parameter is an intercept b:
        it is held as b + originᵀβ inside.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> median = th.optimizers.PiecewiseLinearSum.of_matrix(np.ones((3, 1)), [1.0, 2.0, 40.0])
    >>> th.minimise(median, th.optimizers.InteriorPoint()).theta
    array([2.])
    """

    product: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]
    gram: Callable[[Array], Array]
    rows: Callable[[Array], Array]
    weight: Array
    kinks: Array
    below: Array
    above: Array
    l1: Array
    l2: Array
    origin: Array | None = None

    @classmethod
    def of_matrix(
        cls, A: Array, kink: Array, *, below: float = -1.0, above: float = 1.0, l1: float = 0.0
    ) -> PiecewiseLinearSum:
        """One bend per row of a matrix, all of the same slopes and of weight 1."""
        A = np.asarray(A, dtype=np.float64)
        n, p = A.shape
        return cls(
            product=lambda theta: A @ theta,
            adjoint=lambda v: A.T @ v,
            gram=lambda v: (A * v[:, None]).T @ A,
            rows=lambda indices: A[indices],
            weight=np.ones(n),
            kinks=np.asarray(kink, dtype=np.float64)[None, :],
            below=np.array([below]),
            above=np.array([above]),
            l1=np.full(p, l1),
            l2=np.zeros(p),
        )

    def piecewise_linear(self) -> PiecewiseLinearSum:
        """Itself: what `InteriorPoint` asks any problem for."""
        return self

    def start(self) -> Array:
        """Zeros."""
        return np.zeros(len(self.l1))

    def value(self, theta: Array) -> float:
        """F(θ)."""
        inside = self.inside(theta)
        return self.value_at(inside, self.distances(inside))

    # The terms: m·n bends over rows, then p over single parameters.

    @cached_property
    def term_weight(self) -> Array:
        return np.concatenate([np.tile(self.weight, len(self.kinks)), self.l1])

    @cached_property
    def term_below(self) -> Array:
        return np.concatenate([np.repeat(self.below, len(self.weight)), -np.ones(len(self.l1))])

    @cached_property
    def term_above(self) -> Array:
        return np.concatenate([np.repeat(self.above, len(self.weight)), np.ones(len(self.l1))])

    @cached_property
    def term_kink(self) -> Array:
        return np.concatenate([self.kinks.ravel(), np.zeros(len(self.l1))])

    def along(self, direction: Array) -> Array:
        """How much each s changes when θ moves by `direction`."""
        return np.concatenate([np.tile(self.product(direction), len(self.kinks)), direction])

    def distances(self, theta: Array) -> Array:
        """s, term by term."""
        return self.along(theta) - self.term_kink

    def pull_back(self, slopes: Array) -> Array:
        """Σ w a x over the terms."""
        return self.adjoint(self._per_row(slopes)) + self.l1 * slopes[-len(self.l1) :]

    def normal_matrix(self, scale: Array) -> Array:
        """Σ w·scale·x xᵀ over the terms, plus the curvature of θ²."""
        matrix = self.gram(self._per_row(scale))
        diagonal = self.l1 * scale[-len(self.l1) :] + self.l2
        matrix[np.diag_indices(len(diagonal))] += diagonal
        return matrix

    def term_rows(self, terms: Array) -> Array:
        """The rows x of some terms, dense."""
        n, bends = len(self.weight), self.kinks.size
        matrix = np.zeros((len(terms), len(self.l1)))
        of_rows = terms < bends
        if of_rows.any():
            matrix[of_rows] = self.rows(terms[of_rows] % n)
        matrix[np.flatnonzero(~of_rows), terms[~of_rows] - bends] = 1.0
        return matrix

    def value_at(self, theta: Array, s: Array) -> float:
        """F(θ), where s is known."""
        bent = np.maximum(self.term_below * s, self.term_above * s)
        return float(np.sum(self.term_weight * bent) + np.sum(self.l2 * theta * theta) / 2)

    def dual_value(self, theta: Array, slopes: Array) -> float:
        """The bound that the slopes give, where their pull and that of θ² cancel."""
        met = np.sum(self.term_weight * slopes * self.term_kink)
        return float(-met - np.sum(self.l2 * theta * theta) / 2)

    def _per_row(self, terms: Array) -> Array:
        """Weighted, and summed over the bends of each row."""
        n, m = len(self.weight), len(self.kinks)
        return self.weight * terms[: m * n].reshape(m, n).sum(axis=0)
