"""LSQR: least squares from products alone.

Paige and Saunders' method builds X = U B Vᵀ (B lower bidiagonal) one column at a time from the
products Xv and Xᵀu (Golub and Kahan), keeps only the last column of U and of V, and turns B upper
triangular by a rotation per step. X may be sparse, on disk, or a pair of functions; it is never
formed, never squared.

    min_β ‖y − Xβ‖² + damp²‖β‖²

Cost: two products per step; O(n + d) memory. Steps grow like κ(X).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.loop import Method, State, minimise
from thetahat.mathematics.optimizers.solution import Solution


@dataclass(frozen=True)
class LinearSystem:
    """Xβ ≈ y, with X known only by its products."""

    multiply: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]
    y: Array
    n_features: int

    def product(self, v: Array) -> Array:
        """Xv, checked to have one number per row."""
        return _shaped(self.multiply(v), len(self.y), "product", "n")

    def transposed_product(self, u: Array) -> Array:
        """Xᵀu, checked to have one number per column."""
        return _shaped(self.adjoint(u), self.n_features, "adjoint", "d")


@dataclass(frozen=True)
class LSQR(Method):
    """Golub–Kahan bidiagonalisation with a rotation per step; the gap is ‖Xᵀr‖/(‖X‖‖r‖)."""

    damp: float = 0.0

    name = "lsqr"
    needs = ("product", "transposed_product")
    gap_kind = "‖Xᵀr‖/(‖X‖‖r‖)"

    def start(self, problem: Any, theta: Array) -> State:
        u, beta = _unit(problem.y)
        v, alpha = _unit(problem.transposed_product(u))
        memory = {
            "u": u,
            "v": v,
            "w": v,
            "alpha": alpha,
            "phi_bar": beta,
            "rho_bar": alpha,
            "squared_norm": 0.0,
            "damped": 0.0,
            "y_norm": beta,
        }
        return State(theta, beta**2, 0.0 if alpha * beta == 0 else 1.0, memory)

    def advance(self, problem: Any, state: State) -> State:
        m = state.memory
        u, beta = _unit(problem.product(m["v"]) - m["alpha"] * m["u"])
        v, alpha = _unit(problem.transposed_product(u) - beta * m["v"])
        squared_norm = m["squared_norm"] + m["alpha"] ** 2 + beta**2 + self.damp**2
        # One rotation takes the damping into the diagonal, the next takes out what lies below it.
        diagonal = hypot(m["rho_bar"], self.damp)
        lost, phi_bar = (m["phi_bar"] * part / diagonal for part in (self.damp, m["rho_bar"]))
        rho = hypot(diagonal, beta)
        c, s = diagonal / rho, beta / rho
        phi = c * phi_bar
        theta = state.theta + (phi / rho) * m["w"]
        damped = m["damped"] + lost**2
        residual = hypot(s * phi_bar, damped**0.5)
        size = squared_norm**0.5
        gradient = alpha * abs(s * phi)
        exact = residual <= np.finfo(float).eps * (
            m["y_norm"] + size * float(np.linalg.norm(theta))
        )
        memory = m | {
            "u": u,
            "v": v,
            "w": v - (s * alpha / rho) * m["w"],
            "alpha": alpha,
            "phi_bar": s * phi_bar,
            "rho_bar": -c * alpha,
            "squared_norm": squared_norm,
            "damped": damped,
        }
        gap = 0.0 if exact or gradient == 0.0 else gradient / (size * residual)
        return State(theta, residual**2, gap, memory)


def lsqr(
    product: Callable[[Array], Array],
    adjoint: Callable[[Array], Array],
    y: Array,
    n_features: int,
    *,
    damp: float = 0.0,
    tolerance: float = 1e-12,
    max_steps: int | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Least squares for a matrix given only by its products.

    Formula: β̂ = argmin ‖y − Xβ‖² + damp²‖β‖², the one of least norm if several. Cost: two
    products per step, O(n + d) memory.

    Parameters
    ----------
    product : callable
        u ↦ Xu, from shape (d,) to (n,).
    adjoint : callable
        v ↦ Xᵀv, from shape (n,) to (d,).
    y : array of shape (n,)
        Right-hand side.
    n_features : int
        d, the number of columns of X.
    damp : float
        √τ of ridge regression.
    tolerance : float
        Largest relative gradient ‖Xᵀr‖/(‖X‖‖r‖) at which to stop; an exact fit stops too.
    max_steps : int, optional
        Default: 4·min(n, d) + 100.

    Returns
    -------
    Solution
        ``theta`` is β̂; ``value`` is ‖y − Xβ̂‖² + damp²‖β̂‖²; ``gap`` is relative, ‖Xᵀr‖/(‖X‖‖r‖).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> found = th.linalg.lsqr(lambda u: X @ u, lambda v: X.T @ v, y, 2)
    >>> np.round(found.theta, 6).tolist()
    [1.0, 2.0]
    """
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1:
        raise DataError(f"lsqr: y has shape {y.shape}; solve for one right-hand side at a time.")
    if not damp >= 0:
        raise ParameterError(f"lsqr: damp={damp!r} must be a number ≥ 0.")
    limit = 4 * min(len(y), n_features) + 100 if max_steps is None else max_steps
    return minimise(
        LinearSystem(product, adjoint, y, n_features),
        LSQR(float(damp)),
        np.zeros(n_features),
        tolerance=tolerance,
        max_steps=limit,
        watch=watch,
    )


def _unit(vector: Array) -> tuple[Array, float]:
    """The vector scaled to length one, and its length; the zero vector stays."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector), length


def _shaped(vector: Array, length: int, name: str, symbol: str) -> Array:
    vector = np.ravel(np.asarray(vector, dtype=np.float64))
    if len(vector) != length:
        raise DataError(
            f"lsqr: {name} returned {len(vector)} numbers; {symbol} = {length} are needed."
        )
    return vector
