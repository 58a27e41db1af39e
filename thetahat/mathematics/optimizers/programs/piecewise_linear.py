"""A piecewise linear sum with |θ| and θ² terms: the linear program behind quantile, absolute and
ε-insensitive regression, and behind the hinge loss with |θ|.

    F(θ) = Σ_i w_i Σ_k max(below_k s_ik, above_k s_ik) + Σ_j (l1_j|θ_j| + ½ l2_j θ_j²),
    s_ik = (Aθ)_i − kink_ik,   below_k ≤ 0 ≤ above_k

|θ_j| is a term with a kink over the unit row e_j, so all kinks of F are kept in one flat list of
terms. Each term is the largest a·s over slopes a in [below, above]. This gives the dual: for any
slopes with Σ w a x + l2·θ = 0, F is nowhere below −Σ w a·kink − ½ Σ l2 θ².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.centred_intercept import CentredIntercept


@dataclass(frozen=True)
class PiecewiseLinearSum(CentredIntercept):
    """A weighted sum of piecewise linear terms of Aθ, plus |θ| and θ² terms.

    Formula: F(θ) = Σ_i w_i Σ_k max(below_k s_ik, above_k s_ik) + Σ_j (l1_j|θ_j| + ½ l2_j θ_j²) with
    s_ik = (Aθ)_i − kink_ik. The matrix A is given only by functions. All arrays are float64. Cost:
    O(n) memory for the kinks and weights.

    Parameters
    ----------
    product : callable
        The function θ ↦ Aθ, which returns an array of shape (n,).
    adjoint : callable
        The function v ↦ Aᵀv, which returns an array of shape (p,).
    gram : callable
        The function v ↦ Aᵀ diag(v) A, which returns an array of shape (p, p), for v ≥ 0.
    rows : callable
        Takes indices and returns those rows of A as a dense array.
    weight : array of shape (n,)
        Non-negative weight of each row (w).
    kinks : array of shape (m, n)
        The m kinks of every row, where its slope changes.
    below, above : array of shape (m,) or (m, n)
        Slopes to the left and to the right of each kink, of all rows or of each, with below ≤ 0 ≤
        above.
    l1, l2 : array of shape (p,)
        Factors of |θ_j| and ½θ_j² for each parameter.
    origin : array of shape (p − 1,), optional
        If given, rows are taken relative to this point, x − origin, and the last parameter is an
        intercept b, which is represented as b + originᵀβ.
    basis : pair of arrays of shape (r, d) and (d, r), optional
        If given, the first r parameters are γ = Fβ, and β = Gγ, for the pair (F, G).

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
    basis: tuple[Array, Array] | None = None

    @classmethod
    def of_matrix(
        cls, A: Array, kink: Array, *, below: float = -1.0, above: float = 1.0, l1: float = 0.0
    ) -> PiecewiseLinearSum:
        """One kink per row of a matrix, all with the same slopes and weight 1."""
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
        """Return the problem itself, in the form that `InteriorPoint` needs."""
        return self

    def start(self) -> Array:
        """Zeros."""
        return np.zeros(len(self.l1))

    def value(self, theta: Array) -> float:
        """F(θ)."""
        inside = self.inside(theta)
        return self.value_at(inside, self.distances(inside))

    def inside(self, theta: Array) -> Array:
        """θ with its intercept relative to the origin, and coefficients in the basis."""
        theta = super().inside(theta)
        return theta if self.basis is None else _in_basis(self.basis[0], theta)

    def outside(self, theta: Array) -> Array:
        """θ with its intercept relative to 0, and coefficients of the columns."""
        return super().outside(theta if self.basis is None else _in_basis(self.basis[1], theta))

    # The terms: m·n over the rows, then p over single parameters.

    @cached_property
    def term_weight(self) -> Array:
        return np.concatenate([np.tile(self.weight, len(self.kinks)), self.l1])

    @cached_property
    def term_below(self) -> Array:
        return np.concatenate([self._of_terms(self.below), -np.ones(len(self.l1))])

    @cached_property
    def term_above(self) -> Array:
        return np.concatenate([self._of_terms(self.above), np.ones(len(self.l1))])

    @cached_property
    def term_kink(self) -> Array:
        return np.concatenate([self.kinks.ravel(), np.zeros(len(self.l1))])

    def along(self, direction: Array) -> Array:
        """The change of each s when θ moves by `direction`."""
        return np.concatenate([np.tile(self.product(direction), len(self.kinks)), direction])

    def distances(self, theta: Array) -> Array:
        """The distance s of each term from its kink."""
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
        """F(θ), if s is known."""
        bent = np.maximum(self.term_below * s, self.term_above * s)
        return float(np.sum(self.term_weight * bent) + np.sum(self.l2 * theta * theta) / 2)

    def dual_value(self, theta: Array, slopes: Array) -> float:
        """The lower bound that the slopes give, if they balance the gradient of the θ² terms."""
        met = np.sum(self.term_weight * slopes * self.term_kink)
        return float(-met - np.sum(self.l2 * theta * theta) / 2)

    def _of_terms(self, slopes: Array) -> Array:
        """One slope for each kink of each row."""
        per_kink = slopes.reshape(len(self.kinks), -1)
        return np.broadcast_to(per_kink, self.kinks.shape).ravel()

    def _per_row(self, terms: Array) -> Array:
        """Weighted, and summed over the kinks of each row."""
        n, m = len(self.weight), len(self.kinks)
        return self.weight * terms[: m * n].reshape(m, n).sum(axis=0)


def _in_basis(change: Array, theta: Array) -> Array:
    """The changed coefficients, and the other parameters as they are."""
    d = change.shape[1]
    return np.concatenate([(change * theta[:d]).sum(axis=1), theta[d:]])
