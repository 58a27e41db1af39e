"""LSQR: least squares from matrix-vector products.

The method of Paige and Saunders builds X = U B Vᵀ (B lower bidiagonal) one column at a time from
the products Xv and Xᵀu (Golub and Kahan). It keeps only the last column of U and of V, and makes B
upper triangular with one rotation per step. X may be sparse, on disk, or a pair of functions;
neither X nor XᵀX is formed.

    min_β ‖y − Xβ‖² + damp²‖β‖²

Cost: two products per step and O(n + d) memory. The number of steps grows like κ(X).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np

from thetahat.foundation.precision import EPSILON, SUM_ROUNDING
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.linear_system import checked_system
from thetahat.mathematics.optimizers.loop import Method, State, run
from thetahat.mathematics.optimizers.solution import Solution


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
        # The first rotation moves the damping into the diagonal, the second clears the subdiagonal.
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
        exact = residual <= EPSILON * (m["y_norm"] + size * float(np.linalg.norm(theta)))
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
        # A gradient at rounding level is 0: further steps would follow rounding errors.
        exact |= gradient <= SUM_ROUNDING * size * residual
        gap = 0.0 if exact else gradient / (size * residual)
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
    """Least squares for a matrix that is given only by its products with vectors.

    Formula: β̂ = argmin ‖y − Xβ‖² + damp²‖β‖²; the solution of least norm if there are several.
    Cost: two products per step, O(n + d) memory.

    Parameters
    ----------
    product : callable
        Computes u ↦ Xu, from shape (d,) to shape (n,).
    adjoint : callable
        Computes v ↦ Xᵀv, from shape (n,) to shape (d,).
    y : array of shape (n,)
        Right-hand side of the system Xβ ≈ y.
    n_features : int
        Number of columns of X (d).
    damp : float, default=0.0
        Square root of the ridge penalty, √τ. Larger values shrink β more. Must be non-negative.
    tolerance : float, default=1e-12
        The run converges when the relative gradient ‖Xᵀr‖/(‖X‖‖r‖) is at most this value, or when
        the fit is exact. Smaller values give more accurate results and need more iterations.
    max_steps : int, optional
        Maximum number of iterations. By default 4·min(n, d) + 100.
    watch : Watch, optional
        Called after each step. It can end the run because of a time limit or a callback.

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
    system = checked_system(product, adjoint, y, n_features, damp, "lsqr")
    return run(
        system,
        LSQR(float(damp)),
        np.zeros(n_features),
        tolerance=tolerance,
        max_steps=system.usual_steps if max_steps is None else max_steps,
        watch=watch,
    )


def _unit(vector: Array) -> tuple[Array, float]:
    """The vector scaled to length one, and its length; the zero vector is unchanged."""
    length = float(np.linalg.norm(vector))
    return (vector / length if length > 0 else vector), length
