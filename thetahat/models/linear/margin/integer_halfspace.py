"""A consistent halfspace with integer weights of a bounded range, by integer programming.

    (x, +) ⇒ wᵀx − θ ≥ γ        (x, −) ⇒ wᵀx − θ ≤ 0        w, θ ∈ {−B, …, B}

γ > 0 is maximised up to 1, which it reaches for whole numbers in X. There are (2B + 1)^{d+1} such
halfspaces, so the class is finite. If none is consistent, Σ cᵢξᵢ is minimised, with γ = 1 and every
inequality relaxed by ξᵢ ≥ 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from thetahat.foundation.types import Array, Matrix

POSITIVE = 1e-6
"""Scores of positive rows up to this are attributed to the tolerance of the solver."""


def integer_halfspace(
    X: Matrix, signs: Array, cost: Array, *, bound: int, intercept: bool
) -> tuple[Array, float]:
    """(w, −θ) of the rows with labels ±1, and the smallest total violation."""
    signed, positive = _signed(X, signs, intercept), signs > 0
    theta = _with_margin(signed, positive, bound)
    if theta is not None and not _violation(signed @ theta, positive, POSITIVE).any():
        return _with_threshold(theta, intercept), 0.0
    theta = _with_least_violation(signed, positive, cost, bound)
    violation = float(cost @ _violation(signed @ theta, positive, 1.0))
    return _with_threshold(theta, intercept), violation


def _with_margin(signed: Matrix, positive: Array, bound: int) -> Array | None:
    """Integers with the largest γ ≤ 1; None if there are none with γ ≥ 0."""
    n, p = signed.shape
    gamma = sp.csr_array(-positive.astype(np.float64)[:, None])
    found = _solve(
        np.append(np.zeros(p), -1.0),
        sp.hstack([signed, gamma], format="csr"),
        np.zeros(n),
        low=np.append(np.full(p, -bound), 0.0),
        high=np.append(np.full(p, bound), 1.0),
        n_integers=p,
    )
    return None if found is None or found[-1] <= POSITIVE else np.round(found[:p])


def _with_least_violation(signed: Matrix, positive: Array, cost: Array, bound: int) -> Array:
    """Integers with the least Σ cᵢξᵢ."""
    n, p = signed.shape
    found = _solve(
        np.append(np.zeros(p), cost),
        sp.hstack([signed, sp.eye_array(n)], format="csr"),
        positive.astype(np.float64),
        low=np.append(np.full(p, -bound), np.zeros(n)),
        high=np.append(np.full(p, bound), np.full(n, np.inf)),
        n_integers=p,
    )
    assert found is not None  # w = 0 with ξ = 1 is feasible
    return np.round(found[:p])


def _solve(
    cost: Array, rows: Any, least: Array, *, low: Array, high: Array, n_integers: int
) -> Array | None:
    """argmin costᵀx with rows·x ≥ least, and the first entries whole; None if infeasible."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    whole = np.zeros(len(cost))
    whole[:n_integers] = 1
    found = milp(
        cost,
        constraints=LinearConstraint(rows, lb=least),
        bounds=Bounds(low, high),
        integrality=whole,
    )
    solution: Array | None = found.x
    return solution


def _violation(scores: Array, positive: Array, least: float) -> Array:
    """How far yᵢ(wᵀxᵢ − θ) is below `least` for positive rows, and below 0 for negative rows."""
    return np.maximum(np.where(positive, least, 0.0) - scores, 0.0)


def _signed(X: Matrix, signs: Array, intercept: bool) -> Matrix:
    """The rows yᵢ(xᵢ, 1)."""
    rows = sp.csr_array(X).astype(np.float64)
    if intercept:
        rows = sp.hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
    return sp.csr_array(rows.multiply(signs[:, None]))


def _with_threshold(theta: Array, intercept: bool) -> Array:
    return theta if intercept else np.append(theta, 0.0)
